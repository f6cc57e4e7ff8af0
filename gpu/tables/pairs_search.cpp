// Section VI of Gowanlock et al. 2017: batches of about equally many pairs, estimated from a sample of the points.
#include <algorithm>
#include <bit>
#include <cmath>
#include <deque>
#include <limits>
#include <string>

#include <epsflow/gpu/base/tuning.hpp>
#include <epsflow/gpu/tables/grid_table_search.hpp>
#include <epsflow/gpu/tables/search_kernels.hpp>
#include <epsflow/index/batch_plan.hpp>

namespace epsflow::gpu {
namespace {

/// The largest number of pairs of a lane, as run-length encoding counts in signed 32 bits.
constexpr std::uint64_t kMostLanePairs = std::numeric_limits<std::int32_t>::max();

/// A lane whose words are pairs: rows, rows, neighbours, neighbours. The sort alternates between the halves.
struct PairLane : GpuLane {
  explicit PairLane(const GpuResources& resources)
      : GpuLane(resources),
        counters(memory, stream.get(), 3),
        host_counters(pinned.acquire(3 * sizeof(std::uint64_t))) {}

  void ensure_pairs(std::uint64_t wanted, std::uint64_t least) { ensure_words(wanted, least, 4); }
  void ensure_rows(std::uint64_t count) {
    ensure_counts(count);
    const std::uint64_t bytes = count * sizeof(std::uint32_t);
    if (host_rows.size() < bytes) host_rows = pinned.acquire(bytes);
  }
  void copy_counters() { copy_to_host(host_counters.as<std::uint64_t>(), counters.data(), counters.bytes(), stream); }
  [[nodiscard]] std::uint64_t counter(int k) const { return host_counters.as<const std::uint64_t>()[k]; }

  [[nodiscard]] std::uint64_t capacity() const noexcept { return words.size() / 4; }
  [[nodiscard]] TwoBuffers<std::uint32_t> rows() const noexcept { return {words.data(), words.data() + capacity()}; }
  [[nodiscard]] TwoBuffers<std::uint32_t> neighbors() const noexcept {
    return {words.data() + 2 * capacity(), words.data() + 3 * capacity()};
  }

  DeviceBuffer<std::uint64_t> counters;  // [3] pairs, rows, and the rows that the sort finds
  PinnedBytes host_counters;
  PinnedBytes host_rows;
  std::uint64_t pairs_found = 0;  // of the last search
  std::uint64_t rows_found = 0;
  StreamDrain drain_pairs{stream};  // waits before the memory above is freed
};

class PairsSearch final : public GridTableSearch {
 public:
  explicit PairsSearch(const GridTask& task)
      : GridTableSearch(task),
        kernel_(task.options.kernel),
        lanes_(make_lanes<PairLane>(task.resources, task.options)) {
    if (grid().size() == 0) return;
    const double sampled = sample_pairs();
    plan_.pairs = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::ceil(sampled)));
    // The paper's buffers, but smaller for small tables, with a larger margin.
    const bool small = task.options.lane_pairs == 0 && plan_.pairs < 3 * tuning::kStaticPairs;
    const double alpha = small ? 2 * tuning::kAlpha : tuning::kAlpha;
    if (small) {
      const auto third = static_cast<std::uint64_t>(std::ceil(sampled * (1 + 2 * alpha) / 3));
      plan_.lane_pairs = lane_capacity(std::max(tuning::kFewestPairs, third));
    } else {
      plan_.lane_pairs = lane_capacity(task.options.lane_pairs > 0 ? task.options.lane_pairs : tuning::kStaticPairs);
    }
    const bool by_cells = kernel_ == Kernel::shared;
    const std::uint32_t units = by_cells ? grid().view().cells : grid().size();
    const double wanted =
        std::ceil((1 + alpha) * static_cast<double>(plan_.pairs) / static_cast<double>(plan_.lane_pairs));
    const auto batches = static_cast<std::uint32_t>(
        std::clamp<double>(std::max(wanted, static_cast<double>(task.fewest_batches())), 1, units));
    for (std::uint32_t b = 0; b < batches; ++b) {
      plan_.batches.push_back({.range = {b, units},
                               .expected_pairs = plan_.pairs / batches,
                               .stride = batches,
                               .unit = by_cells ? Batch::Unit::cell : Batch::Unit::row});
    }
  }

  [[nodiscard]] std::pair<Batch, Batch> split(const Batch& batch) const override {
    if (batch.units() > 1 && batch.stride > 1) {
      // Every other unit, so that the halves are as even as the batch was.
      auto [first, second] = std::pair(batch, batch);
      first.expected_pairs /= 2;
      second.expected_pairs -= first.expected_pairs;
      first.stride = second.stride = 2 * batch.stride;
      second.range.begin += batch.stride;
      return {first, second};
    }
    if (batch.unit == Batch::Unit::row || batch.units() > 1) return index::split_range(batch);
    // A single cell is divided into ranges of its rows.
    const DeviceScope scope(stream().device());
    const std::vector<std::uint32_t> rows =
        read_values(grid().view().cell_starts + batch.range.begin, 2, stream().get());
    return index::split_range({.range = {rows[0], rows[1]}, .expected_pairs = batch.expected_pairs});
  }

  void search(const Batch& batch, unsigned lane_number, NeighborTable&, Completion done) override {
    PairLane& lane = lanes_.at(lane_number);
    start_on(lane, Stage::find_neighbors, done, [&] {
      lane.ensure_pairs(plan_.lane_pairs, longest_row_);
      check(cudaMemsetAsync(lane.counters.data(), 0, lane.counters.bytes(), lane.stream.get()));
      launch_kernel(batch, lane);
      lane.copy_counters();
      const std::uint64_t rows_if_known = kernel_ == Kernel::global ? batch.units() : 0;
      // A batch with more pairs than planned is split even if the buffer could hold it, so that sizes do not depend on
      // earlier batches of the lane. A single row always fits.
      const std::uint64_t most = std::min(plan_.lane_pairs, lane.capacity());
      report(lane, done, [&lane, rows_if_known, most]() -> BatchResult {
        lane.pairs_found = lane.counter(0);
        lane.rows_found = rows_if_known > 0 ? rows_if_known : lane.counter(1);
        if (lane.pairs_found > most && lane.rows_found > 1) return BatchTooLarge{lane.pairs_found};
        return UnsortedPairs{lane.pairs_found};
      });
    });
  }

  void sort(unsigned lane_number, NeighborTable& table, Completion done) override {
    PairLane& lane = lanes_.at(lane_number);
    start_on(lane, Stage::sort_pairs, done, [&] {
      const std::uint64_t pairs = lane.pairs_found;
      const std::uint64_t count = lane.rows_found;
      std::uint32_t* const ids = table.reserve(pairs);
      if (ids == nullptr) return done(TableFull{});
      const Scratch scratch{lane.memory, lane.stream.get()};
      TwoBuffers<std::uint32_t> rows = lane.rows();
      TwoBuffers<std::uint32_t> neighbors = lane.neighbors();
      launch_sort(rows, neighbors, pairs, std::max(1, static_cast<int>(std::bit_width(grid().size() - 1))), scratch);
      copy_to_table(ids, neighbors.current, pairs * sizeof(std::uint32_t), lane.stream.get());
      // Every row has at least one pair, the point with itself, so the different rows are the rows of the batch.
      launch_run_lengths(rows.current, pairs, rows.other, neighbors.other, lane.counters.data() + 2, scratch);
      lane.copy_counters();
      lane.ensure_rows(count);
      copy_to_host(lane.host_rows.as<std::uint32_t>(), rows.other, count * sizeof(std::uint32_t), lane.stream);
      const std::span<const std::uint32_t> counts = lane.copy_counts(neighbors.other, count);
      const std::span<const std::uint32_t> row_list{lane.host_rows.as<const std::uint32_t>(), count};
      report(lane, done, [&lane, found = WrittenRows{row_list, counts, ids}]() -> BatchResult {
        if (lane.counter(2) == lane.rows_found) return found;
        return BatchFailed{std::make_exception_ptr(
            Error("the sort of a batch lost rows, which is a defect of epsflow: please report it"))};
      });
    });
  }

 private:
  /// Estimates the pairs of the table, and finds an upper bound for a row.
  [[nodiscard]] double sample_pairs() {
    const Scratch scratch{task_.resources.memory, stream().get()};
    const std::uint32_t n = grid().size();
    const auto samples = static_cast<std::uint32_t>(divide_up(n, tuning::kSampleStride));
    const DeviceBuffer<std::uint32_t> counts(scratch.memory, scratch.stream, samples);
    const DeviceBuffer<std::uint64_t> sums(scratch.memory, scratch.stream, 3);
    launch_count_rows(grid().view(), {0, tuning::kSampleStride, samples}, counts.data(), scratch.stream);
    launch_sum_and_largest(counts.data(), samples, sums.data(), scratch);
    launch_longest_row(grid().view(), sums.data() + 2, scratch);
    const std::vector<std::uint64_t> found = read_values(sums.data(), 3, scratch.stream);
    // The candidates bound the pairs of a row, which cannot be split.
    longest_row_ = std::min<std::uint64_t>(n, 32 * found[2]);
    if (longest_row_ > kMostLanePairs) {
      throw DeviceOutOfMemory(
          "a row of " + std::to_string(longest_row_) +
          " candidates is too long for the pairs of a lane: use SearchOptions::kernel = Kernel::rows, or lower eps");
    }
    return static_cast<double>(found[0]) * n / samples * task_.options.estimate_factor;
  }

  /// Returns the pairs of a lane's buffer, limited by the memory.
  [[nodiscard]] std::uint64_t lane_capacity(std::uint64_t wanted) const {
    const std::uint64_t capacity = std::max<std::uint64_t>(task_.most_lane_words() / tuning::kPairWordsWithScratch, 1);
    return std::min(std::clamp<std::uint64_t>(wanted, 1, capacity), kMostLanePairs);
  }

  void launch_kernel(const Batch& batch, const PairLane& lane) const {
    const PairBuffer pairs{lane.rows().current, lane.neighbors().current, lane.capacity(), lane.counters.data()};
    const cudaStream_t on = lane.stream.get();
    const auto [begin, end] = batch.range;
    if (kernel_ == Kernel::global) {
      launch_global(grid().view(), {begin, batch.stride, batch.units()}, pairs, on);
    } else if (batch.unit == Batch::Unit::cell) {
      launch_shared(grid().view(), {begin, batch.stride, batch.units(), {0, grid().size()}}, pairs, on);
    } else {  // part of the rows of one cell
      const std::uint32_t cell = read_values(grid().view().cell_of + begin, 1, stream().get()).front();
      launch_shared(grid().view(), {cell, 1, 1, batch.range}, pairs, on);
    }
  }

  Kernel kernel_;
  std::uint64_t longest_row_ = 0;  // upper bound on its pairs
  std::deque<PairLane> lanes_;     // declared last because their work uses the other members
};

}  // namespace

std::unique_ptr<TableSearch> make_pairs_search(const GridTask& task) { return std::make_unique<PairsSearch>(task); }

}  // namespace epsflow::gpu
