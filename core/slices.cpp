#include <epsflow/core/slices.hpp>

#include <fmt/format.h>

#include <epsflow/core/checked.hpp>
#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>

namespace epsflow {

Slices::Slices(std::span<const std::uint64_t> offsets, std::uint64_t n) {
  if (offsets.size() < 2) {
    throw UsageError("slices need at least two offsets: 0, where each further one begins, and the number of points");
  }
  if (offsets.front() != 0) {
    throw UsageError(fmt::format("the first slice begins at {}: it must begin at point 0", offsets.front()));
  }
  if (offsets.back() != n) {
    throw UsageError(fmt::format("the last slice ends at {}, and there are {}: it must end with the last point",
                                 offsets.back(), format_count(n, "point")));
  }
  starts_.reserve(offsets.size());
  for (std::size_t s = 0; s < offsets.size(); ++s) {
    if (s > 0 && offsets[s] < offsets[s - 1]) {
      throw UsageError(
          fmt::format("slice {} would begin at point {} and end at {}: offsets must not descend; sort the points by slice",
                      s - 1, offsets[s - 1], offsets[s]));
    }
    starts_.push_back(narrow<std::uint32_t>(offsets[s]));
  }
}

}  // namespace epsflow
