// A part of points that are in one memory or on devices, as it is clustered.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace epsflow::parts {

/// Own points, behind them ghosts within a reach, and behind these ghosts beyond it, so that those within have all their neighbours.
struct PartView {
  std::size_t part = 0;
  std::size_t own = 0;
  std::size_t near = 0;                  ///< ghosts within
  std::size_t beyond = 0;                ///< further ghosts
  std::vector<std::uint32_t> lent;       ///< own points that others have as ghosts within, by part
  std::vector<std::size_t> lent_to;      ///< [parts + 1] where those of each part begin
  std::vector<std::size_t> near_of;      ///< [parts + 1] where the ghosts of each part begin
  std::vector<std::int64_t> units = {};  ///< of all points, where they have weights

  [[nodiscard]] std::size_t size() const noexcept { return own + near + beyond; }
};

}  // namespace epsflow::parts
