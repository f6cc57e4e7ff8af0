// Sends points to the parts in which they lie, and results back.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <epsflow/core/buffer.hpp>
#include <epsflow/core/points.hpp>
#include <epsflow/parts/communicator.hpp>
#include <epsflow/parts/partition.hpp>
#include <epsflow/parts/rank_blocks.hpp>
#include <epsflow/parts/rows_by_part.hpp>

namespace epsflow::parts {

/// Sends points to the parts in which they lie, and results back to the ranks from which the points came.
class Distribution {
 public:
  /// Sends the points. share: the rows of this rank; their ids follow the ids of the rows of all lower ranks.
  /// partition: has one part for each rank. Collective. O(rows·(d + log ranks)), in parallel. Throws InputError for a
  /// coordinate that is not finite; ResourceError if 32-bit ids cannot number the points of a part, or if there are
  /// more than 65,536 ranks.
  Distribution(Communicator& communicator, PointsView share, const Partition& partition);

  /// The points of this part by ascending id. Valid until take_points().
  [[nodiscard]] PointsView owned() const { return own_.view().rows(0, size()); }
  /// Moves the owned points out. They are the first rows of the result, which has at least `size` rows; the other rows
  /// are uninitialised. Copies the points if their capacity is too small.
  [[nodiscard]] Points take_points(std::size_t size);
  /// The number of points of this part.
  [[nodiscard]] std::size_t size() const noexcept { return received_.back(); }
  /// Returns the id of own point i among the points of all ranks. O(log ranks).
  [[nodiscard]] std::uint64_t id(std::size_t i) const noexcept {
    const auto r =
        static_cast<std::size_t>(std::upper_bound(received_.begin(), received_.end(), i) - received_.begin()) - 1;
    return ids_.first(r) + offsets_[i];
  }
  /// The number of rows of the share.
  [[nodiscard]] std::size_t share() const noexcept { return rows_.rows(); }

  /// Sends a value of each row of the share to the part that owns the row. values: [share()]. Returns [size()] the
  /// values of the owned points. Collective.
  template <class T>
  [[nodiscard]] Buffer<T> bring(Communicator& communicator, std::span<const T> values) const;
  /// Sends a value of each owned point back to the rank of its row. values: [size()]. to: [share()] receives the value
  /// of each row of the share. Collective.
  template <class T>
  void return_values(Communicator& communicator, const T* values, T* to) const;

 private:
  [[nodiscard]] std::size_t ranks() const noexcept { return rows_.parts(); }
  /// Calls f(row, position) for each row of the share, in parallel. position: its index in the order by part, then by
  /// row.
  template <class F>
  void for_share(F&& f) const {
    rows_.for_all([&](std::size_t part, std::size_t row, std::size_t i) { f(row, sent_[part] + i); });
  }

  RowsByPart rows_;                    ///< rows of the share
  std::vector<std::size_t> sent_;      ///< [ranks + 1] where the points sent to each rank begin, in the order by part
  std::vector<std::size_t> received_;  ///< [ranks + 1] where the own points received from each rank begin
  RankBlocks ids_;                     ///< ids of the rows of each share
  Buffer<std::uint32_t> offsets_;      ///< [own] row of each point in the share from which it came
  Points own_;                         ///< with capacity for some ghosts
};

template <class T>
Buffer<T> Distribution::bring(Communicator& communicator, std::span<const T> values) const {
  Buffer<T> by_part(share()), owned(size());
  for_share([&](std::size_t i, std::size_t position) { by_part[position] = values[i]; });
  communicator.all_to_all(by_part.data(), sent_, owned.data(), received_, sizeof(T));
  return owned;
}

template <class T>
void Distribution::return_values(Communicator& communicator, const T* values, T* to) const {
  Buffer<T> by_part(share());
  communicator.all_to_all(values, received_, by_part.data(), sent_, sizeof(T));
  for_share([&](std::size_t i, std::size_t position) { to[i] = by_part[position]; });
}

}  // namespace epsflow::parts
