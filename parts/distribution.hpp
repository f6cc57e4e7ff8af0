// Points on their way to the parts they lie in, and back.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <epsflow/core/buffer.hpp>
#include <epsflow/core/points.hpp>
#include <epsflow/parts/exchange.hpp>
#include <epsflow/parts/partition.hpp>
#include <epsflow/parts/rows_by_part.hpp>

namespace epsflow::parts {

/// Moves points to the parts they lie in, and what is found of them back to where they came from.
class Distribution {
 public:
  /// share: the points of this rank; ids follow each other over the ranks, in their order. Collective. O(n·d), in parallel. Throws
  /// InputError for a coordinate that is not finite, ResourceError for a part of more points than 32-bit ids tell, and for more than 65,536 ranks.
  Distribution(Exchange& exchange, PointsView share, const Partition& partition);

  /// The points of this part, by ascending id, until they are taken.
  [[nodiscard]] PointsView own() const { return own_.view().rows(0, size()); }
  /// These, with room for `size` points in all. Copies them where there is not enough.
  [[nodiscard]] Points take_points(std::size_t size);
  /// Points of this part.
  [[nodiscard]] std::size_t size() const noexcept { return received_.back(); }
  /// Of own point i, among the points of all ranks. O(log ranks).
  [[nodiscard]] std::uint64_t id(std::size_t i) const noexcept {
    const auto r =
        static_cast<std::size_t>(std::upper_bound(received_.begin(), received_.end(), i) - received_.begin()) - 1;
    return firsts_[r] + offsets_[i];
  }
  [[nodiscard]] std::size_t share() const noexcept { return rows_.rows(); }

  /// values: [share]. Returns those of own points, [own]. Collective.
  template <class T>
  [[nodiscard]] Buffer<T> bring(Exchange& exchange, std::span<const T> values) const;
  /// values: [own], what was found of own points. to: [share], what was found of each point of the share. Collective.
  template <class T>
  void bring_back(Exchange& exchange, const T* values, T* to) const;

 private:
  [[nodiscard]] std::size_t ranks() const noexcept { return rows_.parts(); }
  /// Calls f(i, place) for each point of the share, in parallel. place: in the order of parts, and of points in each.
  template <class F>
  void for_share(F&& f) const {
    rows_.for_all([&](std::size_t part, std::size_t row, std::size_t id) { f(row, sent_[part] + id); });
  }

  RowsByPart rows_;                    ///< of the share
  std::vector<std::size_t> sent_;      ///< [ranks + 1] where points of the share that went to each begin, by place
  std::vector<std::size_t> received_;  ///< [ranks + 1] where own points of each begin
  std::vector<std::uint64_t> firsts_;  ///< [ranks + 1] ids of the first rows of their shares
  Buffer<std::uint32_t> offsets_;      ///< [own] rows that these were in their shares
  Points own_;                         ///< with room for some ghosts
};

template <class T>
Buffer<T> Distribution::bring(Exchange& exchange, std::span<const T> values) const {
  Buffer<T> by_place(share()), own(size());
  for_share([&](std::size_t i, std::size_t place) { by_place[place] = values[i]; });
  exchange.all_to_all(by_place.data(), sent_, own.data(), received_, sizeof(T));
  return own;
}

template <class T>
void Distribution::bring_back(Exchange& exchange, const T* values, T* to) const {
  Buffer<T> by_place(share());
  exchange.all_to_all(values, received_, by_place.data(), sent_, sizeof(T));
  for_share([&](std::size_t i, std::size_t place) { to[i] = by_place[place]; });
}

}  // namespace epsflow::parts
