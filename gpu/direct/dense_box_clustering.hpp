// DBSCAN by dense-box cells, in which any two points are neighbours.
#pragma once

#include <cstdint>

#include <epsflow/gpu/direct/dense_box_grid.hpp>
#include <epsflow/gpu/direct/dense_box_huge_pairs.hpp>
#include <epsflow/gpu/direct/dense_box_kernels.hpp>
#include <epsflow/gpu/direct/direct_task.hpp>

namespace epsflow::gpu {

/// All points of a cell with at least minpts points are core, without a distance test, unless weights are summed. All
/// core points of a cell are in one cluster. So union-find runs over cells. Two neighbouring cells that are not in one
/// set yet are compared until a pair of core points within eps is found. The cells are Gan & Tao's idea (SIGMOD 2015).
///
/// Adjacent cells are compared first, because then most cells two apart are already in one set. Pairs of cells that
/// take a thread too long are compared by blocks of threads. Huge cells, for which a few comparisons find no such pair,
/// are compared by the bounds of their points (HugePairs). Points with many candidates and few neighbours are also
/// processed by blocks.
class DenseBoxClustering final : public DeviceClustering {
 public:
  /// axes: must form dense boxes. task need not outlive the call, but everything that it refers to must. Not for 0
  /// points.
  DenseBoxClustering(const DirectTask& task, const index::CellAxes& axes, LookupLimits limits = {});

  ~DenseBoxClustering() override { release(); }

  [[nodiscard]] const Stream& stream() const override { return grid_.stream(); }

 private:
  [[nodiscard]] std::optional<std::vector<BorderTie>> border_ties(std::span<const std::uint8_t> movable,
                                                                  std::uint32_t own) override;
  [[nodiscard]] std::optional<std::vector<BorderTie>> find_border_ties(std::span<const std::uint8_t> movable,
                                                                       std::uint32_t own);
  void unite_level(std::uint32_t minpts) override;
  LabelSummary label_level(const LabelTarget& target) override;
  Numbering final_numbering() override;
  [[nodiscard]] LabelledLevel labelled_level() const override {
    const DenseBoxView& view = grid_.view();
    return {nodes_, arrays_.numbering(), view.cell_of, view.size, view.ghosts.labelled};
  }
  [[nodiscard]] std::uint32_t* counts() const override { return counts_.data(); }
  void find_ghosts(const Ghosts& ghosts);
  [[nodiscard]] GhostPositions ghost_positions() const {
    return {positions_.data(), positions_.data() + grid_.view().ghosts.count};
  }
  void count(std::uint32_t* core_bits);
  void unite_cells();
  [[nodiscard]] CellSets begin_sets();
  [[nodiscard]] CoreCells list_core_cells();
  void number();
  void launch_labels(const LabelTarget& target);
  void count_core();
  [[nodiscard]] bool resolve_pairs(const Tally& tally);
  [[nodiscard]] RemainingPoints remaining() const {
    return {remaining_.data(), static_cast<std::uint32_t>(remaining_.size()), tally_.device()};
  }
  [[nodiscard]] cudaStream_t cuda_stream() const { return grid_.stream().get(); }
  [[nodiscard]] Scratch scratch() const { return {task_.memory, cuda_stream()}; }

  DirectTask task_;
  DenseBoxGrid grid_;
  TallyPair tally_;
  DeviceBuffer<std::uint32_t> counts_;  // [n]; empty if the count writes core_bits_ itself
  DeviceBuffer<std::uint32_t> core_bits_;
  DeviceBuffer<std::uint32_t> core_before_;
  NodeArrays arrays_;
  DeviceBuffer<std::uint8_t> gained_;
  DeviceBuffer<std::uint32_t> core_cells_;  // [1] number of core cells; empty if cells hold many points
  DeviceBuffer<QueuedPair> queued_;
  HugePairs huge_;
  DeviceBuffer<std::uint32_t> remaining_;  // positions; empty if there are few points
  DeviceBuffer<std::uint32_t> positions_;  // [ghosts], followed by [ghosts] of their origins if these are here
  Nodes nodes_;
  bool begun_ = false;
  StreamDrain drain_{grid_.stream()};  // waits before the memory above is freed
};

}  // namespace epsflow::gpu
