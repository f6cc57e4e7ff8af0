// The innermost loops of the CPU search: they test several candidates of a row at a time.
//
// The test is is_neighbor() of distance.hpp on vectors, or norm_sum() if the space is not plain: subtract, multiply,
// add in the order of the dimensions, each rounded once, no fused operation, so every lane computes the same as the
// scalar code. From seven dimensions on, float32 products of rows and candidates decide most pairs of a plain space
// first (rounded_points.hpp). The instruction set is chosen at run time.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <epsflow/core/candidate_bundles.hpp>
#include <epsflow/index/rounded_points.hpp>
#include <epsflow/index/search_index.hpp>

namespace epsflow::index {

/// The part of an index that the loops read: coordinates by position, and the limit.
struct SearchInput {
  const void* const* coordinates;  ///< [dims] pointers to [n] float or double, plus Buffer::kPadding bytes
  std::size_t dims;
  Precision precision;
  double limit;                            ///< Space::limit() of eps: eps² if the space is plain
  const RoundedPoints* rounded = nullptr;  ///< decides most pairs in float32; null if not available
  const Space* space = nullptr;            ///< null if it is plain
};

/// Tests rows of points against their candidates. The searches may run on several threads at once.
class RowSearch {
 public:
  /// `index` must outlive the object. The object does not move, as its input points into it.
  explicit RowSearch(const SearchIndex& index);
  /// Searches n points in any order. coordinates: [dims] pointers to [n] float or double, by `precision`, followed by
  /// Buffer::kPadding readable bytes; they must outlive the object.
  RowSearch(std::vector<const void*> coordinates, std::size_t n, Precision precision, double eps,
            const Space& space = {});
  RowSearch(const RowSearch&) = delete;
  RowSearch& operator=(const RowSearch&) = delete;

  /// Tests rows [rows.begin, rows.end), all of one bundle, against the bundle's candidates. Writes their bits, row
  /// after row, to `words`: for each range of candidates ⌈size/32⌉ words, in which bit i of word w is set if candidate
  /// 32·w + i of the range is a neighbour. Writes the number of neighbours of each row to counts[0 … rows.size()).
  void packed(Range rows, std::span<const Range> candidates, std::uint32_t* words, std::uint32_t* counts) const;

  /// ids() may overwrite this number of elements after the capacity.
  static constexpr std::size_t kSlack = 64;

  /// Like packed(), but writes the positions of the neighbours, row after row, ascending within a row. ids: can hold
  /// capacity + kSlack elements. Returns the number of neighbours of all rows. If it exceeds the capacity, only the
  /// first `capacity` ids are valid. The counts are always complete.
  [[nodiscard]] std::uint64_t ids(Range rows, std::span<const Range> candidates, std::uint32_t* ids,
                                  std::uint64_t capacity, std::uint32_t* counts) const;

  /// Writes the number of neighbours of each row to counts[0 … rows.size()), and nothing else.
  void count(Range rows, std::span<const Range> candidates, std::uint32_t* counts) const;

  /// Returns the name of the instruction set in use, as "AVX3" or "NEON".
  [[nodiscard]] static std::string_view instruction_set();

  [[nodiscard]] const SearchInput& input() const noexcept { return input_; }

  /// Returns how many pairs float32 left to the float64 test so far; 0 if all pairs are tested in float64.
  [[nodiscard]] std::uint64_t undecided_pairs() const noexcept { return rounded_.undecided_pairs(); }

  /// Returns the memory in bytes, without the coordinates, which the object does not own.
  [[nodiscard]] std::uint64_t bytes() const noexcept { return rounded_.bytes(); }
  /// Returns the peak memory of the construction for n points of a plain space, in bytes. Other spaces need none.
  [[nodiscard]] static std::uint64_t most_bytes(std::uint64_t n, std::size_t dims) noexcept {
    return RoundedPoints::most_bytes(n, dims);
  }

 private:
  std::vector<const void*> coordinates_;
  Space space_;
  RoundedPoints rounded_;
  SearchInput input_;
};

}  // namespace epsflow::index
