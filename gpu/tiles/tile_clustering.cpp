#include <epsflow/gpu/tiles/tile_clustering.hpp>

#include <utility>

#include <epsflow/gpu/direct/point_kernels.hpp>

namespace epsflow::gpu {

TileClustering::TileClustering(const DirectTask& task, std::unique_ptr<TileSearch> search)
    : DeviceClustering(task),
      task_(task),
      search_(std::move(search)),
      size_(search_->tiles().size()),
      tally_(task.memory, task.pinned, stream().get()) {
  const cudaStream_t on = stream().get();
  const std::uint64_t words = std::uint64_t{size_} / 32 + 1;
  counts_ = {task_.memory, on, size_};
  core_bits_ = {task_.memory, on, words};
  core_before_ = {task_.memory, on, words};
  if (task_.borders) lowest_ = {task_.memory, on, size_};
  arrays_ = {task_, on, size_, size_};
  end_phase(task_.marks, "index", stream());
  if (task_.weights != nullptr) {
    const DeviceWeighing weighing(*task_.weights, search_->tiles().order(), size_, task_.points.ghosts(), task_.memory,
                                  on);
    const DeviceBuffer<WeightSum> sums(task_.memory, on, size_);
    launch_begin_sums(weighing.view(), size_, sums.data(), on);
    search_->for_each_list([&](PairsOnDevice list) { launch_sum_pairs(list, weighing.view(), sums.data(), on); });
    launch_count_sums(weighing.view(), size_, sums.data(), counts_.data(), on);
  } else {
    launch_fill(counts_.data(), size_, 1, on);
    search_->for_each_list([&](PairsOnDevice list) { launch_count_pairs(list, counts_.data(), on); });
  }
  end_phase(task_.marks, "search", stream());
}

void TileClustering::unite_level(std::uint32_t minpts) {
  const cudaStream_t on = stream().get();
  task_.cancel.check();
  std::swap(core_bits_, core_before_);
  launch_core_bits(counts_.data(), size_, minpts, core_bits_.data(), on);
  const std::uint32_t* const before = minpts_ != 0 ? core_before_.data() : nullptr;
  minpts_ = minpts;
  tally_.clear(on);
  std::uint32_t* const parents = arrays_.parents.data();
  launch_begin_points(core_bits_.data(), before, size_, parents, on);
  search_->for_each_list([&](PairsOnDevice list) { launch_unite_pairs(list, core_bits_.data(), before, parents, on); });
  end_phase(task_.marks, "unite", stream());
  nodes_ = {nullptr, search_->tiles().order(), core_bits_.data(), size_, minpts};
  arrays_.number(nodes_, {task_.memory, on});
  end_phase(task_.marks, "number", stream());
}

LabelSummary TileClustering::label_level(const LabelTarget& target) {
  const cudaStream_t on = stream().get();
  const std::uint32_t* const order = search_->tiles().order();
  const Numbering numbering = arrays_.numbering();
  if (!task_.borders) {
    if (minpts_ > task_.minpts.least) search_->forget_united(core_bits_.data());
    launch_count_core(numbering, size_, tally_.device(), on);
    end_phase(task_.marks, "label", stream());
    return core_summary_of(tally_.read(on));
  }
  check(cudaMemsetAsync(lowest_.data(), 0xFF, lowest_.bytes(), on));
  search_->for_each_list([&](PairsOnDevice list) {
    launch_offer_numbers(list, core_bits_.data(), numbering.numbers, lowest_.data(), on);
  });
  launch_label_pairs(size_, order, numbering.numbers, lowest_.data(), target.labels, numbering.sizes, tally_.device(),
                     on);
  if (minpts_ > task_.minpts.least) search_->forget_united(core_bits_.data());
  if (target.core != nullptr) launch_core_mask(core_bits_.data(), order, size_, size_, target.core, on);
  launch_largest(numbering, size_, tally_.device(), on);
  end_phase(task_.marks, "label", stream());
  return summary_of(tally_.read(on), size_);
}

}  // namespace epsflow::gpu
