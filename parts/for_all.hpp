// A loop over many small things, in parallel.
#pragma once

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <cstddef>

namespace epsflow::parts {

/// Calls f(i) for i below count, in any order.
template <class F>
void for_all(std::size_t count, F&& f) {
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, count, 1 << 13), [&](const auto& range) {
    for (std::size_t i = range.begin(); i < range.end(); ++i) f(i);
  });
}

}  // namespace epsflow::parts
