// Selects kernels by the precision and dimensions of the points, which are known at run time.
#pragma once

#include <cstdint>

#include <epsflow/core/points.hpp>

namespace epsflow::gpu {

/// Calls f.operator()<T, D>(). T is float or double, as `precision`. D is the listed number that equals `dims`, or the
/// last one if none does. Only listed numbers are compiled.
template <unsigned kFirst, unsigned... kMore, class F>
void with_types(Precision precision, std::uint32_t dims, F f) {
  if constexpr (sizeof...(kMore) > 0) {
    if (dims != kFirst) return with_types<kMore...>(precision, dims, f);
  }
  if (precision == Precision::float32) return f.template operator()<float, kFirst>();
  f.template operator()<double, kFirst>();
}

}  // namespace epsflow::gpu
