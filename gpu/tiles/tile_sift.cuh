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
  static_assert(M * N * 4 <= 64, "a bit for each product");
  const unsigned lane = threadIdx.x % 32;
  const std::uint64_t row = first_row + lane / 4;
  const std::uint64_t column = first_column + lane % 4 * 2;
  bool any = false;
  {
    Real no_column[N][2];
    for (unsigned n = 0; n < N; ++n) {
      for (unsigned e = 0; e < 2; ++e) no_column[n][e] = __ldg(tiles.no + column + 8 * n + e);
    }
    for (unsigned m = 0; m < M; ++m) {
      for (unsigned h = 0; h < 2; ++h) {
        const Real no_row = __ldg(tiles.no + row + 16 * m + 8 * h);
        for (unsigned n = 0; n < N; ++n) {
          for (unsigned e = 0; e < 2; ++e) any |= sums[m][n][2 * h + e] >= no_row + no_column[n][e];
        }
      }
    }
  }
  if (__any_sync(kWholeWarp, any) == 0) return;

  std::uint64_t yes = 0;
  std::uint64_t ask = 0;
  for (unsigned m = 0; m < M; ++m) {
    for (unsigned h = 0; h < 2; ++h) {
      const std::uint64_t r = row + 16 * m + 8 * h;
      const Real no_row = __ldg(tiles.no + r);
      const Real yes_row = __ldg(tiles.yes + r);
      for (unsigned n = 0; n < N; ++n) {
        for (unsigned e = 0; e < 2; ++e) {
          const std::uint64_t c = column + 8 * n + e;
          const Real sum = sums[m][n][2 * h + e];
          if (r >= c || !(sum >= no_row + __ldg(tiles.no + c))) continue;
          const std::uint64_t bit = std::uint64_t{1} << ((m * 2 + h) * 2 * N + n * 2 + e);
          (sum >= yes_row + __ldg(tiles.yes + c) ? yes : ask) |= bit;
        }
      }
    }
  }
  const auto leave = [&](std::uint64_t found, PairWriter& writer) {
    const auto own = static_cast<std::uint32_t>(__popcll(static_cast<long long>(found)));
    write_found(writer, own, lane, [&](auto write) {
      for (; found != 0; found &= found - 1) {
        const auto bit = static_cast<unsigned>(__ffsll(static_cast<long long>(found))) - 1;
        const unsigned line = bit / (2 * N);
        const unsigned place = bit % (2 * N);
        write(PointPair{static_cast<std::uint32_t>(row + 8 * line),
                        static_cast<std::uint32_t>(column + 8 * (place / 2) + place % 2)});
      }
    });
  };
  leave(yes, pairs);
  leave(ask, asked);
}

}  // namespace epsflow::gpu
