// Lists the ghosts of pairs of parts, so that the ghosts of a pair for a radius of the sweep are consecutive.
//
// A pair is a part that owns points and a part that has some of these as ghosts; the caller numbers the pairs. The
// reaches are the ascending distances up to which points are ghosts, of all radii (reaches_of()). The distance of a
// ghost from the part that has it is measured along the axis on which it is largest (Partition::for_near()).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include <epsflow/core/buffer.hpp>
#include <epsflow/core/parallel.hpp>
#include <epsflow/parts/ghosts.hpp>

namespace epsflow::parts {

/// The order of the ghosts of all pairs in one list: where the ghosts of each pair begin and end. The list is sorted by
/// pair, then by the first reach that a ghost is within. So the ghosts within a reach are the first ones of their pair.
class GhostOrder {
 public:
  /// Makes an object for later assignment, for which end() and begins() must not be called.
  GhostOrder() = default;
  /// reaches: at least one. counts: [pairs × reaches] the number of ghosts by pair and first reach.
  GhostOrder(std::vector<double> reaches, std::span<const std::uint64_t> counts) : reaches_(std::move(reaches)) {
    for (const std::uint64_t count : counts) begins_.push_back(begins_.back() + count);
  }

  [[nodiscard]] std::size_t size() const noexcept { return begins_.back(); }
  /// Returns the index in the list of the first ghost of a pair. O(1).
  [[nodiscard]] std::size_t begin(std::size_t pair) const noexcept { return begins_[pair * reaches_.size()]; }
  /// Returns the end of the ghosts of a pair within `reach`, which must be one of the reaches. O(log reaches).
  [[nodiscard]] std::size_t end(std::size_t pair, double reach) const noexcept {
    return begins_[pair * reaches_.size() + first_within(reaches_, reach) + 1];
  }
  /// Returns [pairs + 1]: where the ghosts of each pair begin, and the end.
  [[nodiscard]] std::vector<std::size_t> begins() const {
    std::vector<std::size_t> begins;
    for (std::size_t i = 0; i < begins_.size(); i += reaches_.size()) begins.push_back(begins_[i]);
    return begins;
  }
  /// Returns the index of the first reach that is not less than the distance.
  [[nodiscard]] static std::size_t first_within(std::span<const double> reaches, double distance) noexcept {
    return static_cast<std::size_t>(std::lower_bound(reaches.begin(), reaches.end(), distance) - reaches.begin());
  }

 private:
  std::vector<double> reaches_;
  std::vector<std::size_t> begins_{0};  ///< [pairs × reaches + 1]
};

struct FoundGhost {
  std::uint32_t row;    ///< index of the point among those that the caller searches, and of its weight in `units`
  std::uint32_t point;  ///< a number from which the caller's point_of() finds the index of the point in its part
  std::uint32_t pair;   ///< number of the pair
  std::uint32_t reach;  ///< index of the first reach that the ghost is within
};

/// Ghosts in the order in which they are found.
template <class T>
struct FoundGhosts {
  std::vector<FoundGhost> ghosts;
  std::vector<T> coordinates;  ///< [ghosts × d] coordinates of the point or its image
};

/// The ghosts of some pairs of parts.
struct GhostLists {
  std::vector<std::uint64_t> counts;  ///< [pairs × reaches] the number of ghosts by pair and first reach
  GhostOrder order;                   ///< order of the entries of `points`, `coordinates` and `units`
  Buffer<std::uint32_t> points;       ///< [ghosts] index of the point in the part that owns it
  Buffer<std::byte> coordinates;      ///< [ghosts × d] coordinates of the point or its image
  Buffer<std::int64_t> units;         ///< [ghosts] weights of the points in whole units, or empty
};

/// Sorts found ghosts, in parallel: O(ghosts + pairs · reaches). found: the ghosts of consecutive ranges of points;
/// ghosts with the same pair and reach keep their order. point_of(ghost) returns the index of the point in the part
/// that owns it. units: [rows] weights in whole units, or empty. Throws ResourceError if 32-bit ids cannot number the
/// ghosts of a pair.
template <class T, class PointOf>
[[nodiscard]] GhostLists sort_ghosts(std::span<const FoundGhosts<T>> found, std::size_t pairs,
                                     const std::vector<double>& reaches, std::size_t dims,
                                     std::span<const std::int64_t> units, const PointOf& point_of) {
  const std::size_t keys = pairs * reaches.size();
  const auto key_of = [&](const auto& ghost) { return std::size_t{ghost.pair} * reaches.size() + ghost.reach; };
  // Each group of stretches counts its ghosts by pair and reach.
  constexpr std::size_t kMostCounts = 1 << 24;
  const std::size_t groups = std::clamp<std::size_t>(kMostCounts / keys, 1, std::max<std::size_t>(1, found.size()));
  std::vector<std::uint32_t> next(groups * keys, 0);
  const auto for_stretches = [&](const auto& f) {
    parallel_for(groups, [&](std::size_t g) {
      for (std::size_t s = found.size() * g / groups; s < found.size() * (g + 1) / groups; ++s) {
        f(found[s], next.data() + g * keys);
      }
    });
  };
  for_stretches([&](const FoundGhosts<T>& stretch, std::uint32_t* counts) {
    for (const auto& ghost : stretch.ghosts) ++counts[key_of(ghost)];
  });
  GhostLists lists;
  lists.counts.resize(keys);
  parallel_for(pairs, [&](std::size_t pair) {
    std::uint64_t of_pair = 0;
    for (std::size_t key = pair * reaches.size(); key < (pair + 1) * reaches.size(); ++key) {
      std::uint64_t of_key = 0;
      for (std::size_t g = 0; g < groups; ++g) {
        of_key += std::exchange(next[g * keys + key], static_cast<std::uint32_t>(of_pair + of_key));
      }
      lists.counts[key] = of_key;
      of_pair += of_key;
    }
    require_count(of_pair);
  });
  lists.order = GhostOrder(reaches, lists.counts);
  const std::size_t all = lists.order.size(), row = dims * sizeof(T);
  lists.points = Buffer<std::uint32_t>(all);
  lists.coordinates = Buffer<std::byte>(all * row);
  if (!units.empty()) lists.units = Buffer<std::int64_t>(all);
  for_stretches([&](const FoundGhosts<T>& stretch, std::uint32_t* to) {
    for (std::size_t i = 0; i < stretch.ghosts.size(); ++i) {
      const auto& ghost = stretch.ghosts[i];
      const std::size_t at = lists.order.begin(ghost.pair) + to[key_of(ghost)]++;
      lists.points[at] = point_of(ghost);
      std::memcpy(lists.coordinates.data() + at * row, stretch.coordinates.data() + i * dims, row);
      if (!units.empty()) lists.units[at] = units[ghost.row];
    }
  });
  return lists;
}

}  // namespace epsflow::parts
