// Finds the ghosts: the points of a part that other parts need as neighbours.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <epsflow/core/space.hpp>
#include <epsflow/parts/partition.hpp>

namespace epsflow::parts {

/// Finds the parts that have a point as a ghost. Thread-safe. The partition and the space must outlive it.
class GhostFinder {
 public:
  /// space: the space of the points. reach: the largest distance of ghosts along any axis. Throws UsageError if a
  /// periodic axis is not longer than reach.
  GhostFinder(const Partition& partition, const Space& space, std::size_t dims, double reach);

  /// True only if a point of this part, and its images, are ghosts of no part. Dims: the number of its coordinates, or
  /// 0 if known only at run time.
  template <class T, std::size_t Dims = 0>
  [[nodiscard]] bool inside(std::uint32_t part, const T* point) const noexcept {
    const std::size_t d = Dims > 0 ? Dims : dims_;
    const double* const sides = sides_.data() + std::size_t{part} * 2 * d;
    bool in = true;
    for (std::size_t k = 0; k < d; ++k) {
      const auto x = static_cast<double>(point[k]);
      in = in & (x - sides[2 * k] > reach_) & (sides[2 * k + 1] - x > reach_);
    }
    return in;
  }

  /// Calls f(to, distance, position) for each ghost that a point of a part becomes. to: the part that has the ghost;
  /// for an image this may be the same part. distance: as in Partition::for_near(), from the ghost to part `to`; for an
  /// image at least its distance from each face of the box that it lies beyond. position: [dims] the coordinates of the
  /// ghost: of the point, or of its image in a periodic box; valid during the call. scratch: working memory.
  template <class F>
  void for_ghosts(std::uint32_t part, std::span<const double> point, std::vector<double>& scratch, F&& f) const {
    if (!periodic_) {
      return partition_.for_near([&](std::size_t k) { return point[k]; }, reach_,
                                 [&](std::uint32_t to, double distance) {
                                   if (to != part) f(to, distance, point);
                                 });
    }
    scratch.assign(2 * dims_, 0);
    const std::span<double> shift(scratch.data(), dims_), position(scratch.data() + dims_, dims_);
    for_images(point, shift, 0, [&] {
      const bool itself = std::all_of(shift.begin(), shift.end(), [](double s) { return s == 0; });
      for (std::size_t k = 0; k < dims_; ++k) position[k] = point[k] + shift[k];
      partition_.for_near([&](std::size_t k) { return position[k]; }, reach_,
                          [&](std::uint32_t to, double distance) {
                            if (to == part && itself) return;
                            // An image lies outside a face, so it is at least as far from any part as from that face.
                            for (std::size_t k = 0; k < dims_; ++k) {
                              const double from_lo = shift[k] != 0 ? point[k] - space_.axes[k].lo : 0;
                              if (shift[k] > 0) distance = std::max(distance, from_lo);
                              if (shift[k] < 0) distance = std::max(distance, space_.period(k) - from_lo);
                            }
                            f(to, distance, std::span<const double>(position));
                          });
    });
  }

 private:
  /// Calls f for the point itself, with shift 0, and for each of its images beyond a near face of the periodic box.
  template <class F>
  void for_images(std::span<const double> point, std::span<double> shift, std::size_t axis, F&& f) const {
    if (axis == dims_) return f();
    shift[axis] = 0;
    for_images(point, shift, axis + 1, f);
    const double length = space_.period(axis);
    if (length == 0) return;
    const double from_lo = point[axis] - space_.axes[axis].lo;
    if (from_lo <= reach_) {
      shift[axis] = length;
      for_images(point, shift, axis + 1, f);
    }
    if (length - from_lo <= reach_) {
      shift[axis] = -length;
      for_images(point, shift, axis + 1, f);
    }
    shift[axis] = 0;
  }

  const Partition& partition_;
  const Space& space_;
  std::size_t dims_;
  double reach_;
  bool periodic_ = false;
  std::vector<double> sides_;  ///< [parts × dims × 2] the sides of the parts, clipped to the box
};

/// Throws ResourceError if 32-bit ids cannot number this many points and ghosts of a part.
void require_count(std::uint64_t points);

}  // namespace epsflow::parts
