// The view of one part that a backend clusters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace epsflow::parts {

/// The owned points, followed by the inner ghosts, which are within reach of them, and the outer ghosts. The view has
/// all neighbours of owned points and inner ghosts.
struct PartView {
  std::size_t part = 0;
  std::size_t owned = 0;
  std::size_t inner = 0;                  ///< number of inner ghosts
  std::size_t outer = 0;                  ///< number of outer ghosts
  std::vector<std::uint32_t> send_list;   ///< owned points that other parts have as inner ghosts, by part
  std::vector<std::size_t> send_begins;   ///< [parts + 1] where the points for each part begin
  std::vector<std::size_t> inner_begins;  ///< [parts + 1] where the inner ghosts from each part begin
  std::vector<std::int64_t> units = {};   ///< weights of all points in whole units, or empty

  [[nodiscard]] std::size_t size() const noexcept { return owned + inner + outer; }
};

}  // namespace epsflow::parts
