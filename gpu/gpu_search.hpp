// The searches of one eps on the GPU: batches planned, started on lanes, reported by the driver.
#pragma once

#include <memory>
#include <span>
#include <utility>

#include <epsflow/core/backend.hpp>
#include <epsflow/gpu/device_grid.hpp>
#include <epsflow/gpu/gpu_lane.hpp>

namespace epsflow::gpu {

class GpuSearch final : public NeighborSearch {
 public:
  /// What searches share of their backend. All must outlive them.
  struct Resources {
    int device;
    DeviceMemory& memory;
    PinnedPool& pinned;
  };
  GpuSearch(const DevicePoints& points, double eps, Resources resources, const CancelToken& cancel);

  [[nodiscard]] std::span<const std::uint32_t> order() const override { return grid_.order(); }
  [[nodiscard]] std::uint64_t bytes() const override { return grid_.bytes(); }
  [[nodiscard]] std::shared_ptr<const PackedLayout> packed_layout() override;
  [[nodiscard]] bool suits_packed() const override;
  [[nodiscard]] BatchPlan plan(const PlanOptions& options) override;
  [[nodiscard]] std::pair<Batch, Batch> split(const Batch& batch) const override;
  void search(const Batch& batch, Lane& lane, NeighborTable& table, Completion done) override;
  void sort_pairs(Lane& lane, NeighborTable& table, Completion done) override;

 private:
  [[nodiscard]] BatchPlan plan_packed(const PlanOptions& options);
  [[nodiscard]] BatchPlan plan_rows(const PlanOptions& options);
  [[nodiscard]] BatchPlan plan_pairs(const PlanOptions& options);
  [[nodiscard]] std::vector<Run> cut_by_words(std::uint64_t parts) const;
  [[nodiscard]] std::uint64_t most_lane_words(const PlanOptions& options) const;
  [[nodiscard]] std::uint64_t fewest_batches() const;

  void start_packed(const Batch& batch, GpuLane& lane, NeighborTable& table, Completion done);
  void start_rows(const Batch& batch, GpuLane& lane, NeighborTable& table, Completion done);
  void start_pairs(const Batch& batch, GpuLane& lane, Completion done);

  Resources resources_;
  const CancelToken& cancel_;
  DeviceGrid grid_;
  std::shared_ptr<const PackedLayout> layout_;
  Kernel kernel_ = Kernel::rows;
  DeviceBuffer<std::uint32_t> counts_;   // rows: [n], filled by the plan; packed: [n], filled by batches
  DeviceBuffer<std::uint64_t> offsets_;  // rows: [n + 1]
  std::uint64_t lane_room_ = 0;          // words, or pairs, that a lane shall hold
  std::uint64_t longest_row_ = 0;        // of these, what the longest row may take
};

}  // namespace epsflow::gpu
