// The neighbour table T of one eps: for every point its eps-neighbourhood, the point itself included.
//
// Rows and entries are positions: indices of the points in the order of the index (order[position] is the input id).
// So the entries of a row lie close together. Two formats hold the same rows:
//
//   csr     Each neighbour takes 4 bytes: its position, which is called id below. The search adds rows in batches, in
//           any order. So each row has a 64-bit offset.
//   packed  Each candidate takes one bit. All points of a cell have the same candidates, which are a few ranges of
//           positions. A row has one bit string for each range, and each bit string begins at a word. In 2-D this
//           takes about a tenth of the bytes of csr if cells have many points. Its size is known before the search.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <epsflow/core/buffer.hpp>
#include <epsflow/core/candidate_bundles.hpp>
#include <epsflow/core/memory.hpp>

namespace epsflow {

enum class TableFormat : std::uint8_t { csr, packed };

/// The most dimensions of a packed table. In more, its bits take more memory than ids, and its ranges are many.
inline constexpr std::size_t kMostPackedDims = 3;

/// Returns the number of 32-bit words that `candidates` bits take.
[[nodiscard]] constexpr std::uint64_t packed_words(std::uint64_t candidates) noexcept { return (candidates + 31) / 32; }

/// The layout of the bits of a packed table. It is known once the index is built.
struct PackedLayout {
  CandidateBundles bundles;
  Buffer<std::uint64_t> first_words;  ///< [bundles + 1] first word of the bundle's first row, and the end

  [[nodiscard]] std::uint64_t words_per_row(std::size_t bundle) const noexcept {
    return (first_words[bundle + 1] - first_words[bundle]) / bundles.rows_of(bundle).size();
  }
  /// Returns the first word of a row; words() if the row is the number of rows. O(log bundles).
  [[nodiscard]] std::uint64_t first_word(std::uint32_t row) const noexcept {
    if (row == bundles.starts[bundles.size()]) return words();
    const std::size_t bundle = bundles.bundle_of(row);
    return first_words[bundle] + (row - bundles.starts[bundle]) * words_per_row(bundle);
  }
  /// Returns the number of 32-bit words of all rows.
  [[nodiscard]] std::uint64_t words() const noexcept { return first_words[bundles.size()]; }
  /// Returns the bytes of this layout, without the words.
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bundles.bytes() + first_words.bytes(); }
};

/// One row of either format.
struct RowView {
  const std::uint32_t* words = nullptr;  ///< csr: the ids; packed: the bits
  std::uint32_t count = 0;               ///< neighbours, the point itself included
  std::span<const Range> ranges;         ///< packed: the candidates
  bool packed = false;

  /// Calls f(position) for every neighbour; ascending within a packed row.
  template <class F>
  void for_each(F&& f) const {
    if (!packed) {
      for (std::uint32_t k = 0; k < count; ++k) f(words[k]);
      return;
    }
    const std::uint32_t* word = words;
    for (const Range& range : ranges) {
      for (std::uint64_t base = range.begin; base < range.end; base += 32) {
        for (std::uint32_t bits = *word++; bits != 0; bits &= bits - 1) {
          f(static_cast<std::uint32_t>(base) + static_cast<std::uint32_t>(std::countr_zero(bits)));
        }
      }
    }
  }
};

/// Numbers of rows: consecutive or listed.
class RowNumbers {
 public:
  RowNumbers(Range rows) noexcept : first_(rows.begin), size_(rows.size()) {}  // NOLINT(google-explicit-constructor)
  /// The list must outlive this.
  RowNumbers(std::span<const std::uint32_t> list) noexcept  // NOLINT(google-explicit-constructor)
      : list_(list.data()), size_(list.size()) {}

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::uint32_t operator[](std::size_t i) const noexcept {
    return list_ != nullptr ? list_[i] : first_ + static_cast<std::uint32_t>(i);
  }
  /// Returns `size` of the numbers, from the begin-th on.
  [[nodiscard]] RowNumbers part(std::size_t begin, std::size_t size) const noexcept {
    RowNumbers rows = *this;
    if (list_ != nullptr) rows.list_ += begin;
    rows.first_ += static_cast<std::uint32_t>(begin);
    rows.size_ = size;
    return rows;
  }

 private:
  const std::uint32_t* list_ = nullptr;
  std::uint32_t first_ = 0;
  std::size_t size_ = 0;
};

/// The table of one eps. It is filled batch by batch, in any order and from any thread, each row once; then only read.
class NeighborTable {
 public:
  /// Makes an empty csr table of n rows. `arena` grows as rows arrive.
  NeighborTable(std::uint32_t n, Arena arena);
  /// Makes a packed table. Throws ResourceError if the arena cannot grow to the layout's words.
  NeighborTable(std::shared_ptr<const PackedLayout> layout, Arena arena);

  [[nodiscard]] std::uint32_t size() const noexcept { return size_; }
  [[nodiscard]] TableFormat format() const noexcept {
    return layout_ == nullptr ? TableFormat::csr : TableFormat::packed;
  }
  /// Returns [n] the number of neighbours of each row, the point itself included.
  [[nodiscard]] std::span<const std::uint32_t> counts() const noexcept { return counts_.span(); }
  /// Returns the sum of all counts. O(n).
  [[nodiscard]] std::uint64_t pairs() const noexcept;
  /// Returns the bytes of the ids or bits, of the counts, and of the offsets (csr) or the layout (packed).
  [[nodiscard]] std::uint64_t bytes() const noexcept;
  [[nodiscard]] const PackedLayout* layout() const noexcept { return layout_.get(); }

  /// csr: returns memory for this many ids, which the caller fills and turns into rows with add_rows(). Thread-safe.
  /// Returns null if the arena cannot grow; the table is then useless.
  [[nodiscard]] std::uint32_t* reserve(std::uint64_t ids);
  /// csr: adds rows whose ids are contiguous at `ids`, in memory from reserve(). Thread-safe.
  void add_rows(RowNumbers rows, std::span<const std::uint32_t> counts, const std::uint32_t* ids) noexcept;
  /// csr: calls reserve(), copies `ids` and calls add_rows(). Returns false if the arena cannot grow.
  [[nodiscard]] bool append(Range rows, std::span<const std::uint32_t> counts, std::span<const std::uint32_t> ids);
  /// csr: takes the capacity for all ids of the table at once. Returns false if the arena cannot grow.
  [[nodiscard]] bool grow(std::uint64_t ids) { return arena_.grow(ids * sizeof(std::uint32_t)); }

  /// packed: returns the memory that the words of the whole table are written to.
  [[nodiscard]] std::uint32_t* packed_words_for_writing() noexcept { return words_; }
  /// packed: stores the counts of rows from first_row on. Thread-safe.
  void add_counts(std::uint32_t first_row, std::span<const std::uint32_t> counts) noexcept {
    std::copy(counts.begin(), counts.end(), counts_.begin() + first_row);
  }

  /// Returns ranges of rows for parallel loops, which cover all rows: 4,096 rows each until set_blocks().
  [[nodiscard]] std::span<const Range> blocks() const noexcept { return blocks_; }
  void set_blocks(std::vector<Range> blocks) { blocks_ = std::move(blocks); }

  /// Calls f(row, RowView) for the rows of `rows` in ascending order.
  template <class F>
  void for_each_row(Range rows, F&& f) const {
    if (layout_ == nullptr) {
      for (std::uint32_t row = rows.begin; row < rows.end; ++row) {
        f(row, RowView{words_ + offsets_[row], counts_[row], {}, false});
      }
      return;
    }
    if (rows.begin >= rows.end) return;
    const CandidateBundles& bundles = layout_->bundles;
    std::size_t bundle = bundles.bundle_of(rows.begin);
    for (std::uint32_t row = rows.begin; row < rows.end; ++bundle) {
      const std::span<const Range> ranges = bundles.ranges_of(bundle);
      const std::uint64_t stride = layout_->words_per_row(bundle);
      const auto [first, end] = bundles.rows_of(bundle);
      const std::uint32_t last = std::min(rows.end, end);
      const std::uint32_t* words = words_ + layout_->first_words[bundle] + (row - first) * stride;
      for (; row < last; ++row, words += stride) f(row, RowView{words, counts_[row], ranges, true});
    }
  }

 private:
  std::uint32_t size_ = 0;
  std::shared_ptr<const PackedLayout> layout_;
  Arena arena_;
  std::uint32_t* words_ = nullptr;
  Buffer<std::uint32_t> counts_;
  Buffer<std::uint64_t> offsets_;           // csr only: first id of each row in words_
  std::atomic<std::uint64_t> appended_{0};  // csr only: ids so far
  std::vector<Range> blocks_;
};

}  // namespace epsflow
