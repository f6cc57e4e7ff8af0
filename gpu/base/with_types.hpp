// From the kind of the points, known when the program runs, to launches of the kernels that were compiled for it.
#pragma once

#include <cstdint>

#include <epsflow/core/points.hpp>

namespace epsflow::gpu {

/// Calls f.operator()<T, D>(), T the type of the coordinates and D the one of kFirst, kMore… that equals `dims`, or the
/// last of them where none does. Only what is listed is compiled.
template <unsigned kFirst, unsigned... kMore, class F>
void with_types(Precision precision, std::uint32_t dims, F f) {
  if constexpr (sizeof...(kMore) > 0) {
    if (dims != kFirst) return with_types<kMore...>(precision, dims, f);
  }
  if (precision == Precision::float32) return f.template operator()<float, kFirst>();
  f.template operator()<double, kFirst>();
}

}  // namespace epsflow::gpu
