// Writes the columns that may be within the radius of their row, by the products of rows and columns in the registers
// of a warp.
#pragma once

#include <cstdint>

#include <epsflow/gpu/base/tuning.hpp>
#include <epsflow/gpu/tiles/row_candidates.hpp>
#include <epsflow/gpu/tiles/tile_filter.cuh>

namespace epsflow::gpu {

/// Writes a column to the slots of a row if their product is at least the sum of their bounds and `choice` permits the
/// pair; if the slots are full, the column is only counted. sums: the thread's products, as for classify(). rows,
/// columns: the bounds. row, column: the thread's first row and column (own_row(), own_column()). The whole warp must
/// call it.
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
    if (at >= slots.capacity) continue;
    const std::uint64_t slot = std::uint64_t{r} * slots.capacity + at;
    slots.columns[slot] = q;
    if (slots.nearness != nullptr) slots.nearness[slot] = value;
  }
  __syncwarp();
}

}  // namespace epsflow::gpu
