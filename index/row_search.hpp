// The innermost loops of the CPU search: which candidates of a row are neighbours, tested several at a time.
//
// The test is is_neighbor() of distance.hpp on vectors, or norm_sum() where the space is another: subtract, multiply, add in
// the order of the dimensions, each rounded once, no fused operation, so every lane computes what the scalar code does. From
// seven dimensions on, products of rows and candidates in float32 decide most pairs of a plain space first (rounded_points.hpp).
// The instruction set is chosen at run time.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <epsflow/core/candidate_bundles.hpp>
#include <epsflow/index/rounded_points.hpp>
#include <epsflow/index/search_index.hpp>

namespace epsflow::index {

/// Coordinates by position and what they are compared with: what the loops need of an index.
struct SearchInput {
  const void* const* coordinates;  ///< [dims] pointers to [n] float or double, Buffer::kPadding bytes readable behind
  std::size_t dims;
  Precision precision;
  double limit;                            ///< of the space: eps² where it is plain
  const RoundedPoints* rounded = nullptr;  ///< what decides most pairs in float32; null where there is nothing such
  const Space* space = nullptr;            ///< null where it is plain
};

class RowSearch {
 public:
  /// `index` must outlive it. Does not move, as its input points into it.
  explicit RowSearch(const SearchIndex& index);
  /// Of n points in any order. coordinates: [dims] pointers to [n] float or double as `precision` says, with
  /// Buffer::kPadding bytes readable behind; they must outlive it.
  RowSearch(std::vector<const void*> coordinates, std::size_t n, Precision precision, double eps,
            const Space& space = {});
  RowSearch(const RowSearch&) = delete;
  RowSearch& operator=(const RowSearch&) = delete;

  /// Tests rows [rows.begin, rows.end), all of one bundle, against the bundle's candidates. Writes their bits, row after
  /// row, to `words`, and the neighbours of each row to counts[0 … rows.size()).
  void packed(Range rows, std::span<const Range> candidates, std::uint32_t* words, std::uint32_t* counts) const;

  /// Elements behind the capacity that ids() may overwrite.
  static constexpr std::size_t kSlack = 64;

  /// The same as positions, ascending within a row. Writes at most `capacity` ids that count, and never past
  /// ids[capacity + kSlack); returns how many the rows have, which tells whether they fitted.
  [[nodiscard]] std::uint64_t ids(Range rows, std::span<const Range> candidates, std::uint32_t* ids,
                                  std::uint64_t capacity, std::uint32_t* counts) const;

  /// Neighbours of each row without writing them down.
  void count(Range rows, std::span<const Range> candidates, std::uint32_t* counts) const;

  /// The instruction set in use, as "AVX3" or "NEON".
  [[nodiscard]] static std::string_view instruction_set();

  [[nodiscard]] const SearchInput& input() const noexcept { return input_; }

  /// Pairs that float32 left to the float64 test so far. 0 where all are tested in float64.
  [[nodiscard]] std::uint64_t open_pairs() const noexcept { return rounded_.open_pairs(); }

  /// Without the coordinates, which are not its own.
  [[nodiscard]] std::uint64_t bytes() const noexcept { return rounded_.bytes(); }
  /// The most that it takes while it is made for n points of a plain space; nothing in others.
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
