// The search of one table on the GPU: batches planned, started on lanes, reported by the driver.
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <epsflow/core/cancel.hpp>
#include <epsflow/core/table_search.hpp>
#include <epsflow/gpu/grid/device_grid.hpp>
#include <epsflow/gpu/tables/gpu_lane.hpp>

namespace epsflow::gpu {

/// What the products of one index share. All must outlive them.
struct GpuResources {
  int device;
  DeviceMemory& memory;
  PinnedPool& pinned;
  const CancelToken& cancel;
};

struct RowTotals {
  std::uint64_t pairs;
  std::uint64_t longest;  ///< neighbours of the row that has most
};
/// From the neighbours of each row its place in a csr table. offsets: [n + 1], filled. Waits.
[[nodiscard]] RowTotals place_rows(const DeviceBuffer<std::uint32_t>& counts,
                                   const DeviceBuffer<std::uint64_t>& offsets, Scratch scratch);

class GpuTableSearch final : public TableSearch {
 public:
  /// Counts or samples, as the format and the kernel need. The GPU must be the current one. Throws UsageError,
  /// DeviceOutOfMemory, Cancelled.
  GpuTableSearch(std::shared_ptr<const DeviceGrid> grid, const GpuResources& resources, const TableOptions& options);

  [[nodiscard]] const BatchPlan& plan() const override { return plan_; }
  [[nodiscard]] std::shared_ptr<const PackedLayout> layout() const override { return layout_; }
  [[nodiscard]] RowOrder order() const override { return {grid_.order_owner(), grid_.order()}; }
  [[nodiscard]] std::pair<Batch, Batch> split(const Batch& batch) const override;
  void search(const Batch& batch, unsigned lane, NeighborTable& table, Completion done) override;
  void sort(unsigned lane, NeighborTable& table, Completion done) override;

 private:
  void count_rows();
  [[nodiscard]] bool packed_is_smaller() const;
  void plan_packed();
  void plan_rows();
  void plan_pairs();
  [[nodiscard]] std::vector<Range> cut_by_words(std::uint64_t parts) const;
  [[nodiscard]] std::uint64_t most_lane_words() const;
  [[nodiscard]] std::uint64_t fewest_batches() const;

  void start_packed(const Batch& batch, GpuLane& lane, NeighborTable& table, Completion done);
  void start_rows(const Batch& batch, GpuLane& lane, NeighborTable& table, Completion done);
  void start_pairs(const Batch& batch, GpuLane& lane, Completion done);

  std::shared_ptr<const DeviceGrid> shared_grid_;
  const DeviceGrid& grid_;
  GpuResources resources_;
  TableOptions options_;
  std::shared_ptr<const PackedLayout> layout_;
  BatchPlan plan_;
  DeviceBuffer<std::uint32_t> counts_;           // rows: [n], filled by the plan; packed: [n], filled by batches
  DeviceBuffer<std::uint64_t> offsets_;          // rows: [n + 1]
  std::uint64_t lane_room_ = 0;                  // words, or pairs, that a lane shall hold
  std::uint64_t longest_row_ = 0;                // of these, what the longest row may take
  std::vector<std::unique_ptr<GpuLane>> lanes_;  // last: their work uses the others
};

}  // namespace epsflow::gpu
