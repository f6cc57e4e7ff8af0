// The points of one part, and what it shares with others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <epsflow/core/buffer.hpp>
#include <epsflow/core/points.hpp>
#include <epsflow/core/space.hpp>
#include <epsflow/parts/distribution.hpp>
#include <epsflow/parts/exchange.hpp>
#include <epsflow/parts/ghosts.hpp>
#include <epsflow/parts/part_reach.hpp>
#include <epsflow/parts/part_view.hpp>
#include <epsflow/parts/partition.hpp>

namespace epsflow::parts {

/// A part with ghosts for one radius or several.
class Part {
 public:
  /// Takes the points of the distribution. space: of the points. reach: of ghosts, at most. units: null, or the weights of own points,
  /// [own], in whole units. Collective. O(n·d), in parallel. Throws UsageError for a box in which images of a point could be neighbours of
  /// each other, ResourceError as Distribution.
  Part(Exchange& exchange, Distribution& distribution, const Partition& partition, const Space& space, double reach,
       const Buffer<std::int64_t>* units = nullptr);

  /// What is clustered for a radius.
  struct View {
    PointsView points;
    PartView shared;
  };
  /// Its points are valid until the next call.
  [[nodiscard]] View view(const PartReach& reach);
  [[nodiscard]] std::size_t own() const noexcept { return own_; }
  /// In the largest view.
  [[nodiscard]] std::size_t ghosts() const noexcept { return ghosts_; }
  /// Of coordinates.
  [[nodiscard]] std::uint64_t bytes_of_row() const noexcept { return points_.dims() * bytes_of(points_.precision()); }
  /// What it holds, once views are made.
  [[nodiscard]] std::uint64_t bytes() const noexcept;

 private:
  struct Lent {
    std::uint32_t point;
    double distance;  ///< from the part that has it as a ghost
  };
  /// Ghosts of one part as they are found.
  struct Found {
    std::vector<Lent> lent;
    std::vector<double> coordinates;
  };

  void find_ghosts(const GhostFinder& finder, std::uint32_t me, PointsView own, std::vector<Found>& found) const;

  std::size_t own_;
  std::size_t ghosts_ = 0;
  std::size_t rank_;                            ///< whose part it is
  Points points_;                               ///< own points, and room for all ghosts
  Letters<Lent> lent_;                          ///< [ranks] by distance
  Points borrowed_;                             ///< ghosts, by rank and distance
  std::vector<std::size_t> borrowed_begins_;    ///< [ranks + 1] where those of each begin
  std::vector<std::vector<double>> distances_;  ///< [ranks] theirs
  Buffer<std::int64_t> units_;                  ///< of points_, where they have weights
  Letters<std::int64_t> borrowed_units_;        ///< [ranks] of ghosts, by distance
};

}  // namespace epsflow::parts
