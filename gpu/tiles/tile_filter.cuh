// Classifies the products in the registers of a warp: no (not neighbours), yes (neighbours), or undecided.
#pragma once

#include <cstdint>

#include <epsflow/gpu/base/tuning.hpp>
#include <epsflow/gpu/tiles/pair_writer.cuh>
#include <epsflow/gpu/tiles/tile_view.hpp>

namespace epsflow::gpu {

__device__ inline void load_two(float (&to)[2], const float* from) {
  const float2 two = __ldg(reinterpret_cast<const float2*>(from));
  to[0] = two.x;
  to[1] = two.y;
}
__device__ inline void load_two(double (&to)[2], const double* from) {
  const double2 two = __ldg(reinterpret_cast<const double2*>(from));
  to[0] = two.x;
  to[1] = two.y;
}

// The bounds of the rows and columns of a thread's products. They are loaded before the products are complete, so that
// no thread waits for them. first: the thread's first row or column.
/// kApart: number of rows from one fragment to the next.
template <class Real, unsigned M, unsigned kApart>
struct RowBounds {
  Real no[M][2];  ///< for rows that are 8 apart

  __device__ void load(const Real* from, std::uint64_t first) {
    for (unsigned m = 0; m < M; ++m) {
      for (unsigned h = 0; h < 2; ++h) no[m][h] = __ldg(from + first + kApart * m + 8 * h);
    }
  }
};
template <class Real, unsigned N>
struct ColumnBounds {
  Real no[N][2];  ///< for adjacent columns

  __device__ void load(const Real* from, std::uint64_t first) {
    for (unsigned n = 0; n < N; ++n) load_two(no[n], from + first + 8 * n);
  }
  __device__ void of(unsigned n, Real (&two)[2]) const {
    two[0] = no[n][0];
    two[1] = no[n][1];
  }
};

/// Returns the position of a thread's first row, or column, given the warp's.
__device__ inline std::uint32_t own_row(std::uint32_t first) { return first + threadIdx.x % 32 / 4; }
__device__ inline std::uint32_t own_column(std::uint32_t first) { return first + threadIdx.x % 4 * 2; }

__device__ inline float larger(float a, float b) { return fmaxf(a, b); }
__device__ inline double larger(double a, double b) { return fmax(a, b); }

/// Sets a bit of `found` for each product that is not a no, and of `yes` for each that is a yes. Returns false, and
/// sets nothing, if all products of the warp are a no. Bits are 0 before. Bit 4·(m·N + n) + v is value v of fragment
/// (m, n).
///
/// sums: fragments of 16 × 8 products in the layout of tensor cores. In lane l, value v of fragment (m, n) belongs to
/// row kApart·m + l/4 + 8·(v/2) and column 8·n + 2·(l mod 4) + v mod 2. A product below the sum of its bounds `no` is a
/// no; a product that exceeds this sum by at least `gap` is a yes. The whole warp must call it.
///
/// Nearly all products are a no. So this is tested first for all products of the warp, then for 16 at a time, and
/// products are examined one by one only if one was found.
template <unsigned kApart, unsigned M, unsigned N, class Real, class Columns>
__device__ __forceinline__ bool classify(const Real (&sums)[M][N][4], const RowBounds<Real, M, kApart>& rows,
                                         const Columns& columns, Real gap, std::uint64_t (&found)[2],
                                         std::uint64_t (&yes)[2]) {
  constexpr unsigned kPart = 4;  // adjacent fragments
  constexpr unsigned kParts = N / kPart;
  static_assert(N % kPart == 0);
  bool any[M][kParts];
  bool all = false;
#pragma unroll
  for (unsigned p = 0; p < kParts; ++p) {
    Real no[kPart][2];
#pragma unroll
    for (unsigned i = 0; i < kPart; ++i) columns.of(kPart * p + i, no[i]);
#pragma unroll
    for (unsigned m = 0; m < M; ++m) {
      any[m][p] = false;
#pragma unroll
      for (unsigned h = 0; h < 2; ++h) {
        // Compared with the column's bound; as a tree, because nothing else hides the latency of the steps.
        Real above[kPart];
#pragma unroll
        for (unsigned i = 0; i < kPart; ++i) {
          const unsigned n = kPart * p + i;
          above[i] = larger(sums[m][n][2 * h] - no[i][0], sums[m][n][2 * h + 1] - no[i][1]);
        }
        any[m][p] |= larger(larger(above[0], above[1]), larger(above[2], above[3])) >= rows.no[m][h];
      }
      all |= any[m][p];
    }
  }
  if (__any_sync(tuning::kWholeWarp, all) == 0) return false;
  constexpr unsigned kBits = M * N * 4;
  static_assert(kBits == 64 || kBits == 128);
#pragma unroll
  for (unsigned m = 0; m < M; ++m) {
#pragma unroll
    for (unsigned p = 0; p < kParts; ++p) {
      if (__any_sync(tuning::kWholeWarp, any[m][p]) == 0) continue;
      Real no[kPart][2];
#pragma unroll
      for (unsigned i = 0; i < kPart; ++i) columns.of(kPart * p + i, no[i]);
      unsigned part_found = 0;
      unsigned part_yes = 0;
#pragma unroll
      for (unsigned i = 0; i < 4 * kPart; ++i) {
        const unsigned n = kPart * p + i / 4;
        const Real above = sums[m][n][i % 4] - no[i / 4][i % 2];
        if (above >= rows.no[m][i % 4 / 2]) part_found |= 1U << i;
        if (above - rows.no[m][i % 4 / 2] >= gap) part_yes |= 1U << i;
      }
      const unsigned offset = (m * kParts + p) * 4 * kPart;
      found[offset / 64] |= std::uint64_t{part_found} << offset % 64;
      yes[offset / 64] |= std::uint64_t{part_yes} << offset % 64;
    }
  }
  return true;
}

/// Appends the pairs whose product is a yes to `pairs`, and undecided ones to `open`, if the row is before the column.
/// row, column: the thread's first. The rest is as for classify().
template <unsigned kApart, unsigned M, unsigned N, class Real, class Columns>
__device__ __forceinline__ void filter(const Real (&sums)[M][N][4], const RowBounds<Real, M, kApart>& rows,
                                       const Columns& columns, std::uint32_t row, std::uint32_t column, Real gap,
                                       PairWriter& pairs, PairWriter& open) {
  constexpr unsigned kBits = M * N * 4;
  std::uint64_t found[2] = {0, 0};
  std::uint64_t yes[2] = {0, 0};
  if (!classify(sums, rows, columns, gap, found, yes)) return;
    // One loop for all products found, because the code of several loops would not fit the instruction cache.
#pragma unroll 1
  for (unsigned half = 0; half < kBits / 64; ++half) {
    std::uint64_t left = half == 0 ? found[0] : found[1];
    const std::uint64_t certain = half == 0 ? yes[0] : yes[1];
    while (__any_sync(tuning::kWholeWarp, left != 0) != 0) {
      const auto bit = left == 0 ? 0U : static_cast<unsigned>(__ffsll(static_cast<long long>(left))) - 1;
      const unsigned fragment = (64 * half + bit) / 4;
      const PointPair pair{row + kApart * (fragment / N) + 8 * (bit % 4 / 2), column + 8 * (fragment % N) + bit % 2};
      const bool wanted = left != 0 && pair.first < pair.second;  // once if a tile meets itself
      const bool sure = (certain >> bit & 1U) != 0;
      const unsigned to_pairs = __ballot_sync(tuning::kWholeWarp, wanted && sure);
      const unsigned to_open = __ballot_sync(tuning::kWholeWarp, wanted && !sure);
      if (to_pairs != 0) pairs.put(to_pairs, pair);
      if (to_open != 0) open.put(to_open, pair);
      left &= left - 1;
    }
  }
}

}  // namespace epsflow::gpu
