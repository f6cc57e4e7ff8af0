#include <epsflow/core/slices.hpp>

#include <limits>
#include <string>

#include <epsflow/core/checked.hpp>
#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>

namespace epsflow {

Slices::Slices(std::span<const std::uint64_t> offsets, std::uint64_t n) {
  if (offsets.empty() || offsets.size() > std::numeric_limits<std::uint32_t>::max()) {
    throw UsageError(
        "slices have at least one offset, and at most 2^32: 0, where each further one begins, and the number of "
        "points");
  }
  if (offsets.front() != 0) {
    throw UsageError("the first slice begins at " + std::to_string(offsets.front()) + ": it must begin at point 0");
  }
  if (offsets.back() != n) {
    throw UsageError("the last slice ends at " + std::to_string(offsets.back()) + ", and there are " +
                     format_count(n, "point") + ": it must end with the last point");
  }
  starts_.reserve(offsets.size());
  for (std::size_t s = 0; s < offsets.size(); ++s) {
    if (s > 0 && offsets[s] < offsets[s - 1]) {
      throw UsageError("slice " + std::to_string(s - 1) + " would begin at point " + std::to_string(offsets[s - 1]) +
                       " and end at " + std::to_string(offsets[s]) +
                       ": offsets must not descend; sort the points by slice");
    }
    starts_.push_back(narrow<std::uint32_t>(offsets[s]));
  }
}

}  // namespace epsflow
