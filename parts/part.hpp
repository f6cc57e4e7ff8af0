// The points of one part, and what it shares with others.
#pragma once

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include <epsflow/core/buffer.hpp>
#include <epsflow/core/points.hpp>
#include <epsflow/core/space.hpp>
#include <epsflow/parts/exchange.hpp>
#include <epsflow/parts/ghosts.hpp>
#include <epsflow/parts/partition.hpp>

namespace epsflow::parts {

/// Moves points to the parts they lie in, and what is found of them back to where they came from.
class Distribution {
 public:
  /// share: the points of this rank; ids follow each other over the ranks, in their order. Collective. O(n·d), in parallel. Throws
  /// ResourceError for a part of more points than 32-bit ids tell.
  Distribution(Exchange& exchange, PointsView share, const Partition& partition);

  /// The points of this part, by ascending id, until they are taken.
  [[nodiscard]] PointsView own() const { return own_.view().rows(0, ids_.size()); }
  /// These, with room for `size` points in all. Copies them where there is not enough.
  [[nodiscard]] Points take_points(std::size_t size);
  /// [own] among the points of all ranks.
  [[nodiscard]] std::span<const std::uint64_t> ids() const noexcept { return ids_.span(); }
  [[nodiscard]] std::size_t share() const noexcept { return part_of_.size(); }

  /// values: [share]. Returns those of own points, [own]. Collective.
  template <class T>
  [[nodiscard]] Buffer<T> bring(Exchange& exchange, std::span<const T> values) const;
  /// values: [own]. to: [share], what was found of each point of the share. Collective.
  template <class T>
  void bring_back(Exchange& exchange, std::span<const T> values, T* to) const;

 private:
  Buffer<std::uint32_t> part_of_;      ///< [share]
  Buffer<std::uint32_t> place_;        ///< [share] among those that went to the same part
  std::vector<std::size_t> sent_;      ///< [ranks] of the share, how many went to each
  std::vector<std::size_t> received_;  ///< [ranks] of own points, how many came from each
  Points own_;                         ///< with room for some ghosts
  Buffer<std::uint64_t> ids_;
};

/// A part with ghosts for one radius or several.
class Part {
 public:
  /// Takes the points of the distribution. space: of the points. reach: of the largest radius. units: null, or the weights of own points,
  /// [own], in whole units. Collective. O(n·d), in parallel. Throws UsageError for a box in which images of a point could be neighbours of
  /// each other, ResourceError as Distribution.
  Part(Exchange& exchange, Distribution& distribution, const Partition& partition, const Space& space, double reach,
       const Buffer<std::int64_t>* units = nullptr);

  /// What is clustered for a radius of this reach: own points, and behind them ghosts.
  struct View {
    PointsView points;
    std::span<const std::int64_t> units;     ///< of the points, where they have weights
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
  /// Ghosts of one part as they are found.
  struct Found {
    std::vector<Lent> lent;
    std::vector<double> coordinates;
  };

  void find_ghosts(const GhostFinder& finder, std::uint32_t me, PointsView own, std::vector<Found>& found) const;

  std::size_t own_;
  std::size_t ghosts_ = 0;
  Points points_;                               ///< own points, and room for all ghosts
  Letters<Lent> lent_;                          ///< [ranks] by distance
  std::vector<Points> borrowed_;                ///< [ranks] by distance
  std::vector<std::vector<double>> distances_;  ///< [ranks] theirs
  Buffer<std::int64_t> units_;                  ///< of points_, where they have weights
  Letters<std::int64_t> borrowed_units_;        ///< [ranks] of borrowed_
};

template <class T>
Buffer<T> Distribution::bring(Exchange& exchange, std::span<const T> values) const {
  Mail mail;
  for (const std::size_t count : sent_) mail.emplace_back(count * sizeof(T));
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, share(), 1 << 14), [&](const auto& range) {
    for (std::size_t i = range.begin(); i < range.end(); ++i) {
      std::memcpy(mail[part_of_[i]].data() + place_[i] * sizeof(T), &values[i], sizeof(T));
    }
  });
  mail = exchange.all_to_all(std::move(mail));
  Buffer<T> own(ids_.size());
  T* to = own.data();
  for (const auto& of_rank : mail) {
    if (of_rank.size() > 0) std::memcpy(to, of_rank.data(), of_rank.size());
    to += of_rank.size() / sizeof(T);
  }
  return own;
}

template <class T>
void Distribution::bring_back(Exchange& exchange, std::span<const T> values, T* to) const {
  Mail mail;
  for (const std::size_t count : received_) {
    mail.emplace_back(count * sizeof(T));
    if (count > 0) std::memcpy(mail.back().data(), values.data(), count * sizeof(T));
    values = values.subspan(count);
  }
  mail = exchange.all_to_all(std::move(mail));
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, share(), 1 << 14), [&](const auto& range) {
    for (std::size_t i = range.begin(); i < range.end(); ++i) {
      std::memcpy(to + i, mail[part_of_[i]].data() + place_[i] * sizeof(T), sizeof(T));
    }
  });
}

}  // namespace epsflow::parts
