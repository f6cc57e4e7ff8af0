// What becomes of the products that the threads of a warp hold: no, yes, or ask.
#pragma once

#include <cstdint>

#include <epsflow/gpu/tiles/pair_writer.cuh>
#include <epsflow/gpu/tiles/tile_view.hpp>

namespace epsflow::gpu {

/// sums: fragments of 16 × 8 products as tensor cores leave them: of lane l, fragment (m, n), value v they are of row
/// 16·m + l/4 + 8·(v/2) and column 8·n + 2·(l mod 4) + v mod 2 behind the position first_row and first_column. The whole warp
/// calls it.
///
/// Nearly all products say no, so that is asked first, of all that the warp has.
template <unsigned M, unsigned N, class Real, class Tiles>
__device__ __forceinline__ void sift(const Real (&sums)[M][N][4], std::uint64_t first_row, std::uint64_t first_column,
                                     const Tiles& tiles, PairWriter& pairs, PairWriter& asked) {
  constexpr unsigned kPart = 4;  // fragments side by side that are looked at again together
  static_assert(N % kPart == 0);
  const unsigned lane = threadIdx.x % 32;
  const std::uint64_t row = first_row + lane / 4;
  const std::uint64_t column = first_column + lane % 4 * 2;
  Real no_row[M][2];
  for (unsigned m = 0; m < M; ++m) {
    for (unsigned h = 0; h < 2; ++h) no_row[m][h] = __ldg(tiles.no + row + 16 * m + 8 * h);
  }
  for (unsigned part = 0; part < N; part += kPart) {
    Real no_column[kPart][2];
    for (unsigned n = 0; n < kPart; ++n) {
      for (unsigned e = 0; e < 2; ++e) no_column[n][e] = __ldg(tiles.no + column + 8 * (part + n) + e);
    }
    for (unsigned m = 0; m < M; ++m) {
      bool any = false;
      for (unsigned n = 0; n < kPart; ++n) {
        for (unsigned v = 0; v < 4; ++v) any |= sums[m][part + n][v] >= no_row[m][v / 2] + no_column[n][v % 2];
      }
      if (__any_sync(kWholeWarp, any) == 0) continue;

      const std::uint64_t top = row + 16 * m;
      const std::uint64_t left = column + 8 * part;
      unsigned yes = 0;
      unsigned ask = 0;
      if (any) {
        for (unsigned n = 0; n < kPart; ++n) {
          for (unsigned v = 0; v < 4; ++v) {
            const Real sum = sums[m][part + n][v];
            if (!(sum >= no_row[m][v / 2] + no_column[n][v % 2])) continue;
            const std::uint64_t r = top + 8 * (v / 2);
            const std::uint64_t c = left + 8 * n + v % 2;
            if (r >= c) continue;
            (sum >= __ldg(tiles.yes + r) + __ldg(tiles.yes + c) ? yes : ask) |= 1U << (4 * n + v);
          }
        }
      }
      const auto leave = [&](unsigned found, PairWriter& writer) {
        write_found(writer, static_cast<std::uint32_t>(__popc(found)), lane, [&](auto write) {
          for (; found != 0; found &= found - 1) {
            const auto bit = static_cast<unsigned>(__ffs(static_cast<int>(found))) - 1;
            write(PointPair{static_cast<std::uint32_t>(top + 8 * (bit % 4 / 2)),
                            static_cast<std::uint32_t>(left + 8 * (bit / 4) + bit % 2)});
          }
        });
      };
      leave(yes, pairs);
      leave(ask, asked);
    }
  }
}

}  // namespace epsflow::gpu
