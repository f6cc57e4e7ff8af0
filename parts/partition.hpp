// Cuts space into parts: one for each rank, or a given number of parts in one process.
//
// Recursive bisection (Berger & Bokhari 1987): the box of the points is cut across its longest side, and each side is
// cut again. The number of points on each side is proportional to the number of its parts. Any cuts give the same
// labels. Good cuts give parts of equal size with few points near their faces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <epsflow/core/points.hpp>
#include <epsflow/core/space_cut.hpp>
#include <epsflow/parts/communicator.hpp>
#include <epsflow/pipeline/point_rows.hpp>

namespace epsflow::parts {

/// Parts are boxes, unbounded at the border of space. A point at a cut belongs to the side above.
class Partition {
 public:
  using Cut = SpaceCut;

  /// One part: all space.
  Partition() = default;
  /// cuts: the first divides all space. Each part from 0 to cuts.size() must be one side of exactly one cut.
  explicit Partition(std::vector<Cut> cuts) : cuts_(std::move(cuts)) {}

  [[nodiscard]] std::size_t parts() const noexcept { return cuts_.size() + 1; }
  [[nodiscard]] std::span<const Cut> cuts() const noexcept { return cuts_; }

  /// Returns the part in which a point lies. point(k): coordinate k. O(log parts) for the cuts of cut_space().
  template <class Point>
  [[nodiscard]] std::uint32_t part_of(const Point& point) const {
    std::int32_t at = cuts_.empty() ? -1 : 0;
    while (at >= 0) {
      const Cut& cut = cuts_[static_cast<std::size_t>(at)];
      at = point(cut.axis) < cut.at ? cut.below : cut.above;
    }
    return static_cast<std::uint32_t>(-1 - at);
  }

  /// The sides of a part, infinite if nothing is cut there.
  struct Box {
    std::vector<double> lo;
    std::vector<double> hi;
  };
  [[nodiscard]] Box box_of(std::uint32_t part, std::size_t dims) const;

  /// Calls f(part, distance) for all parts at most `reach` from the point along every axis. `distance` is the largest
  /// distance along an axis from the point to the part, rounded, or 0 for the point's own part. No point of the part
  /// has a smaller rounded distance on that axis.
  template <class Point, class F>
  void for_near(const Point& point, double reach, F&& f) const {
    visit(point, reach, cuts_.empty() ? -1 : 0, 0, f);
  }

 private:
  template <class Point, class F>
  void visit(const Point& point, double reach, std::int32_t at, double distance, F& f) const {
    if (at < 0) return f(static_cast<std::uint32_t>(-1 - at), distance);
    const Cut& cut = cuts_[static_cast<std::size_t>(at)];
    const double x = point(cut.axis);
    const bool below = x < cut.at;
    visit(point, reach, below ? cut.below : cut.above, distance, f);
    // Rounding is monotonic: points beyond the cut are at least at this rounded distance.
    const double to_cut = below ? cut.at - x : x - cut.at;
    if (to_cut <= reach) visit(point, reach, below ? cut.above : cut.below, to_cut > distance ? to_cut : distance, f);
  }

  std::vector<Cut> cuts_;
};

/// Returns the same cuts on each rank, which make one part for each rank. points: the points of this rank, in any
/// distribution. Collective. It samples all points or, on average, 65,536 to 131,072 per rank, each in O(d · log
/// ranks). Ranks sum O(ranks · d) bytes log ranks times. Throws InputError if a sampled coordinate is NaN or infinite.
[[nodiscard]] Partition cut_space(Communicator& communicator, PointsView points);
/// Returns cuts that make `parts` parts of the points of this process. parts: at least 1. Samples as many points as for
/// ranks: O(parts · d · log parts). Throws InputError if a sampled coordinate is NaN or infinite. The error names a row
/// of the sample.
[[nodiscard]] Partition cut_space(const PointRows& points, std::size_t parts);

}  // namespace epsflow::parts
