#include <epsflow/gpu/direct/point_clustering.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include <epsflow/gpu/base/tuning.hpp>
#include <epsflow/gpu/direct/point_kernels.hpp>

namespace epsflow::gpu {

PointClustering::PointClustering(const DirectTask& task, std::shared_ptr<const DeviceGrid> grid)
    : DeviceClustering(task),
      task_(task),
      shared_grid_(std::move(grid)),
      grid_(*shared_grid_),
      tally_(task.memory, task.pinned, stream_.get()) {
  const cudaStream_t stream = stream_.get();
  const std::uint32_t n = grid_.size();
  const std::uint64_t words = std::uint64_t{n} / 32 + 1;
  order_ = {task_.memory, stream, n};
  check(cudaMemcpyAsync(order_.data(), grid_.order().data(), order_.bytes(), cudaMemcpyHostToDevice, stream));
  core_bits_ = {task_.memory, stream, words};
  const bool several = task_.minpts.most != task_.minpts.least || task_.excludes_outer_ghosts();
  if (several) {
    counts_ = {task_.memory, stream, n};
    core_before_ = {task_.memory, stream, words};
  }
  arrays_ = {task_, stream, n, n};
  cut_rows();
  end_phase(task_.marks, "index", stream_);
  std::optional<DeviceWeighing> weighing;
  if (task_.weights != nullptr) {
    weighing.emplace(*task_.weights, order_.data(), n, task_.ghosts(), task_.memory, stream);
  }
  in_parts([&](Range rows) {
    launch_count_points(grid_.view(), rows, task_.minpts, weighing ? &weighing->view() : nullptr, counts_.data(),
                        several ? nullptr : core_bits_.data(), stream);
  });
  end_phase(task_.marks, "count", stream_);
  find_shared(task_, [&](std::uint32_t* ids, std::uint32_t count) {
    launch_positions_of(order_.data(), task_.points.device().size, ids, count, {task_.memory, stream});
  });
}

/// Cuts the rows into parts of about equal work. Each begins at a whole word of the core bits.
void PointClustering::cut_rows() {
  const double work = 32.0 * static_cast<double>(grid_.packed_words()) * static_cast<double>(grid_.dims());
  const double wanted = std::ceil(work / tuning::kMostBatchWork);
  const auto count = static_cast<std::uint32_t>(std::clamp(wanted, 1.0, static_cast<double>(grid_.size())));
  const cudaStream_t stream = stream_.get();
  const DeviceBuffer<std::uint32_t> cuts(task_.memory, stream, std::uint64_t{count} + 1);
  launch_cut_words(grid_.view(), count, cuts.data(), stream);
  std::uint32_t begin = 0;
  for (const std::uint32_t cut : read_values(cuts.data(), cuts.size(), stream)) {
    const std::uint32_t end = cut == grid_.size() ? cut : cut / 32 * 32;
    if (end > begin) parts_.push_back({std::exchange(begin, end), end});
  }
}

template <class F>
void PointClustering::in_parts(F launch) const {
  for (const Range rows : parts_) {
    launch(rows);
    if (parts_.size() > tuning::kPartsAtOnce) stream_.synchronize();
    task_.cancel.check();
  }
}

void PointClustering::unite_level(std::uint32_t minpts) {
  const GridView& view = grid_.view();
  const cudaStream_t stream = stream_.get();
  if (counts_.size() > 0) {
    std::swap(core_bits_, core_before_);
    launch_core_bits(counts_.data(), view.size, minpts, core_bits_.data(), stream);
  }
  const std::uint32_t* const before = begun_ ? core_before_.data() : nullptr;
  begun_ = true;
  tally_.clear(stream);
  std::uint32_t* const parents = arrays_.parents.data();
  launch_begin_points(core_bits_.data(), before, view.size, parents, stream);
  in_parts([&](Range rows) { launch_unite_points(view, rows, before, parents, stream); });
  end_phase(task_.marks, "unite", stream_);
  nodes_ = {nullptr, order_.data(), core_bits_.data(), view.size, minpts};
  arrays_.number(nodes_, {task_.memory, stream});
  end_phase(task_.marks, "number", stream_);
}

LabelSummary PointClustering::label_level(const LabelTarget& target) {
  const GridView& view = grid_.view();
  const cudaStream_t stream = stream_.get();
  const Numbering numbering = arrays_.numbering();
  const std::uint32_t labelled = task_.ghosts().labelled;
  if (!task_.borders) {
    launch_count_core(numbering, view.size, tally_.device(), stream);
    end_phase(task_.marks, "label", stream_);
    return core_summary_of(tally_.read(stream));
  }
  in_parts([&](Range rows) {
    launch_label_points(view, rows, order_.data(), labelled, numbering.numbers, target.labels, numbering.sizes,
                        tally_.device(), stream);
  });
  if (target.core != nullptr) {
    launch_core_mask(core_bits_.data(), order_.data(), view.size, labelled, target.core, stream);
  }
  if (shared() != nullptr) shared()->forget_ghosts(labelled_level(), stream);
  launch_largest(numbering, view.size, tally_.device(), stream);
  end_phase(task_.marks, "label", stream_);
  return summary_of(tally_.read(stream), labelled);
}

}  // namespace epsflow::gpu
