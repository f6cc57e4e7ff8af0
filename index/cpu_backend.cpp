#include <epsflow/index/cpu_backend.hpp>

#include <algorithm>
#include <bit>
#include <utility>

#include <epsflow/index/batch_plan.hpp>
#include <epsflow/index/candidate_runs.hpp>
#include <epsflow/index/grid.hpp>
#include <epsflow/index/radix_sort.hpp>
#include <epsflow/index/row_search.hpp>

namespace epsflow::index {
namespace {

/// One (row, neighbour) of the pair-emitting search; sorting the numbers sorts by row, then by neighbour.
using Pair = std::uint64_t;
constexpr Pair make_pair(std::uint32_t row, std::uint32_t neighbor) noexcept { return (Pair{row} << 32) | neighbor; }

template <class T>
void ensure(Buffer<T>& buffer, std::uint64_t size) {
  if (buffer.size() < size) buffer = Buffer<T>(size);
}

struct CpuLane final : Lane {
  Buffer<std::uint32_t> count_buffer;
  Buffer<std::uint32_t> id_buffer;
  Buffer<std::uint32_t> word_buffer;
  Buffer<Pair> pair_buffer;
  Buffer<Pair> spare_pairs;
};

/// Calls body, then done with what body threw.
template <class F>
void complete(const NeighborSearch::Completion& done, F&& body) {
  std::exception_ptr error;
  try {
    body();
  } catch (...) {
    error = std::current_exception();
  }
  done(error);
}

class CpuSearch final : public NeighborSearch {
 public:
  CpuSearch(PointsView points, double eps, const CancelToken& cancel)
      : cancel_(cancel), grid_(points, eps, Cells::reach, cancel), rows_(grid_) {}

  [[nodiscard]] std::span<const std::uint32_t> order() const override { return grid_.order(); }
  [[nodiscard]] std::uint64_t bytes() const override { return grid_.bytes(); }

  [[nodiscard]] std::shared_ptr<const PackedLayout> packed_layout() override {
    if (grid_.dims() > kMostPackedDims) return nullptr;
    if (layout_ == nullptr) layout_ = std::make_shared<const PackedLayout>(make_packed_layout(grid_));
    return layout_;
  }

  [[nodiscard]] BatchPlan plan(const PlanOptions& options) override {
    if (options.format == TableFormat::packed) return plan_packed(grid_, *packed_layout(), options);
    BatchPlan plan = plan_by_pairs(grid_, rows_, options, cancel_);
    lane_pairs_ = plan.lane_pairs;
    emits_pairs_ = emits_pairs(options.kernel);
    return plan;
  }

  [[nodiscard]] std::pair<Batch, Batch> split(const Batch& batch) const override { return split_range(batch); }

  void search(const Batch& batch, Lane& any_lane, NeighborTable& table, Completion done) override {
    complete(done, [&] {
      auto& lane = dynamic_cast<CpuLane&>(any_lane);
      lane.clear();
      lane.rows = batch.range;
      if (table.format() == TableFormat::packed) {
        search_packed(batch.range, table);
      } else {
        search_csr(batch.range, lane);
      }
    });
  }

  void sort_pairs(Lane& any_lane, NeighborTable&, Completion done) override {
    complete(done, [&] {
      auto& lane = dynamic_cast<CpuLane&>(any_lane);
      const unsigned id_bits = static_cast<unsigned>(std::bit_width(grid_.size() - 1));
      const unsigned row_bits = static_cast<unsigned>(std::bit_width(lane.rows.size()));
      ensure(lane.spare_pairs, lane.pairs);
      ensure(lane.id_buffer, lane.pairs + RowSearch::kSlack);
      const std::uint32_t first = lane.rows.begin;
      const std::span<const Pair> sorted = radix_sort(
          lane.pair_buffer.span().first(lane.pairs), lane.spare_pairs.span().first(lane.pairs), id_bits + row_bits,
          [=](Pair pair) { return (((pair >> 32) - first) << id_bits) | (pair & 0xFFFFFFFFU); }, cancel_);
      std::fill_n(lane.count_buffer.begin(), lane.rows.size(), 0U);
      for (std::size_t i = 0; i < sorted.size(); ++i) {
        ++lane.count_buffer[(sorted[i] >> 32) - first];
        lane.id_buffer[i] = static_cast<std::uint32_t>(sorted[i]);
      }
      lane.counts = lane.count_buffer.span().first(lane.rows.size());
      lane.ids = lane.id_buffer.span().first(lane.pairs);
    });
  }

 private:
  void search_packed(Run rows, NeighborTable& table) const {
    const PackedLayout& layout = *table.layout();
    std::size_t cell = layout.cell_of(rows.begin);
    for (std::uint32_t row = rows.begin; row < rows.end; ++cell) {
      const std::uint32_t first = layout.cell_starts[cell];
      const std::uint32_t last = std::min(rows.end, layout.cell_starts[cell + 1]);
      const std::uint64_t word = layout.cell_words[cell] + (row - first) * layout.words_per_row(cell);
      rows_.packed({row, last}, layout.runs_of(cell), table.packed_words_for_writing() + word,
                   table.counts_for_writing().data() + row);
      row = last;
    }
  }

  /// Calls f(rows of the batch in one cell, the cell's candidates).
  template <class F>
  void for_each_cell(Run rows, F&& f) const {
    CandidateRuns candidates(grid_, grid_.cell_of(rows.begin));
    for (std::uint32_t row = rows.begin;;) {
      const std::uint32_t last = std::min(rows.end, grid_.cell_starts()[candidates.cell() + 1]);
      f(Run{row, last}, candidates.runs());
      row = last;
      if (row == rows.end) return;
      candidates.next();
    }
  }

  void search_csr(Run rows, CpuLane& lane) const {
    const auto find = [&](std::uint64_t capacity) {
      return emits_pairs_ ? find_pairs(rows, lane, capacity) : find_rows(rows, lane, capacity);
    };
    std::uint64_t found = find(lane_pairs_);
    // A single row cannot be split any more, so it gets the buffer that it needs.
    if (found > lane_pairs_ && rows.size() == 1) found = find(found);
    lane.pairs = found;
    lane.overflow = found > lane_pairs_ && rows.size() > 1;
    if (lane.overflow || emits_pairs_) return;
    lane.counts = lane.count_buffer.span().first(rows.size());
    lane.ids = lane.id_buffer.span().first(found);
  }

  std::uint64_t find_rows(Run rows, CpuLane& lane, std::uint64_t capacity) const {
    ensure(lane.id_buffer, capacity + RowSearch::kSlack);
    ensure(lane.count_buffer, rows.size());
    std::uint64_t found = 0;
    for_each_cell(rows, [&](Run part, std::span<const Run> candidates) {
      std::uint32_t* counts = lane.count_buffer.data() + (part.begin - rows.begin);
      // Past the capacity only counting goes on: the first ids are overwritten, and nobody will read them.
      const bool room = found <= capacity;
      found +=
          rows_.ids(part, candidates, lane.id_buffer.data() + (room ? found : 0), room ? capacity - found : 0, counts);
    });
    return found;
  }

  /// The paper's way: pairs as they are found, here candidates in tiles and all rows of the cell against each tile.
  std::uint64_t find_pairs(Run rows, CpuLane& lane, std::uint64_t capacity) const {
    constexpr std::uint32_t kTile = 1024;
    ensure(lane.pair_buffer, capacity);
    ensure(lane.count_buffer, rows.size());
    std::uint64_t found = 0;
    for_each_cell(rows, [&](Run part, std::span<const Run> candidates) {
      ensure(lane.word_buffer, std::uint64_t{part.size()} * packed_words(kTile));
      for (const Run& run : candidates) {
        for (std::uint64_t begin = run.begin; begin < run.end; begin += kTile) {
          const Run tile{static_cast<std::uint32_t>(begin),
                         static_cast<std::uint32_t>(std::min<std::uint64_t>(run.end, begin + kTile))};
          rows_.packed(part, {&tile, 1}, lane.word_buffer.data(), lane.count_buffer.data());
          const std::uint32_t* words = lane.word_buffer.data();
          for (std::uint32_t row = part.begin; row < part.end; ++row, words += packed_words(tile.size())) {
            RowView{words, 0, {&tile, 1}, true}.for_each([&](std::uint32_t neighbor) {
              if (found < capacity) lane.pair_buffer[found] = make_pair(row, neighbor);
              ++found;
            });
          }
        }
      }
    });
    return found;
  }

  const CancelToken& cancel_;
  Grid grid_;
  RowSearch rows_;
  std::shared_ptr<const PackedLayout> layout_;
  std::uint64_t lane_pairs_ = kLanePairs;
  bool emits_pairs_ = false;
};

class CpuBackend final : public Backend {
 public:
  explicit CpuBackend(unsigned threads) : threads_(threads) {}

  [[nodiscard]] std::string_view name() const override { return "cpu"; }
  [[nodiscard]] unsigned lanes() const override { return threads_ + 1; }
  [[nodiscard]] unsigned tables() const override { return 2; }
  /// Sort items twice over, or the copy of the coordinates; ids, and the cells where every point has its own.
  [[nodiscard]] std::uint64_t index_bytes(PointsView points) const override {
    constexpr std::uint64_t kIdsAndCells = 4 + 12;
    constexpr std::uint64_t kSortItems = 2 * 16;
    const std::uint64_t row = points.dims() * bytes_of(points.precision());
    return points.size() * (kIdsAndCells + std::max(kSortItems, row));
  }
  [[nodiscard]] std::unique_ptr<Lane> make_lane() override { return std::make_unique<CpuLane>(); }
  [[nodiscard]] std::unique_ptr<NeighborSearch> build_index(PointsView points, double eps,
                                                            const CancelToken& cancel) override {
    return std::make_unique<CpuSearch>(points, eps, cancel);
  }

 private:
  unsigned threads_;
};

}  // namespace

std::unique_ptr<Backend> make_cpu_backend(unsigned threads) { return std::make_unique<CpuBackend>(threads); }

}  // namespace epsflow::index
