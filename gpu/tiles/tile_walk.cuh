// The pairs of tiles that one block of threads compares, one after the other.
#pragma once

#include <cstdint>

#include <epsflow/gpu/tiles/tile_view.hpp>

namespace epsflow::gpu {

/// Goes through rows of tiles, of all blocks in turn: block b of B takes each B-th. So eight pairs that follow each other share a
/// tile, and what all blocks read at a time lies in a few blocks of tiles, which the second-level cache holds. All threads of a
/// block walk alike.
class TileWalk {
 public:
  __device__ TileWalk(const TileWork& work, std::uint64_t first, std::uint64_t step)
      : work_(work), at_(first), step_(step), end_(work.size() * index::kBlockTiles) {
    find();
  }

  __device__ bool done() const { return at_ >= end_; }
  __device__ std::uint64_t row_tile() const { return row_tile_; }
  __device__ std::uint64_t column_tile() const { return first_column_ + static_cast<unsigned>(__ffs(left_)) - 1; }
  __device__ void next() {
    left_ &= left_ - 1;
    if (left_ != 0) return;
    at_ += step_;
    find();
  }

 private:
  __device__ void find() {
    for (; at_ < end_; at_ += step_) {
      const index::TileBlock block = work_.blocks[work_.first + at_ / index::kBlockTiles * work_.stride];
      const auto row = static_cast<unsigned>(at_ % index::kBlockTiles);
      left_ = static_cast<int>(block.pairs >> (row * index::kBlockTiles) & 0xFFU);
      if (left_ == 0) continue;
      row_tile_ = block.rows * index::kBlockTiles + row;
      first_column_ = block.columns * index::kBlockTiles;
      return;
    }
  }

  const TileWork& work_;
  std::uint64_t at_;
  std::uint64_t step_;
  std::uint64_t end_;
  std::uint32_t row_tile_ = 0;
  std::uint32_t first_column_ = 0;
  int left_ = 0;
};

}  // namespace epsflow::gpu
