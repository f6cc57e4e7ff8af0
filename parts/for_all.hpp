// A loop over many small things, in parallel.
#pragma once

#include <cstddef>

#include <epsflow/core/parallel.hpp>

namespace epsflow::parts {

/// Calls f(i) for each i below count, in any order and on several threads.
template <class F>
void for_all(std::size_t count, F&& f) {
  parallel_ranges(count, 1 << 13, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) f(i);
  });
}

}  // namespace epsflow::parts
