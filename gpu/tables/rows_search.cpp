// One thread for each row counts its neighbours. Later a few threads for each row write them. Nothing is estimated.
#include <algorithm>
#include <deque>

#include <epsflow/gpu/base/tuning.hpp>
#include <epsflow/gpu/tables/grid_table_search.hpp>
#include <epsflow/gpu/tables/search_kernels.hpp>

namespace epsflow::gpu {
namespace {

class RowsSearch final : public GridTableSearch {
 public:
  RowsSearch(const GridTask& task, CountedRows rows)
      : GridTableSearch(task), rows_(std::move(rows)), lanes_(make_lanes<GpuLane>(task.resources, task.options)) {
    plan_.counted = true;
    plan_.pairs = rows_.pairs();
    if (grid().size() == 0) return;
    const std::uint64_t batch_pairs = std::min(
        task.options.lane_pairs > 0 ? task.options.lane_pairs : tuning::kRowsBatchPairs, task.most_lane_words());
    const CountedRows::Cuts cuts = rows_.cut(std::max(divide_up(plan_.pairs, batch_pairs), task.fewest_batches()));
    for (std::size_t k = 1; k < cuts.rows.size(); ++k) add_batch(plan_, cuts, k - 1, k);
  }

  [[nodiscard]] std::pair<Batch, Batch> split(const Batch& batch) const override { return rows_.split(batch); }

  void search(const Batch& batch, unsigned lane_number, NeighborTable& table, Completion done) override {
    GpuLane& lane = lanes_.at(lane_number);
    start_on(lane, Stage::find_neighbors, done, [&] {
      rows_.search(batch, lane, plan_.lane_pairs, table, done, [&] {
        launch_fill_rows(grid().view(), batch.range, rows_.offsets(), lane.words.data(), lane.stream.get());
      });
    });
  }

 private:
  CountedRows rows_;
  std::deque<GpuLane> lanes_;  // declared last because their work uses the other members
};

}  // namespace

CountedRows count_rows(const GridTask& task) {
  const DeviceGrid& grid = *task.grid;
  const Stream& stream = grid.stream();
  DeviceBuffer<std::uint32_t> counts(task.resources.memory, stream.get(), grid.size());
  if (grid.size() > 0) {
    // A long count runs in parts, so that a cancelled run ends soon.
    const std::vector<Range> parts = task.cut_by_words(task.fewest_batches());
    for (const Range rows : parts) {
      launch_count_rows(grid.view(), {rows.begin, 1, rows.size()}, counts.data() + rows.begin, stream.get());
      if (parts.size() > tuning::kPartsAtOnce) stream.synchronize();
      task.resources.cancel.check();
    }
  }
  return {std::move(counts), stream, task.resources.memory};
}

std::unique_ptr<TableSearch> make_rows_search(const GridTask& task, CountedRows rows) {
  return std::make_unique<RowsSearch>(task, std::move(rows));
}

}  // namespace epsflow::gpu
