// The points of this process, in memory or in a source, divided into parts without moving them.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <epsflow/core/points.hpp>
#include <epsflow/core/points_source.hpp>
#include <epsflow/core/space.hpp>
#include <epsflow/parts/ghost_lists.hpp>
#include <epsflow/parts/ghosts.hpp>
#include <epsflow/parts/part_finder.hpp>
#include <epsflow/parts/part_view.hpp>
#include <epsflow/parts/partition.hpp>
#include <epsflow/parts/rows_by_part.hpp>
#include <epsflow/pipeline/point_rows.hpp>

namespace epsflow::parts {

/// Thrown by LocalParts if there are more ghosts than the limit.
struct TooManyGhosts {};

/// The rows of each part, and the ghosts of each pair of parts. The points of a part are collected when they are
/// loaded. Immutable, thread-safe.
class LocalParts {
 public:
  /// points: [n × d]; must outlive the parts. Rows that are not in memory are read again for each part. units: [n]
  /// weights in whole units, or empty; must outlive the parts. reaches: the distances of the views that will be
  /// requested, ascending. O(n·(d + min(parts, 32 + log parts))), in parallel. Throws UsageError as GhostFinder,
  /// ResourceError if 32-bit ids cannot number the points of a part and its ghosts, and TooManyGhosts if all parts
  /// together have more than most_ghosts.
  LocalParts(PointRows points, std::span<const std::int64_t> units, const Partition& partition, const Space& space,
             std::vector<double> reaches, std::uint64_t most_ghosts = ~std::uint64_t{0});

  /// The own points of each part.
  [[nodiscard]] const RowsByPart& rows() const noexcept { return rows_; }
  [[nodiscard]] std::size_t parts() const noexcept { return rows_.parts(); }
  /// Bytes of memory in addition to the points: the most that is used, which is while ghosts are sorted.
  [[nodiscard]] std::uint64_t bytes() const noexcept;
  /// The bytes() of one ghost.
  [[nodiscard]] static std::uint64_t ghost_bytes(const PointRows& points, bool weights) noexcept;
  /// The number of points of the largest part, with its ghosts of the largest reach.
  [[nodiscard]] std::uint64_t most_points() const noexcept { return most_; }

  /// Returns the view of a part. inner, outer: the distances of its ghosts (PartReach), two of the reaches.
  [[nodiscard]] PartView view(std::size_t part, double inner, double outer) const;
  /// Returns a source of the points of a view, which a backend loads. inner, outer: as for view(). This object must
  /// outlive the source.
  [[nodiscard]] PointsSource source(const PartView& view, double inner, double outer) const;

 private:
  template <class T>
  void assign(const Partition& partition, const Space& space);
  /// Lists the rows of some blocks by part, and finds their ghosts. Dims: the coordinates, or 0 if not compiled in.
  template <class T, std::size_t Dims>
  void assign(const PartFinder<T>& parts, const GhostFinder& ghosts, std::size_t first_block, std::size_t last_block,
              FoundGhosts<T>& found);

  void write_own(std::size_t part, std::size_t first, std::size_t last, std::byte* to) const;
  /// Calls f(first, last) for each owning part, with the range in ghosts_ of the ghosts of `part` within `inner`.
  /// for_beyond() does so for the ghosts between `inner` and `outer`.
  template <class F>
  void for_near(std::size_t part, double inner, F&& f) const;
  template <class F>
  void for_beyond(std::size_t part, double inner, double outer, F&& f) const;
  [[nodiscard]] std::size_t pair(std::size_t of, std::size_t to) const noexcept { return of * parts() + to; }

  PointRows points_;
  std::span<const std::int64_t> units_;
  std::vector<double> reaches_;
  std::uint64_t most_ = 0;
  RowsByPart rows_;
  const std::uint64_t most_ghosts_;
  std::atomic<std::uint64_t> found_{0};  ///< number of ghosts so far
  GhostLists ghosts_;                    ///< pairs: [of × to]
};

}  // namespace epsflow::parts
