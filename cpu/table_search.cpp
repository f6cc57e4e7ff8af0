#include <epsflow/cpu/table_search.hpp>

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include <epsflow/index/batch_plan.hpp>
#include <epsflow/index/candidate_ranges.hpp>
#include <epsflow/index/radix_sort.hpp>
#include <epsflow/index/row_search.hpp>

namespace epsflow::cpu {
namespace {

using index::RowSearch;
using index::SearchIndex;

/// One (row, neighbour) pair. Sorting the numbers sorts by row, then by neighbour.
using PackedPair = std::uint64_t;
constexpr PackedPair make_pair(std::uint32_t row, std::uint32_t neighbor) noexcept {
  return (PackedPair{row} << 32) | neighbor;
}

template <class T>
void ensure(Buffer<T>& buffer, std::uint64_t size) {
  if (buffer.size() < size) buffer = Buffer<T>(size);
}

struct CpuLane {
  Range rows;  ///< of the last search
  Buffer<std::uint32_t> count_buffer;
  Buffer<std::uint32_t> id_buffer;
  Buffer<std::uint32_t> word_buffer;
  Buffer<PackedPair> pair_buffer;
  Buffer<PackedPair> spare_pairs;
  std::uint64_t pairs = 0;  ///< number of pairs of the last search

  /// Returns the contents of the buffers of counts and ids.
  [[nodiscard]] LaneRows found_rows() const {
    return {rows, count_buffer.span().first(rows.size()), id_buffer.span().first(pairs)};
  }
};

/// Calls done with the result of body(), or with its exception.
template <class F>
void complete(const TableSearch::Completion& done, F&& body) {
  BatchResult result;
  try {
    result = body();
  } catch (...) {
    result = BatchFailed{std::current_exception()};
  }
  done(result);
}

class CpuTableSearch final : public TableSearch {
 public:
  CpuTableSearch(std::shared_ptr<const SearchIndex> index, std::shared_ptr<const RowSearch> rows,
                 const TableOptions& options, const CancelToken& cancel)
      : cancel_(cancel),
        index_(std::move(index)),
        rows_(std::move(rows)),
        emits_pairs_(emits_pairs(options.kernel)),
        lanes_(std::max(1U, options.lanes)) {
    const bool can_pack = index_->dims() <= kMostPackedDims && !emits_pairs_;
    if (options.format == FormatChoice::packed && !can_pack) throw_not_packable();
    if (can_pack && options.format != FormatChoice::csr) {
      layout_ = std::make_shared<const PackedLayout>(make_packed_layout(*index_));
    }
    if (layout_ == nullptr || options.format == FormatChoice::automatic) {
      plan_ = plan_by_pairs(*index_, *rows_, options, cancel_);
      if (layout_ != nullptr &&
          csr_table_bytes(index_->size(), plan_.pairs) < packed_table_bytes(index_->size(), *layout_)) {
        layout_ = nullptr;
      }
    }
    if (layout_ != nullptr) plan_ = plan_packed(*index_, *layout_, options);
  }

  [[nodiscard]] const BatchPlan& plan() const override { return plan_; }
  [[nodiscard]] std::shared_ptr<const PackedLayout> layout() const override { return layout_; }
  [[nodiscard]] std::uint64_t undecided_pairs() const override { return rows_->undecided_pairs(); }
  [[nodiscard]] RowOrder order() const override { return {index_, index_->order()}; }
  [[nodiscard]] std::pair<Batch, Batch> split(const Batch& batch) const override { return index::split_range(batch); }

  void search(const Batch& batch, unsigned lane_number, NeighborTable& table, Completion done) override {
    complete(done, [&]() -> BatchResult {
      CpuLane& lane = lanes_.at(lane_number);
      return layout_ != nullptr ? search_packed(batch.range, lane, table) : search_csr(batch.range, lane);
    });
  }

  void sort(unsigned lane_number, NeighborTable&, Completion done) override {
    complete(done, [&] {
      CpuLane& lane = lanes_.at(lane_number);
      const unsigned id_bits = static_cast<unsigned>(std::bit_width(index_->size() - 1));
      const unsigned row_bits = static_cast<unsigned>(std::bit_width(lane.rows.size()));
      ensure(lane.spare_pairs, lane.pairs);
      ensure(lane.id_buffer, lane.pairs + RowSearch::kSlack);
      const std::uint32_t first = lane.rows.begin;
      const std::span<const PackedPair> sorted = index::radix_sort(
          lane.pair_buffer.span().first(lane.pairs), lane.spare_pairs.span().first(lane.pairs), id_bits + row_bits,
          [=](PackedPair pair) { return (((pair >> 32) - first) << id_bits) | (pair & 0xFFFFFFFFU); }, cancel_);
      std::fill_n(lane.count_buffer.begin(), lane.rows.size(), 0U);
      for (std::size_t i = 0; i < sorted.size(); ++i) {
        ++lane.count_buffer[(sorted[i] >> 32) - first];
        lane.id_buffer[i] = static_cast<std::uint32_t>(sorted[i]);
      }
      return lane.found_rows();
    });
  }

 private:
  BatchResult search_packed(Range rows, CpuLane& lane, NeighborTable& table) const {
    ensure(lane.count_buffer, rows.size());
    const PackedLayout& layout = *table.layout();
    std::size_t bundle = layout.bundles.bundle_of(rows.begin);
    for (std::uint32_t row = rows.begin; row < rows.end; ++bundle) {
      const auto [first, end] = layout.bundles.rows_of(bundle);
      const std::uint32_t last = std::min(rows.end, end);
      const std::uint64_t word = layout.first_words[bundle] + (row - first) * layout.words_per_row(bundle);
      rows_->packed({row, last}, layout.bundles.ranges_of(bundle), table.packed_words_for_writing() + word,
                    lane.count_buffer.data() + (row - rows.begin));
      row = last;
    }
    return PackedRows{rows, lane.count_buffer.span().first(rows.size())};
  }

  BatchResult search_csr(Range rows, CpuLane& lane) const {
    const auto find = [&](std::uint64_t capacity) {
      return emits_pairs_ ? find_pairs(rows, lane, capacity) : find_rows(rows, lane, capacity);
    };
    lane.rows = rows;
    lane.pairs = find(plan_.lane_pairs);
    if (lane.pairs > plan_.lane_pairs) {
      if (rows.size() > 1) return BatchTooLarge{lane.pairs};
      // A single row cannot be split, so it gets the buffer that it needs.
      lane.pairs = find(lane.pairs);
    }
    if (emits_pairs_) return UnsortedPairs{lane.pairs};
    return lane.found_rows();
  }

  std::uint64_t find_rows(Range rows, CpuLane& lane, std::uint64_t capacity) const {
    ensure(lane.id_buffer, capacity + RowSearch::kSlack);
    ensure(lane.count_buffer, rows.size());
    std::uint64_t found = 0;
    index::for_each_bundle(*index_, rows, [&](Range part, std::span<const Range> candidates) {
      std::uint32_t* counts = lane.count_buffer.data() + (part.begin - rows.begin);
      // Past the capacity only counting continues: the first ids are overwritten, and are not read.
      const bool fits = found <= capacity;
      found +=
          rows_->ids(part, candidates, lane.id_buffer.data() + (fits ? found : 0), fits ? capacity - found : 0, counts);
    });
    return found;
  }

  /// The paper's method: emits pairs as they are found. Compares all rows of a bundle with pieces of candidates.
  std::uint64_t find_pairs(Range rows, CpuLane& lane, std::uint64_t capacity) const {
    constexpr std::uint32_t kPiece = 1024;
    ensure(lane.pair_buffer, capacity);
    ensure(lane.count_buffer, rows.size());
    std::uint64_t found = 0;
    index::for_each_bundle(*index_, rows, [&](Range part, std::span<const Range> candidates) {
      ensure(lane.word_buffer, std::uint64_t{part.size()} * packed_words(kPiece));
      for (const Range& range : candidates) {
        for (std::uint64_t begin = range.begin; begin < range.end; begin += kPiece) {
          const Range piece{static_cast<std::uint32_t>(begin),
                            static_cast<std::uint32_t>(std::min<std::uint64_t>(range.end, begin + kPiece))};
          rows_->packed(part, {&piece, 1}, lane.word_buffer.data(), lane.count_buffer.data());
          const std::uint32_t* words = lane.word_buffer.data();
          for (std::uint32_t row = part.begin; row < part.end; ++row, words += packed_words(piece.size())) {
            RowView{words, 0, {&piece, 1}, true}.for_each([&](std::uint32_t neighbor) {
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
  std::shared_ptr<const SearchIndex> index_;
  std::shared_ptr<const RowSearch> rows_;
  bool emits_pairs_;
  std::shared_ptr<const PackedLayout> layout_;
  BatchPlan plan_;
  std::vector<CpuLane> lanes_;
};

}  // namespace

std::unique_ptr<TableSearch> make_table_search(std::shared_ptr<const index::SearchIndex> index,
                                               std::shared_ptr<const index::RowSearch> rows,
                                               const TableOptions& options, const CancelToken& cancel) {
  return std::make_unique<CpuTableSearch>(std::move(index), std::move(rows), options, cancel);
}

}  // namespace epsflow::cpu
