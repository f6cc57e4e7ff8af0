// What becomes of the products that the threads of a warp hold: no, yes, or ask.
#pragma once

#include <cstdint>

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

// The bounds of the rows and columns that a thread has products of. Loaded before the products are there, so that nobody waits for
// them. first: the thread's first row, or column.
template <class Real, unsigned M>
struct RowBounds {
  Real no[M][2];  ///< of rows 8 apart

  __device__ void load(const Real* from, std::uint64_t first) {
    for (unsigned m = 0; m < M; ++m) {
      for (unsigned h = 0; h < 2; ++h) no[m][h] = __ldg(from + first + 16 * m + 8 * h);
    }
  }
};
template <class Real, unsigned N>
struct ColumnBounds {
  Real no[N][2];  ///< of columns side by side

  __device__ void load(const Real* from, std::uint64_t first) {
    for (unsigned n = 0; n < N; ++n) load_two(no[n], from + first + 8 * n);
  }
};

/// The position of a thread's first row, or column, behind the warp's.
__device__ inline std::uint64_t own_row(std::uint64_t first) { return first + threadIdx.x % 32 / 4; }
__device__ inline std::uint64_t own_column(std::uint64_t first) { return first + threadIdx.x % 4 * 2; }

__device__ inline float larger(float a, float b) { return fmaxf(a, b); }
__device__ inline double larger(double a, double b) { return fmax(a, b); }

/// sums: fragments of 16 × 8 products as tensor cores leave them: of lane l, fragment (m, n), value v they are of row
/// 16·m + l/4 + 8·(v/2) and column 8·n + 2·(l mod 4) + v mod 2. row, column: the thread's first. gap: by how much a product is above
/// the bounds of `no` where it says yes. The whole warp calls it.
///
/// Nearly all products say no, so that is asked first, of all that the warp has; then of 16 at a time, and only where something was
/// found is it looked at one by one.
template <unsigned M, unsigned N, class Real>
__device__ __forceinline__ void sift(const Real (&sums)[M][N][4], const RowBounds<Real, M>& rows,
                                     const ColumnBounds<Real, N>& columns, std::uint64_t row, std::uint64_t column,
                                     Real gap, PairWriter& pairs, PairWriter& asked) {
  constexpr unsigned kPart = 4;  // fragments side by side
  constexpr unsigned kParts = N / kPart;
  static_assert(N % kPart == 0);
  bool any[M][kParts];
  bool all = false;
  for (unsigned m = 0; m < M; ++m) {
    for (unsigned p = 0; p < kParts; ++p) {
      any[m][p] = false;
      for (unsigned h = 0; h < 2; ++h) {
        Real above[kPart];  // the column's bound; as a tree, since nothing else hides how long each step takes
        for (unsigned i = 0; i < kPart; ++i) {
          const unsigned n = kPart * p + i;
          above[i] = larger(sums[m][n][2 * h] - columns.no[n][0], sums[m][n][2 * h + 1] - columns.no[n][1]);
        }
        any[m][p] |= larger(larger(above[0], above[1]), larger(above[2], above[3])) >= rows.no[m][h];
      }
      all |= any[m][p];
    }
  }
  if (__any_sync(kWholeWarp, all) == 0) return;
  for (unsigned m = 0; m < M; ++m) {
    for (unsigned p = 0; p < kParts; ++p) {
      if (__any_sync(kWholeWarp, any[m][p]) == 0) continue;
      for (unsigned i = 0; i < kPart; ++i) {
        for (unsigned v = 0; v < 4; ++v) {
          const unsigned n = kPart * p + i;
          const Real above = sums[m][n][v] - columns.no[n][v % 2];
          const bool open = above >= rows.no[m][v / 2];
          if (__any_sync(kWholeWarp, open) == 0) continue;
          const PointPair pair{static_cast<std::uint32_t>(row + 16 * m + 8 * (v / 2)),
                               static_cast<std::uint32_t>(column + 8 * n + v % 2)};
          const bool wanted = open && pair.first < pair.second;  // each pair once where a tile meets itself
          const bool certain = above - rows.no[m][v / 2] >= gap;
          const unsigned to_pairs = __ballot_sync(kWholeWarp, wanted && certain);
          const unsigned to_asked = __ballot_sync(kWholeWarp, wanted && !certain);
          if (to_pairs != 0) pairs.put(to_pairs, pair);
          if (to_asked != 0) asked.put(to_asked, pair);
        }
      }
    }
  }
}

}  // namespace epsflow::gpu
