#include <epsflow/clustering/cells_within.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <vector>

#include <epsflow/core/points.hpp>
#include <epsflow/index/cell_axes.hpp>
#include <epsflow/index/distance.hpp>

namespace epsflow::clustering {
namespace {

using Positions = std::span<std::uint32_t>;

/// Up to this number, pairs are tested one by one.
constexpr std::uint64_t kFewPairs = 256;

template <class T>
class Bisection {
 public:
  /// coordinates: an array for each axis.
  template <class Arrays>
  Bisection(const Arrays& coordinates, std::size_t dims, double eps_squared) : dims_(dims), eps_squared_(eps_squared) {
    for (std::size_t k = 0; k < dims_; ++k) coordinates_[k] = static_cast<const T*>(coordinates[k]);
  }

  [[nodiscard]] bool any_within(Positions a, Positions b) const {
    if (a.empty() || b.empty()) return false;
    return any_within(a, bounds_of(a), b, bounds_of(b));
  }

 private:
  struct BoundingBox {
    std::array<double, index::kMostDenseBoxDims> lo{};
    std::array<double, index::kMostDenseBoxDims> hi{};
  };

  [[nodiscard]] bool any_within(Positions a, const BoundingBox& bounds_a, Positions b,
                                const BoundingBox& bounds_b) const {
    if (!(distance(bounds_a, bounds_b) <= eps_squared_)) return false;
    if (std::uint64_t{a.size()} * b.size() <= kFewPairs) return any_pair_within(a, b);
    if (apart_in_direction(a, bounds_a, b, bounds_b)) return false;
    // The wider set is cut: halving a heap beside a long curve would not change the distance of the bounds.
    const bool cut_a = b.size() < 2 || (a.size() >= 2 && width(bounds_a) >= width(bounds_b));
    if (!cut_a) return any_within(b, bounds_b, a, bounds_a);
    const std::size_t axis = widest_axis(bounds_a);
    const auto middle = a.begin() + static_cast<std::ptrdiff_t>(a.size() / 2);
    std::nth_element(a.begin(), middle, a.end(),
                     [&](std::uint32_t p, std::uint32_t q) { return coordinates_[axis][p] < coordinates_[axis][q]; });
    Positions halves[2] = {a.first(a.size() / 2), a.subspan(a.size() / 2)};
    BoundingBox of_halves[2] = {bounds_of(halves[0]), bounds_of(halves[1])};
    const bool second_first = distance(of_halves[1], bounds_b) < distance(of_halves[0], bounds_b);
    for (const std::size_t half : {std::size_t{second_first}, std::size_t{!second_first}}) {
      if (any_within(halves[half], of_halves[half], b, bounds_b)) return true;
    }
    return false;
  }

  [[nodiscard]] BoundingBox bounds_of(Positions positions) const {
    BoundingBox bounds;
    for (std::size_t k = 0; k < dims_; ++k) {
      bounds.lo[k] = bounds.hi[k] = coordinates_[k][positions.front()];
      for (const std::uint32_t p : positions) {
        bounds.lo[k] = std::min<double>(bounds.lo[k], coordinates_[k][p]);
        bounds.hi[k] = std::max<double>(bounds.hi[k], coordinates_[k][p]);
      }
    }
    return bounds;
  }

  [[nodiscard]] std::size_t widest_axis(const BoundingBox& bounds) const {
    std::size_t widest = 0;
    for (std::size_t k = 1; k < dims_; ++k) {
      if (bounds.hi[k] - bounds.lo[k] > bounds.hi[widest] - bounds.lo[widest]) widest = k;
    }
    return widest;
  }

  [[nodiscard]] double width(const BoundingBox& bounds) const {
    const std::size_t axis = widest_axis(bounds);
    return bounds.hi[axis] - bounds.lo[axis];
  }

  /// Returns true if a line between the sets, perpendicular to the line between the centres of their bounds, shows that
  /// all pairs are farther apart than eps: bounds are loose around slanted curves. Returns false if that is within
  /// rounding.
  ///
  /// Coordinates are relative to a corner of the bounds, so that every product is at most `scale` and rounding is less
  /// than 2^-48 of it; then the sum that the distance test computes exceeds eps² if the real distance exceeds eps·(1 +
  /// 2^-40).
  [[nodiscard]] bool apart_in_direction(Positions a, const BoundingBox& bounds_a, Positions b,
                                        const BoundingBox& bounds_b) const {
    std::array<double, index::kMostDenseBoxDims> from{};
    std::array<double, index::kMostDenseBoxDims> direction{};
    double length = 0;
    double scale = 0;
    for (std::size_t k = 0; k < dims_; ++k) {
      from[k] = std::min(bounds_a.lo[k], bounds_b.lo[k]);
      direction[k] = ((bounds_b.lo[k] - from[k]) + (bounds_b.hi[k] - from[k])) / 2 -
                     ((bounds_a.lo[k] - from[k]) + (bounds_a.hi[k] - from[k])) / 2;
      length += direction[k] * direction[k];
      scale += std::max(bounds_a.hi[k], bounds_b.hi[k]) - from[k];
    }
    length = std::sqrt(length);
    if (!(length > 0) || !std::isfinite(length) || !std::isfinite(scale)) return false;
    const auto along = [&](std::uint32_t p) {
      double sum = 0;
      for (std::size_t k = 0; k < dims_; ++k) sum += (coordinates_[k][p] - from[k]) * (direction[k] / length);
      return sum;
    };
    double end_of_a = along(a.front());
    for (const std::uint32_t p : a) end_of_a = std::max(end_of_a, along(p));
    double begin_of_b = along(b.front());
    for (const std::uint32_t q : b) begin_of_b = std::min(begin_of_b, along(q));
    return begin_of_b - end_of_a > std::sqrt(eps_squared_) * (1 + 0x1p-40) + scale * 0x1p-44;
  }

  /// Returns a lower bound on the squared distance, as computed, of any pair of points.
  [[nodiscard]] double distance(const BoundingBox& a, const BoundingBox& b) const {
    double sum = 0;
    for (std::size_t k = 0; k < dims_; ++k) {
      const double gap = std::max({0.0, a.lo[k] - b.hi[k], b.lo[k] - a.hi[k]});
      sum += gap * gap;
    }
    return sum;
  }

  [[nodiscard]] bool any_pair_within(Positions a, Positions b) const {
    for (const std::uint32_t p : a) {
      for (const std::uint32_t q : b) {
        if (index::is_neighbor<0>([&](std::size_t k) { return coordinates_[k][p]; },
                                  [&](std::size_t k) { return coordinates_[k][q]; }, dims_, eps_squared_)) {
          return true;
        }
      }
    }
    return false;
  }

  std::size_t dims_;
  double eps_squared_;
  std::array<const T*, index::kMostDenseBoxDims> coordinates_{};
};

std::vector<std::uint32_t> core_points(Range range, const std::uint32_t* counts, std::uint32_t minpts) {
  std::vector<std::uint32_t> core;
  for (std::uint32_t p = range.begin; p < range.end; ++p) {
    if (counts[p] >= minpts) core.push_back(p);
  }
  return core;
}

}  // namespace

bool any_core_within(const index::SearchInput& in, Range a, Range b, const std::uint32_t* counts,
                     std::uint32_t minpts) {
  std::vector<std::uint32_t> of_a = core_points(a, counts, minpts);
  std::vector<std::uint32_t> of_b = core_points(b, counts, minpts);
  const auto any = [&]<class T>(T) { return Bisection<T>(in.coordinates, in.dims, in.limit).any_within(of_a, of_b); };
  return in.precision == Precision::float32 ? any(0.0F) : any(0.0);
}

bool any_within(std::span<const double* const> coordinates, double eps_squared, std::span<std::uint32_t> a,
                std::span<std::uint32_t> b) {
  return Bisection<double>(coordinates, coordinates.size(), eps_squared).any_within(a, b);
}

}  // namespace epsflow::clustering
