// Points of a periodic box with the images of those near its faces: in a plain space they have the neighbours that the points
// have in the box.
#pragma once

#include <cstddef>
#include <cstdint>

#include <epsflow/core/buffer.hpp>
#include <epsflow/core/cancel.hpp>
#include <epsflow/core/host_device.hpp>
#include <epsflow/core/points.hpp>
#include <epsflow/core/space.hpp>
#include <epsflow/index/cell_axes.hpp>

namespace epsflow::index {

/// Whether images may stand for the way round. A box is at least as wide as two neighbourhoods then, so that no two images of a
/// point are neighbours of another. Not where axes are more than cells may be cliques of.
[[nodiscard]] bool images_serve(const Space& space, double eps, std::size_t dims) noexcept;

/// How a point goes beyond the faces that it is near.
///
/// Points are imaged up to two neighbourhoods beyond a face. So all images up to one neighbourhood beyond have all the
/// neighbours of the points they are of, while those farther out may miss some: an image that seems core is core, and whatever
/// two core points are neighbours in the box, one of them and an image of the other seem core and are neighbours here. Clusters
/// of points and images are those of the box, once each image that seems core is united with its point; and of the points,
/// counts and border points are right.
///
/// Coordinates are multiples of a power of two that differences do not round (core/space.hpp), so distances of images are those
/// the other way round to the last bit.
struct Imaging {
  double length[kMostCliqueDims] = {};  ///< of closed axes; 0 of others
  double below[kMostCliqueDims] = {};   ///< up to there points have an image beyond the upper face
  double above[kMostCliqueDims] = {};   ///< from there on, one beyond the lower face
  std::uint32_t dims = 0;

  Imaging() = default;
  Imaging(const Space& space, double eps, std::size_t dimensions) noexcept;

  /// Images per point where points are spread evenly.
  [[nodiscard]] double even_share() const noexcept;

  /// Calls f(shift) for each image of a point: what is added to its coordinates, [dims]. point(k): coordinate k.
  template <class Point, class F>
  EPSFLOW_HOST_DEVICE void for_each(Point point, F f) const {
    unsigned low = 0;   // axes whose lower face is near
    unsigned high = 0;  // whose upper one is
    for (unsigned k = 0; k < kMostCliqueDims; ++k) {
      if (k >= dims || length[k] == 0) continue;
      const auto x = static_cast<double>(point(k));
      // Faces are no less exact than coordinates, and rounding keeps order: what is at a limit counts.
      if (x <= below[k]) low |= 1U << k;
      if (x >= above[k]) high |= 1U << k;
    }
    if ((low | high) == 0) return;
    // All sets of axes to go up along, and with each all sets of others to go down along.
    for (unsigned up = low;; up = (up - 1) & low) {
      const unsigned others = high & ~up;
      for (unsigned down = others;; down = (down - 1) & others) {
        if ((up | down) == 0) return;
        double shift[kMostCliqueDims];
        for (unsigned k = 0; k < kMostCliqueDims; ++k) {
          shift[k] = ((up >> k) & 1U) != 0 ? length[k] : ((down >> k) & 1U) != 0 ? -length[k] : 0;
        }
        f(static_cast<const double*>(shift));
        if (down == 0) break;
      }
      if (up == 0) return;
    }
  }
};

/// Images of all points. O(n·d), in parallel.
[[nodiscard]] std::uint64_t count_images(PointsView points, const Imaging& imaging);

/// The points, and their images behind them.
struct ImagedPoints {
  Points points;                  ///< [n + images], float64
  Buffer<std::uint32_t> origins;  ///< [images] the point that each is of
};
/// O(n·d), in parallel. Throws Cancelled, ResourceError.
[[nodiscard]] ImagedPoints make_images(PointsView points, const Imaging& imaging, const CancelToken& cancel);

}  // namespace epsflow::index
