// Points of a periodic box with the images of those near its faces: in a plain space they have the neighbours that the points
// have in the box.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

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
  double below[kMostCliqueDims] = {};   ///< what is less has an image beyond the upper face
  double above[kMostCliqueDims] = {};   ///< what is more has one beyond the lower face
  std::uint32_t dims = 0;

  Imaging() = default;
  Imaging(const Space& space, double eps, std::size_t dimensions) noexcept;

  /// Calls f(shifts) for each image of a point: what is added to its coordinates, [dims]. point(k): coordinate k.
  template <class Point, class F>
  EPSFLOW_HOST_DEVICE void for_each(Point point, F f) const {
    double shifts[kMostCliqueDims][3] = {};
    std::uint32_t counts[kMostCliqueDims] = {};
    std::uint32_t total = 1;
    for (std::uint32_t k = 0; k < dims; ++k) {
      const auto x = static_cast<double>(point(k));
      shifts[k][counts[k]++] = 0;
      if (length[k] > 0 && x < below[k]) shifts[k][counts[k]++] = length[k];
      if (length[k] > 0 && x > above[k]) shifts[k][counts[k]++] = -length[k];
      total *= counts[k];
    }
    for (std::uint32_t image = 1; image < total; ++image) {
      double shift[kMostCliqueDims] = {};
      std::uint32_t rest = image;
      for (std::uint32_t k = 0; k < dims; ++k) {
        shift[k] = shifts[k][rest % counts[k]];
        rest /= counts[k];
      }
      f(shift);
    }
  }
};

/// What `images_serve` needs of memory, and whether they are few enough to be worth it is their number. O(n·d), in parallel.
[[nodiscard]] std::uint64_t count_images(PointsView points, const Imaging& imaging);

/// The points, and their images behind them.
struct ImagedPoints {
  Points points;                  ///< [n + images], float64
  Buffer<std::uint32_t> origins;  ///< [images] the point that each is of
};
/// O(n·d), in parallel. Throws Cancelled, ResourceError.
[[nodiscard]] ImagedPoints make_images(PointsView points, const Imaging& imaging, const CancelToken& cancel);

}  // namespace epsflow::index
