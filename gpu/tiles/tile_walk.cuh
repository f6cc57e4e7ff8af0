// The sequence of pairs of tiles that one block of threads compares.
#pragma once

#include <cstdint>

#include <epsflow/gpu/base/tuning.hpp>
#include <epsflow/gpu/direct/tally.cuh>
#include <epsflow/gpu/tiles/tile_view.hpp>

namespace epsflow::gpu {

/// Goes through the column tiles with which any of kRows row tiles must be compared. Walker b of B takes each B-th of
/// these groups of rows, over all blocks in turn: consecutive pairs share their rows, and all walkers read at a time
/// from a few blocks of tiles, which fit the L2 cache.
///
/// Whole warps walk together. Shuffles tell the compiler that loaded values are the same in all lanes, because products
/// in code that it considers divergent wait for each other.
template <unsigned kRows>
class TileWalk {
 public:
  /// first: b. step: B.
  __device__ TileWalk(const TileWork& work, std::uint32_t first, std::uint32_t step)
      : work_(work), at_(first), step_(step) {
    find();
  }

  __device__ bool done() const { return left_ == 0; }
  __device__ std::uint32_t row_tile(unsigned row = 0) const { return row_tile_ + row; }
  __device__ std::uint32_t column_tile() const { return first_column_ + at_column(); }
  /// True if this row tile must be compared. False for a row after the last tile.
  __device__ bool wanted(unsigned row) const { return (rows_ >> (row * index::kBlockTiles + at_column()) & 1U) != 0; }
  __device__ void next() {
    left_ &= left_ - 1;
    if (left_ != 0) return;
    at_ += step_;
    find();
  }

 private:
  static constexpr unsigned kUnits = index::kBlockTiles / kRows;
  static constexpr unsigned kRowBits = kRows * index::kBlockTiles;
  static_assert(kRows <= 2 && index::kBlockTiles == 8);

  __device__ unsigned at_column() const { return static_cast<unsigned>(__ffs(static_cast<int>(left_))) - 1; }
  __device__ void find() {
    for (; at_ < work_.size() * kUnits; at_ += step_) {
      const index::TileBlock block = work_.blocks[work_.first + at_ / kUnits * work_.stride];
      const auto unit = static_cast<unsigned>(at_ % kUnits);
      const auto rows = static_cast<unsigned>(block.pairs >> (unit * kRowBits)) & ((1U << kRowBits) - 1);
      rows_ = __shfl_sync(tuning::kWholeWarp, rows, 0);
      left_ = rows_ & 0xFFU;
      if constexpr (kRows == 2) left_ |= rows_ >> 8U;
      if (left_ == 0) continue;
      row_tile_ = __shfl_sync(tuning::kWholeWarp, block.rows, 0) * index::kBlockTiles + unit * kRows;
      first_column_ = __shfl_sync(tuning::kWholeWarp, block.columns, 0) * index::kBlockTiles;
      return;
    }
  }

  const TileWork& work_;
  std::uint64_t at_;
  std::uint32_t step_;
  std::uint32_t row_tile_ = 0;
  std::uint32_t first_column_ = 0;
  unsigned rows_ = 0;  ///< eight bits for each row tile
  unsigned left_ = 0;  ///< bits of the column tiles left
};

}  // namespace epsflow::gpu
