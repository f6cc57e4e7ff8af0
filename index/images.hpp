// Replaces a periodic box by a plain space: with images of the points near its faces added, points have the neighbours
// that they have in the box.
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

/// Returns true if images can replace periodic distances. This requires the Euclidean norm, no slices, at most
/// kMostDenseBoxDims dimensions, and closed axes longer than about 2.002·eps. On such axes, of a point and its images
/// at most one is a neighbour of another point. Returns false if no axis is closed.
[[nodiscard]] bool images_serve(const Space& space, double eps, std::size_t dims) noexcept;

/// The images of the points near faces: copies shifted by the lengths of axes, so that they lie beyond the opposite
/// faces.
///
/// Images lie up to a little more than 2·eps beyond a face. Therefore an image at most eps beyond a face has all the
/// neighbours of its point, and an image farther out may lack some. So an image never has more neighbours than its
/// point, and is counted as core only if its point is core. If two core points are neighbours in the box across a face,
/// one of them and an image of the other are counted as core and are neighbours here. So once each image that is
/// counted as core is united with its point, the clusters are the same as in the box. Counts and border points of the
/// points themselves are exact.
///
/// Distances to images equal the periodic distances to the last bit. The reason is that coordinates are multiples of a
/// power of two for which differences and shifts by a length are not rounded (core/space.hpp).
struct Imaging {
  double length[kMostDenseBoxDims] = {};  ///< length of each closed axis; 0 for an open one
  double below[kMostDenseBoxDims] =
      {};  ///< a point has an image beyond the upper face if its coordinate is at most this
  double above[kMostDenseBoxDims] = {};  ///< points from this coordinate on have an image beyond the lower face
  std::uint32_t dims = 0;

  Imaging() = default;
  Imaging(const Space& space, double eps, std::size_t dimensions) noexcept;

  /// Returns the expected number of images per point if points are spread evenly.
  [[nodiscard]] double even_share() const noexcept;

  /// Calls f(shift) for each image of a point. shift: [dims], is added to the coordinates. point(k): coordinate k.
  template <class Point, class F>
  EPSFLOW_HOST_DEVICE void for_each(Point point, F f) const {
    unsigned low = 0;   // axes on which the point is near the lower face
    unsigned high = 0;  // axes on which the point is near the upper face
    for (unsigned k = 0; k < kMostDenseBoxDims; ++k) {
      if (k >= dims || length[k] == 0) continue;
      const auto x = static_cast<double>(point(k));
      // A limit is a face, which is exact, plus or minus a width, and is rounded once. Rounding keeps order, so a
      // coordinate exactly at the limit is not beyond the rounded one: the point has an image.
      if (x <= below[k]) low |= 1U << k;
      if (x >= above[k]) high |= 1U << k;
    }
    if ((low | high) == 0) return;
    // Visits each subset `up` of the axes in `low`, to be shifted up, with each subset `down` of the other axes in
    // `high`, to be shifted down. The pair of empty sets, which comes last, is the point itself.
    for (unsigned up = low;; up = (up - 1) & low) {
      const unsigned others = high & ~up;
      for (unsigned down = others;; down = (down - 1) & others) {
        if ((up | down) == 0) return;
        double shift[kMostDenseBoxDims];
        for (unsigned k = 0; k < kMostDenseBoxDims; ++k) {
          shift[k] = ((up >> k) & 1U) != 0 ? length[k] : ((down >> k) & 1U) != 0 ? -length[k] : 0;
        }
        f(static_cast<const double*>(shift));
        if (down == 0) break;
      }
      if (up == 0) return;
    }
  }
};

/// Returns the number of images of all points, without the points themselves. O(n·d), in parallel.
[[nodiscard]] std::uint64_t count_images(PointsView points, const Imaging& imaging);

/// The points, followed by their images.
struct ImagedPoints {
  Points points;                  ///< [n + images], float64
  Buffer<std::uint32_t> origins;  ///< [images] the id of the point of each image
};
/// O(n·d), in parallel. Throws Cancelled, ResourceError.
[[nodiscard]] ImagedPoints make_images(PointsView points, const Imaging& imaging, const CancelToken& cancel);

}  // namespace epsflow::index
