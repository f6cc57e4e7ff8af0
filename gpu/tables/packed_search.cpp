// One thread for each row writes the words of the row, which are copied directly into the table.
#include <algorithm>
#include <deque>

#include <epsflow/gpu/base/tuning.hpp>
#include <epsflow/gpu/tables/grid_table_search.hpp>
#include <epsflow/gpu/tables/search_kernels.hpp>
#include <epsflow/index/batch_plan.hpp>

namespace epsflow::gpu {
namespace {

class PackedSearch final : public GridTableSearch {
 public:
  explicit PackedSearch(const GridTask& task)
      : GridTableSearch(task),
        layout_(std::make_shared<const PackedLayout>(grid().read_layout())),
        counts_(task.resources.memory, stream().get(), grid().size()),
        lanes_(make_lanes<GpuLane>(task.resources, task.options)) {
    if (grid().size() == 0) return;
    const std::uint64_t lane_words = task.options.lane_pairs > 0 ? task.options.lane_pairs : tuning::kPackedBatchWords;
    const std::uint64_t batch_words = std::clamp<std::uint64_t>(lane_words, 1, task.most_lane_words());
    const std::uint64_t batches = divide_up(grid().packed_words(), batch_words);
    for (const Range rows : task.cut_by_words(std::max(batches, task.fewest_batches()))) {
      plan_.batches.push_back({.range = rows});
      lane_words_ = std::max(lane_words_, words_of(rows));
    }
    const Scratch scratch{task.resources.memory, stream().get()};
    const DeviceBuffer<std::uint64_t> longest(scratch.memory, scratch.stream, 1);
    launch_longest_row(grid().view(), longest.data(), scratch);
    longest_row_ = read_values(longest.data(), 1, scratch.stream).front();
  }

  [[nodiscard]] std::shared_ptr<const PackedLayout> layout() const override { return layout_; }
  [[nodiscard]] std::pair<Batch, Batch> split(const Batch& batch) const override { return index::split_range(batch); }

  void search(const Batch& batch, unsigned lane_number, NeighborTable& table, Completion done) override {
    GpuLane& lane = lanes_.at(lane_number);
    start_on(lane, Stage::find_neighbors, done, [&] {
      const Range rows = batch.range;
      const std::uint64_t words = words_of(rows);
      if (words > lane.ensure_words(lane_words_, longest_row_) && rows.size() > 1) return done(BatchTooLarge{words});
      lane.ensure_counts(rows.size());
      const std::uint64_t first_word = layout_->first_word(rows.begin);
      std::uint32_t* const counts = counts_.data() + rows.begin;
      launch_pack_rows(grid().view(), rows, first_word, lane.words.data(), counts, lane.stream.get());
      copy_to_table(table.packed_words_for_writing() + first_word, lane.words.data(), words * sizeof(std::uint32_t),
                    lane.stream.get());
      report(lane, done, [found = PackedRows{rows, lane.copy_counts(counts, rows.size())}] { return found; });
    });
  }

 private:
  [[nodiscard]] std::uint64_t words_of(Range rows) const {
    return layout_->first_word(rows.end) - layout_->first_word(rows.begin);
  }

  std::shared_ptr<const PackedLayout> layout_;
  DeviceBuffer<std::uint32_t> counts_;  // [n] filled by batches
  std::uint64_t lane_words_ = 0;        // requested capacity of a lane
  std::uint64_t longest_row_ = 0;       // in words
  std::deque<GpuLane> lanes_;           // declared last because their work uses the other members
};

}  // namespace

std::unique_ptr<TableSearch> make_packed_search(const GridTask& task) { return std::make_unique<PackedSearch>(task); }

}  // namespace epsflow::gpu
