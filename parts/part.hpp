// The points of one part, with its ghosts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <epsflow/core/buffer.hpp>
#include <epsflow/core/points.hpp>
#include <epsflow/parts/distribution.hpp>
#include <epsflow/parts/ghost_lists.hpp>
#include <epsflow/parts/part_reach.hpp>
#include <epsflow/parts/part_view.hpp>
#include <epsflow/parts/rank_part.hpp>

namespace epsflow::parts {

/// A part with ghosts for one radius or several.
class Part {
 public:
  /// Finds the ghosts, exchanges them with the other ranks, and takes the points of the distribution. units: null, or
  /// [owned()] the weights of the owned points in whole units. Collective. O(n·d), in parallel. Throws UsageError if a
  /// closed axis is not longer than the largest reach, and ResourceError if 32-bit ids cannot number its points and
  /// ghosts.
  Part(const RankSetting& setting, Distribution& distribution, const Buffer<std::int64_t>* units = nullptr);

  /// The points that are clustered for a radius.
  struct View {
    PointsView points;  ///< [shared.size() × d]
    PartView shared;    ///< which of them are owned, and which are ghosts
  };
  /// Returns the view of a radius. Its points are valid until the next call.
  [[nodiscard]] View view(const PartReach& reach);
  [[nodiscard]] std::size_t owned() const noexcept { return own_; }
  /// The number of ghosts of the largest view.
  [[nodiscard]] std::size_t ghosts() const noexcept { return ghosts_; }
  /// Bytes of the coordinates of one point.
  [[nodiscard]] std::uint64_t bytes_of_row() const noexcept { return points_.dims() * bytes_of(points_.precision()); }
  /// Bytes held after the first view.
  [[nodiscard]] std::uint64_t bytes() const noexcept;

 private:
  std::size_t own_;
  std::size_t ghosts_ = 0;
  std::size_t rank_;
  Points points_;                    ///< own points, and capacity for all ghosts
  GhostOrder send_order_;            ///< order of send_list_; pairs: [ranks]
  Buffer<std::uint32_t> send_list_;  ///< own points that other ranks have as ghosts
  GhostOrder halo_order_;            ///< order of halo_; pairs: [ranks]
  Points halo_;                      ///< ghosts
  Buffer<std::int64_t> units_;       ///< weights of points_, or empty
  Buffer<std::int64_t> halo_units_;  ///< weights of ghosts, or empty
};

}  // namespace epsflow::parts
