// The points of one part, and what it shares with others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <epsflow/core/points.hpp>
#include <epsflow/core/space.hpp>
#include <epsflow/parts/exchange.hpp>
#include <epsflow/parts/partition.hpp>

namespace epsflow::parts {

/// Moves points to the parts they lie in, and what is found of them back to where they came from.
class Distribution {
 public:
  /// share: the points of this rank; ids follow each other over the ranks, in their order. Collective. O(n·d).
  Distribution(Exchange& exchange, PointsView share, const Partition& partition);

  /// The points of this part, by ascending id.
  [[nodiscard]] const Points& own() const noexcept { return own_; }
  [[nodiscard]] const std::vector<std::uint64_t>& ids() const noexcept { return ids_; }
  [[nodiscard]] std::size_t share() const noexcept { return share_; }

  /// values: [own]. Returns those of the share, in its order. Collective.
  template <class T>
  [[nodiscard]] std::vector<T> bring_back(Exchange& exchange, const std::vector<T>& values) const;

 private:
  std::size_t share_;
  std::vector<std::uint32_t> part_of_;  ///< [share]
  std::vector<std::size_t> received_;   ///< [ranks] of own points, how many came from each
  Points own_;
  std::vector<std::uint64_t> ids_;
};

/// A part with ghosts for one radius or several.
class Part {
 public:
  /// space: of the points. reach: of the largest radius. Collective. Throws UsageError for a box in which images of a point could be
  /// neighbours of each other.
  Part(Exchange& exchange, const Distribution& distribution, const Partition& partition, const Space& space,
       double reach);

  /// What is clustered for a radius of this reach: own points, and behind them ghosts.
  struct View {
    PointsView points;
    std::vector<std::uint32_t> lent;         ///< own points that others have as ghosts, by rank
    std::vector<std::size_t> lent_to;        ///< [ranks] of these, how many each has
    std::vector<std::size_t> borrowed_from;  ///< [ranks] ghosts of each, by rank
  };
  /// Valid until the next call.
  [[nodiscard]] View view(double reach);
  [[nodiscard]] std::size_t own() const noexcept { return own_; }
  /// In the largest view.
  [[nodiscard]] std::size_t ghosts() const noexcept { return ghosts_; }

 private:
  struct Lent {
    std::uint32_t point;
    double distance;  ///< from the part that has it as a ghost
  };

  std::size_t own_;
  std::size_t ghosts_ = 0;
  Points points_;                               ///< own points, and room for all ghosts
  Letters<Lent> lent_;                          ///< [ranks] by distance
  std::vector<Points> borrowed_;                ///< [ranks] by distance
  std::vector<std::vector<double>> distances_;  ///< [ranks] theirs
};

template <class T>
std::vector<T> Distribution::bring_back(Exchange& exchange, const std::vector<T>& values) const {
  Letters<T> letters(received_.size());
  std::size_t at = 0;
  for (std::size_t r = 0; r < received_.size(); ++r) {
    letters[r].assign(values.begin() + static_cast<std::ptrdiff_t>(at),
                      values.begin() + static_cast<std::ptrdiff_t>(at + received_[r]));
    at += received_[r];
  }
  letters = all_to_all(exchange, letters);
  std::vector<std::size_t> next(letters.size(), 0);
  std::vector<T> back(share_);
  for (std::size_t i = 0; i < share_; ++i) back[i] = letters[part_of_[i]][next[part_of_[i]]++];
  return back;
}

}  // namespace epsflow::parts
