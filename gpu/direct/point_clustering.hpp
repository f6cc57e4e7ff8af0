// DBSCAN point by point, for any number of dimensions.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <epsflow/gpu/direct/direct_task.hpp>
#include <epsflow/gpu/grid/device_grid.hpp>

namespace epsflow::gpu {

/// Works on the grid of the neighbour search. Counts neighbours up to the largest minpts, or sums weights; unites core
/// points in sets; and then searches for border points. Long kernels run in parts, so that a cancelled run ends between
/// two parts.
class PointClustering final : public DeviceClustering {
 public:
  /// `task` need not outlive the call, but everything that it refers to must. Not for 0 points.
  PointClustering(const DirectTask& task, std::shared_ptr<const DeviceGrid> grid);

  ~PointClustering() override { release(); }

  [[nodiscard]] const Stream& stream() const override { return stream_; }

 private:
  void unite_level(std::uint32_t minpts) override;
  LabelSummary label_level(const LabelTarget& target) override;
  Numbering final_numbering() override { return arrays_.numbering(); }
  [[nodiscard]] LabelledLevel labelled_level() const override {
    return {nodes_, arrays_.numbering(), nullptr, grid_.size(), task_.ghosts().labelled};
  }
  [[nodiscard]] std::uint32_t* counts() const override { return counts_.data(); }
  /// Calls launch(rows) for each part of the rows.
  template <class F>
  void in_parts(F launch) const;
  void cut_rows();

  DirectTask task_;
  std::shared_ptr<const DeviceGrid> shared_grid_;
  const DeviceGrid& grid_;
  Stream stream_;
  TallyPair tally_;
  DeviceBuffer<std::uint32_t> order_;
  DeviceBuffer<std::uint32_t> counts_;  // [n]; empty if the counting kernel writes core_bits_ (one minpts)
  DeviceBuffer<std::uint32_t> core_bits_;
  DeviceBuffer<std::uint32_t> core_before_;
  NodeArrays arrays_;
  Nodes nodes_;
  std::vector<Range> parts_;
  bool begun_ = false;
  StreamDrain drain_{stream_};  // waits before the memory above is freed
};

}  // namespace epsflow::gpu
