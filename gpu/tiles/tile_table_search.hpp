// The table of one eps from the pairs of a search by tiles.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <utility>

#include <epsflow/core/table_search.hpp>
#include <epsflow/gpu/base/gpu_resources.hpp>
#include <epsflow/gpu/tables/counted_rows.hpp>
#include <epsflow/gpu/tables/gpu_lane.hpp>
#include <epsflow/gpu/tiles/tile_search.hpp>

namespace epsflow::gpu {

/// A batch is a range of rows. It takes its pairs, from both sides, from the list that the search cached, and sorts
/// them. If the list could not hold all pairs, each batch is a search of its own.
class TileTableSearch final : public TableSearch {
 public:
  /// Searches, and counts the neighbours of each row. The GPU must be the current one. Waits. Throws DeviceError,
  /// Cancelled.
  TileTableSearch(std::unique_ptr<TileSearch> search, const GpuResources& resources, const TableOptions& options);

  [[nodiscard]] const BatchPlan& plan() const override { return plan_; }
  [[nodiscard]] RowOrder order() const override {
    return {search_->tiles().order_owner(), search_->tiles().host_order()};
  }
  [[nodiscard]] std::uint64_t undecided_pairs() const override { return search_->figures().undecided_pairs; }
  [[nodiscard]] std::pair<Batch, Batch> split(const Batch& batch) const override { return rows_.split(batch); }
  void search(const Batch& batch, unsigned lane, NeighborTable& table, Completion done) override;

 private:
  struct Lane : GpuLane {
    explicit Lane(const GpuResources& resources) : GpuLane(resources), key_count(memory, stream.get(), 1) {}

    DeviceBuffer<std::uint64_t> keys;  // twice the keys, for the sort
    DeviceBuffer<unsigned long long> key_count;
    StreamDrain drain_keys{stream};  // waits before the memory above is freed
  };

  [[nodiscard]] DeviceBuffer<std::uint32_t> count_rows();
  void find_ids(const Batch& batch, Lane& lane);
  void collect_keys(const PairKeys& shape, Lane& lane);

  GpuResources resources_;
  std::unique_ptr<TileSearch> search_;
  std::mutex searching_;  // only one lane at a time may repeat the search
  CountedRows rows_;
  unsigned bits_;  // of a position
  BatchPlan plan_;
  std::deque<Lane> lanes_;  // declared last because their work uses the other members
};

}  // namespace epsflow::gpu
