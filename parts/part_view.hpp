// The view of one part that a backend clusters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace epsflow::parts {

/// Describes the points of a view: the owned points, followed by the inner ghosts, up to PartReach::inner away, and the
/// outer ghosts, farther away, up to PartReach::outer. The view has all neighbours of owned points and inner ghosts. In
/// a periodic box the images of a part's own points may be its ghosts, too.
struct PartView {
  std::size_t part = 0;                   ///< number of the part
  std::size_t owned = 0;                  ///< number of owned points
  std::size_t inner = 0;                  ///< number of inner ghosts
  std::size_t outer = 0;                  ///< number of outer ghosts
  std::vector<std::uint32_t> send_list;   ///< owned points that parts have as inner ghosts, by part
  std::vector<std::size_t> send_begins;   ///< [parts + 1] where the points for each part begin in send_list
  std::vector<std::size_t> inner_begins;  ///< [parts + 1] where the ghosts from each part begin among the inner ghosts
  std::vector<std::int64_t> units = {};   ///< [size()] weights in whole units, or empty

  [[nodiscard]] std::size_t size() const noexcept { return owned + inner + outer; }
};

}  // namespace epsflow::parts
