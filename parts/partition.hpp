// Space cut into parts, one for each rank.
//
// Recursive bisection (Berger & Bokhari 1987): space is cut across its longest side so that both sides have points as their ranks are many,
// and so on. Any cuts give the same labels; good ones give parts of equal size with few points near their faces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <epsflow/core/points.hpp>
#include <epsflow/core/space_cut.hpp>
#include <epsflow/parts/exchange.hpp>
#include <epsflow/pipeline/point_rows.hpp>

namespace epsflow::parts {

/// Parts are boxes, open where space is: below a cut is one side, at and above it the other.
class Partition {
 public:
  using Cut = SpaceCut;

  /// One part: all space.
  Partition() = default;
  /// cuts: the first is of all space. Each part from 0 to cuts.size() must be on one side of one cut.
  explicit Partition(std::vector<Cut> cuts) : cuts_(std::move(cuts)) {}

  [[nodiscard]] std::size_t parts() const noexcept { return cuts_.size() + 1; }
  [[nodiscard]] std::span<const Cut> cuts() const noexcept { return cuts_; }

  /// The part that a point lies in. O(log parts). point(k): coordinate k.
  template <class Point>
  [[nodiscard]] std::uint32_t part_of(const Point& point) const {
    std::int32_t at = cuts_.empty() ? -1 : 0;
    while (at >= 0) {
      const Cut& cut = cuts_[static_cast<std::size_t>(at)];
      at = point(cut.axis) < cut.at ? cut.below : cut.above;
    }
    return static_cast<std::uint32_t>(-1 - at);
  }

  /// The sides of a part, infinite where nothing is cut.
  struct Box {
    std::vector<double> lo;
    std::vector<double> hi;
  };
  [[nodiscard]] Box box_of(std::uint32_t part, std::size_t dims) const;

  /// Calls f(part, distance) for all parts that are no farther than `reach` along any axis. distance: the largest along one, 0 for the part
  /// that the point lies in. No point of a part is nearer along that axis, rounded.
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
    // Rounding keeps order: what lies beyond the cut is as far, rounded.
    const double to_cut = below ? cut.at - x : x - cut.at;
    if (to_cut <= reach) visit(point, reach, below ? cut.above : cut.below, to_cut > distance ? to_cut : distance, f);
  }

  std::vector<Cut> cuts_;
};

/// As many parts as there are ranks. points: those of this rank, in any distribution. Collective. Looks at some 65,536 of them for
/// each rank, O(d · log ranks) for each, and sums O(ranks · d) bytes over all ranks log ranks times.
[[nodiscard]] Partition cut_space(Exchange& exchange, PointsView points);
/// So many parts of points in one place. O(parts · d · log parts). Throws InputError where a coordinate that it looks at is NaN or infinite.
[[nodiscard]] Partition cut_space(const PointRows& points, std::size_t parts);

}  // namespace epsflow::parts
