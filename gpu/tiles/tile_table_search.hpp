// The table of one eps from the pairs of a search by tiles.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include <epsflow/core/table_search.hpp>
#include <epsflow/gpu/tables/gpu_lane.hpp>
#include <epsflow/gpu/tables/gpu_table_search.hpp>
#include <epsflow/gpu/tiles/tile_search.hpp>

namespace epsflow::gpu {

/// Batches are ranges of rows; a batch takes its pairs from the list that the search kept, from both sides, and sorts them. Where
/// the list had no room each batch is a search of its own.
class TileTableSearch final : public TableSearch {
 public:
  /// Searches, and counts. The GPU must be the current one. Throws DeviceOutOfMemory, Cancelled.
  TileTableSearch(std::unique_ptr<TileSearch> search, const GpuResources& resources, const TableOptions& options);

  [[nodiscard]] const BatchPlan& plan() const override { return plan_; }
  [[nodiscard]] std::shared_ptr<const PackedLayout> layout() const override { return nullptr; }
  [[nodiscard]] RowOrder order() const override {
    return {search_->tiles().order_owner(), search_->tiles().host_order()};
  }
  [[nodiscard]] std::uint64_t open_pairs() const override { return search_->figures().open_pairs; }
  [[nodiscard]] std::pair<Batch, Batch> split(const Batch& batch) const override;
  void search(const Batch& batch, unsigned lane, NeighborTable& table, Completion done) override;
  void sort(unsigned lane, NeighborTable& table, Completion done) override;

 private:
  struct Lane {
    explicit Lane(const GpuResources& resources) : base(resources.memory, resources.pinned) {}

    GpuLane base;
    DeviceBuffer<std::uint64_t> keys;  // twice, for the sort
    StreamDrain drain{base.stream};    // before the memory above goes
  };

  void count_rows();
  [[nodiscard]] std::vector<std::uint32_t> cut_rows(std::uint64_t parts) const;
  void collect_keys(const Batch& batch, Lane& lane);
  void start_rows(const Batch& batch, Lane& lane, NeighborTable& table, Completion done);

  GpuResources resources_;
  TableOptions options_;
  std::unique_ptr<TileSearch> search_;
  std::mutex searching_;  // a search that is made again is one lane's at a time
  BatchPlan plan_;
  DeviceBuffer<std::uint32_t> counts_;   // [n] neighbours, the point itself among them
  DeviceBuffer<std::uint64_t> offsets_;  // [n + 1]
  std::uint64_t longest_row_ = 0;
  unsigned bits_ = 0;                         // of a position
  std::vector<std::unique_ptr<Lane>> lanes_;  // last: their work uses the others
};

}  // namespace epsflow::gpu
