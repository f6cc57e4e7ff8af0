// The sequence of tiles that one block of threads compares for rows that have a radius each, and what it writes.
#pragma once

#include <algorithm>
#include <cstdint>

#include <epsflow/gpu/base/tuning.hpp>
#include <epsflow/gpu/tiles/row_candidates.hpp>
#include <epsflow/gpu/tiles/tile_filter.cuh>

namespace epsflow::gpu {

/// Groups of row tiles that go through the columns at the same time, so that the L2 cache serves them.
inline constexpr std::uint32_t kRowsAbreast = 16;

/// Goes through the tiles of a RowWork, as TileWalk does, with kRows row tiles at a time. Walker b of B takes every
/// B-th set of columns of a group of row tiles.
template <unsigned kRows>
class RowWalk {
 public:
  __device__ RowWalk(const RowWork& work, std::uint32_t first, std::uint32_t step)
      : work_(work), at_(first), step_(step) {
    find();
  }

  __device__ bool done() const { return left_ == 0; }
  __device__ std::uint32_t row_tile(unsigned row) const { return row_tile_ + row; }
  __device__ std::uint32_t column_tile() const { return column_; }
  __device__ bool wanted(unsigned row) const { return row_tile_ + row < work_.row_tiles; }
  __device__ void next() {
    ++column_;
    if (--left_ != 0) return;
    at_ += step_;
    find();
  }

 private:
  __device__ void find() {
    const std::uint64_t sets = work_.column_sets();
    const std::uint64_t groups = (work_.row_tiles + kRows - 1) / kRows;
    const std::uint64_t lanes = (groups + kRowsAbreast - 1) / kRowsAbreast;
    for (; at_ < lanes * sets * kRowsAbreast; at_ += step_) {
      const std::uint64_t group = at_ / (sets * kRowsAbreast) * kRowsAbreast + at_ % kRowsAbreast;
      if (group >= groups) continue;
      const auto first = static_cast<std::uint32_t>(at_ / kRowsAbreast % sets) * work_.columns_at_once;
      // Shuffles tell the compiler that all lanes agree (TileWalk).
      row_tile_ = __shfl_sync(tuning::kWholeWarp, static_cast<std::uint32_t>(kRows * group), 0);
      column_ = __shfl_sync(tuning::kWholeWarp, work_.first_column + first, 0);
      left_ = __shfl_sync(tuning::kWholeWarp, min(work_.columns_at_once, work_.columns - first), 0);
      return;
    }
  }

  RowWork work_;
  std::uint64_t at_;
  std::uint32_t step_;
  std::uint32_t row_tile_ = 0;
  std::uint32_t column_ = 0;
  std::uint32_t left_ = 0;  ///< columns of the set
};

/// Returns the work divided into sets of columns: some for each block of threads, so that all end at about the same
/// time.
inline RowWork divided(RowWork work, unsigned rows_at_once, unsigned blocks) {
  constexpr std::uint64_t kMostAtOnce = 8;
  constexpr std::uint64_t kTurns = 4;
  const std::uint64_t pairs = std::uint64_t{(work.row_tiles + rows_at_once - 1) / rows_at_once} * work.columns;
  work.columns_at_once =
      static_cast<std::uint32_t>(std::clamp<std::uint64_t>(pairs / (kTurns * blocks), 1, kMostAtOnce));
  return work;
}

/// Writes candidates to the slots of their rows. sums, rows, columns, row and column: as for classify().
template <unsigned kApart, unsigned M, unsigned N, class Real, class Columns>
__device__ __forceinline__ void collect(const Real (&sums)[M][N][4], const RowBounds<Real, M, kApart>& rows,
                                        const Columns& columns, std::uint32_t row, std::uint32_t column,
                                        const ColumnChoice& choice, const CandidateSlots<Real>& slots) {
  std::uint64_t found[2] = {0, 0};
  std::uint64_t yes[2] = {0, 0};
  if (!classify(sums, rows, columns, static_cast<Real>(INFINITY), found, yes)) return;
  static_assert(M * N * 4 == 64);
  std::uint64_t left = found[0];
#pragma unroll 1
  while (left != 0) {
    const auto bit = static_cast<unsigned>(__ffsll(static_cast<long long>(left))) - 1;
    left &= left - 1;
    Real value = 0;
#pragma unroll
    for (unsigned m = 0; m < M; ++m) {
#pragma unroll
      for (unsigned n = 0; n < N; ++n) {
#pragma unroll
        for (unsigned v = 0; v < 4; ++v) {
          Real bounds[2];
          if (bit == 4 * (m * N + n) + v) {
            columns.of(n, bounds);
            value = sums[m][n][v] - bounds[v % 2];
          }
        }
      }
    }
    const unsigned fragment = bit / 4;
    const std::uint32_t r = row + kApart * (fragment / N) + 8 * (bit % 4 / 2);
    const std::uint32_t q = column + 8 * (fragment % N) + bit % 2;
    const std::uint32_t p = choice.positions == nullptr ? r : __ldg(choice.positions + r);
    if (p == q) continue;
    if (choice.components != nullptr && (__ldg(choice.components + p) == __ldg(choice.components + q) ||
                                         !(__ldg(choice.core + q) < __ldg(choice.limits + r)))) {
      continue;
    }
    const std::uint32_t at = atomicAdd(slots.counts + r, 1U);
    if (at >= slots.room) continue;
    const std::uint64_t place = std::uint64_t{r} * slots.room + at;
    slots.columns[place] = q;
    slots.nearness[place] = value;
  }
  __syncwarp();
}

}  // namespace epsflow::gpu
