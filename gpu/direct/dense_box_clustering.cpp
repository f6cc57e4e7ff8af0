#include <epsflow/gpu/direct/dense_box_clustering.hpp>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <epsflow/gpu/base/device.hpp>
#include <epsflow/gpu/base/error.hpp>
#include <epsflow/gpu/base/tuning.hpp>

namespace epsflow::gpu {
DenseBoxClustering::DenseBoxClustering(const DirectTask& task, const index::CellAxes& axes, LookupLimits limits)
    : DeviceClustering(task),
      task_(task),
      grid_(task.points, task.eps, axes, task.memory, task.pinned, task.cancel, task.marks, limits),
      tally_(task.memory, task.pinned, cuda_stream()) {
  grid_.set_ghosts(task.ghosts());
  const std::uint32_t n = grid_.view().size;
  const std::uint64_t words = std::uint64_t{n} / 32 + 1;
  core_bits_ = {task_.memory, cuda_stream(), words};
  const Ghosts& ghosts = grid_.view().ghosts;
  // A ghost lacks some of its origin's neighbours. Without negative weights it might be core, and its origin not.
  const bool ghosts_mislead = ghosts.count > 0 && task_.weights != nullptr && task_.weights->loaded.whole.negative();
  const bool several = task_.minpts.most != task_.minpts.least || ghosts_mislead || task_.shared != nullptr;
  if (several) {
    counts_ = {task_.memory, cuda_stream(), n};
    core_before_ = {task_.memory, cuda_stream(), words};
  }
  // With fewer points no thread tests too many.
  if (n > tuning::kThreadCandidates) remaining_ = {task_.memory, cuda_stream(), std::min(n, tuning::kRemainingPoints)};
  count(several ? nullptr : core_bits_.data());
  end_phase(task_.marks, "count", grid_.stream());
  // The device counts while this thread waits for the number of cells.
  grid_.finish();
  task_.cancel.check();
  const std::uint32_t cells = grid_.view().cells;
  arrays_ = {task_, cuda_stream(), cells, n};
  if (several) gained_ = {task_.memory, cuda_stream(), cells};
  queued_ = {task_.memory, cuda_stream(), std::min<std::uint64_t>(tuning::kQueuedPairs, 64 * std::uint64_t{n} + 1)};
  huge_ = {n, scratch()};
  if (ghosts.count > 0) {
    find_ghosts(ghosts);
    if (ghosts_mislead && ghosts.origins != nullptr) {
      launch_copy_counts(ghosts.count, ghost_positions(), counts_.data(), cuda_stream());
    }
  }
  find_shared(task_, [&](std::uint32_t* ids, std::uint32_t count) {
    launch_find_members(grid_.view(), task_.points.device(), ids, count, cuda_stream());
  });
}

void DenseBoxClustering::find_ghosts(const Ghosts& ghosts) {
  positions_ = {task_.memory, cuda_stream(), std::uint64_t{ghosts.count} * (ghosts.origins != nullptr ? 2 : 1)};
  launch_ghost_ids(ghosts, positions_.data(), cuda_stream());
  if (ghosts.origins != nullptr) {
    check(cudaMemcpyAsync(positions_.data() + ghosts.count, ghosts.origins, ghosts.count * sizeof(std::uint32_t),
                          cudaMemcpyDeviceToDevice, cuda_stream()));
  }
  launch_find_members(grid_.view(), task_.points.device(), positions_.data(),
                      static_cast<std::uint32_t>(positions_.size()), cuda_stream());
}

/// Counts in parts if minpts is so large that it may take long, so that a cancelled run ends between two parts.
void DenseBoxClustering::count(std::uint32_t* core_bits) {
  const DenseBoxView& view = grid_.view();
  // A sum of weights may need any number of tests.
  const std::uint32_t each = task_.weights == nullptr ? task_.minpts.most : tuning::kThreadCandidates;
  const double tests = std::max(1.0, static_cast<double>(std::min(each, view.size)) * view.dims);
  const double wanted = std::max(tuning::kMostBatchWork / tests, static_cast<double>(tuning::kFewestCounted));
  const auto at_once = static_cast<std::uint32_t>(std::min(wanted, static_cast<double>(view.size)));
  tally_.clear(cuda_stream());
  std::optional<DeviceWeighing> weighing;
  if (task_.weights != nullptr) {
    weighing.emplace(*task_.weights, view.order, view.size, view.ghosts, task_.memory, cuda_stream());
    weighing->sum_cells(view, task_.memory, cuda_stream());
  }
  const WeighingView* const weights = weighing ? &weighing->view() : nullptr;
  std::uint32_t begin = 0;
  while (begin < view.size) {
    const bool last = view.size - begin <= at_once;
    const std::uint32_t end = last ? view.size : begin + at_once / 32 * 32;
    launch_count_dense_boxes(view, {begin, end}, task_.minpts, weights, remaining(), counts_.data(), core_bits,
                             cuda_stream());
    begin = end;
    if (last) break;
    grid_.stream().synchronize();
    task_.cancel.check();
  }
  if (remaining_.size() > 0) {
    launch_remaining_counts(view, task_.minpts, weights, remaining(), counts_.data(), core_bits, cuda_stream());
  }
}

void DenseBoxClustering::unite_level(std::uint32_t minpts) {
  const DenseBoxView& view = grid_.view();
  if (counts_.size() > 0) {
    std::swap(core_bits_, core_before_);
    launch_core_bits(counts_.data(), view.size, minpts, core_bits_.data(), cuda_stream());
  }
  const std::uint32_t whole = task_.weights == nullptr ? minpts : kNeverBySize;
  nodes_ = {view.starts, view.order, core_bits_.data(), view.cells, whole};
  tally_.clear(cuda_stream());
  // If there is only one minpts, the sets stay as they are.
  if (!begun_ || counts_.size() > 0) unite_cells();
  begun_ = true;
  task_.cancel.check();
  number();
}

LabelSummary DenseBoxClustering::label_level(const LabelTarget& target) {
  const auto launch = [&] { task_.borders ? launch_labels(target) : count_core(); };
  launch();
  const Tally* tally = &tally_.read(cuda_stream());
  if (resolve_pairs(*tally)) {
    launch();
    tally = &tally_.read(cuda_stream());
  }
  return task_.borders ? summary_of(*tally, grid_.view().ghosts.labelled) : core_summary_of(*tally);
}

std::optional<std::vector<BorderTie>> DenseBoxClustering::border_ties(std::span<const std::uint8_t> movable,
                                                                      std::uint32_t own) {
  if (movable.empty()) return std::vector<BorderTie>();
  const DeviceScope scope(stream().device());
  try {
    return find_border_ties(movable, own);
  } catch (const DeviceOutOfMemory&) {  // the result is optional
    return std::nullopt;
  }
}

std::optional<std::vector<BorderTie>> DenseBoxClustering::find_border_ties(std::span<const std::uint8_t> movable,
                                                                           std::uint32_t own) {
  constexpr std::uint32_t kFew = 1 << 16;
  const DeviceBuffer<std::uint8_t> flags = copy_of(movable, task_.memory, cuda_stream());
  const DeviceBuffer<TieCount> count(task_.memory, cuda_stream(), 1);
  for (std::uint32_t capacity = kFew;;) {
    const DeviceBuffer<BorderTie> ties(task_.memory, cuda_stream(), capacity);
    launch_border_ties(grid_.view(), nodes_, arrays_.numbering().numbers, flags.data(), own,
                       {ties.data(), capacity, count.data()}, cuda_stream());
    const TieCount found = read_values(count.data(), 1, cuda_stream()).front();
    if (found.gave_up != 0) return std::nullopt;
    if (found.ties <= capacity) return read_values(ties.data(), found.ties, cuda_stream());
    capacity = found.ties;
  }
}

Numbering DenseBoxClustering::final_numbering() {
  (void)resolve_pairs(tally_.read(cuda_stream()));
  return arrays_.numbering();
}

/// Decides the pairs that unite_cells() has left undecided, and numbers the sets again. It is so rare that it may cost
/// a second numbering, to save a wait each time. tally: the one read last. Returns false if all pairs were decided.
bool DenseBoxClustering::resolve_pairs(const Tally& tally) {
  if (tally.huge_pairs == 0) return false;
  huge_.decide(tally.huge_pairs, grid_.view(), nodes_, arrays_.parents.data(), scratch());
  task_.cancel.check();
  tally_.clear(cuda_stream());
  number();
  return true;
}

void DenseBoxClustering::number() {
  arrays_.number(nodes_, scratch());
  end_phase(task_.marks, "number", grid_.stream());
}

void DenseBoxClustering::unite_cells() {
  const DenseBoxView& view = grid_.view();
  const cudaStream_t stream = cuda_stream();
  CellSets sets = begin_sets();
  const bool dense = view.cells <= tuning::kDenseCells * view.size;
  if (dense) {
    launch_unite_cells(view, nodes_, sets, CellDistance::adjacent, tuning::kSampleCells, 0, false, stream);
    launch_compress(sets.parents, view.cells, stream);
  } else {
    sets.core = list_core_cells();
  }
  end_phase(task_.marks, "rows", grid_.stream());
  // Linked rows are still apart at the borders between the blocks of launch_link_rows().
  const std::uint32_t row_stride = begun_ ? 1 : tuning::kDirectThreads;
  launch_unite_cells(view, nodes_, sets, CellDistance::adjacent, 1, row_stride, true, stream);
  end_phase(task_.marks, "adjacent", grid_.stream());
  if (dense) launch_compress(sets.parents, view.cells, stream);
  launch_unite_cells(view, nodes_, sets, CellDistance::two_apart, 1, 0, true, stream);
  end_phase(task_.marks, "two apart", grid_.stream());
  launch_queued_pairs(view, nodes_, sets, stream);
  end_phase(task_.marks, "queued", grid_.stream());
  if (view.ghosts.origins != nullptr && view.ghosts.count > 0)
    launch_join_ghosts(view, nodes_, ghost_positions(), sets.parents, stream);
}

/// Returns the initial sets: the sets of the larger minpts with new core cells, or at first linked rows of cells.
CellSets DenseBoxClustering::begin_sets() {
  CellSets sets;
  sets.parents = arrays_.parents.data();
  sets.queue = {queued_.data(), static_cast<std::uint32_t>(queued_.size()), huge_.list(), tally_.device()};
  if (begun_) {
    launch_extend_cells(nodes_, core_before_.data(), sets.parents, gained_.data(), cuda_stream());
    sets.gained = gained_.data();
  } else {
    launch_link_rows(grid_.view(), nodes_, sets, cuda_stream());
  }
  return sets;
}

CoreCells DenseBoxClustering::list_core_cells() {
  if (core_cells_.size() == 0) core_cells_ = {task_.memory, cuda_stream(), 1};
  std::uint32_t* const list = arrays_.numbers.data();  // the numbers are written later
  launch_list_core_cells(arrays_.parents.data(), grid_.view().cells, list, core_cells_.data(), scratch());
  return {list, core_cells_.data()};
}

/// Replaces launch_labels() if border points need not be distinguished from noise.
void DenseBoxClustering::count_core() {
  const DenseBoxView& view = grid_.view();
  const Numbering numbering = arrays_.numbering();
  if (view.ghosts.count > 0) launch_forget_ghosts(view, nodes_, ghost_positions(), numbering, cuda_stream());
  launch_count_core(numbering, view.cells, tally_.device(), cuda_stream());
  end_phase(task_.marks, "label", grid_.stream());
}

void DenseBoxClustering::launch_labels(const LabelTarget& target) {
  const DenseBoxView& view = grid_.view();
  const Nodes& nodes = nodes_;
  const cudaStream_t stream = cuda_stream();
  const Numbering numbering = arrays_.numbering();
  const auto [labels, core] = target;
  // If nothing is written, cells that are core as a whole need no labels either.
  const bool by_id = labels == nullptr || (view.words != nullptr && view.cells <= tuning::kLookUpCells * view.size);
  if (by_id && labels != nullptr)
    launch_label_ids(view, task_.points.device(), numbering.numbers, labels, core, stream);
  launch_label_positions(view, nodes, numbering.numbers, !by_id, remaining(), labels, core, numbering.sizes, stream);
  if (remaining_.size() > 0)
    launch_remaining_labels(view, nodes, numbering.numbers, remaining(), labels, numbering.sizes, stream);
  if (view.ghosts.count > 0) launch_forget_ghosts(view, nodes, ghost_positions(), numbering, stream);
  launch_largest(numbering, view.cells, tally_.device(), stream);
  end_phase(task_.marks, "label", grid_.stream());
}

}  // namespace epsflow::gpu
