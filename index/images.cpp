#include <epsflow/index/images.hpp>

#include <algorithm>
#include <vector>

#include <epsflow/core/parallel.hpp>
#include <epsflow/index/distance.hpp>

namespace epsflow::index {
namespace {

constexpr std::size_t kBlock = 1 << 14;
/// Covers the rounding in the width of a layer; Imaging::for_each() includes points exactly at a rounded limit.
constexpr double kSlack = 1 + 0x1p-10;

/// Calls f(block, first, last) for blocks of points.
template <class F>
void for_blocks(std::size_t n, F&& f) {
  parallel_for((n + kBlock - 1) / kBlock, [&](std::size_t b) { f(b, b * kBlock, std::min(n, (b + 1) * kBlock)); });
}

/// Returns the number of images of the points before each block. [blocks + 1]
std::vector<std::uint64_t> count_by_block(PointsView points, const Imaging& imaging) {
  std::vector<std::uint64_t> before((points.size() + kBlock - 1) / kBlock + 1);
  points.visit([&](auto values) {
    for_blocks(points.size(), [&](std::size_t b, std::size_t first, std::size_t last) {
      std::uint64_t count = 0;
      for (std::size_t i = first; i < last; ++i) {
        const auto* const row = values.data() + i * points.dims();
        imaging.for_each([row](std::size_t k) { return row[k]; }, [&](const double*) { ++count; });
      }
      before[b + 1] = count;
    });
  });
  for (std::size_t b = 1; b < before.size(); ++b) before[b] += before[b - 1];
  return before;
}

}  // namespace

bool images_serve(const Space& space, double eps, std::size_t dims) noexcept {
  if (space.norm != Norm::euclidean || space.axes.empty() || dims > kMostDenseBoxDims) return false;
  if (space.slices != nullptr) return false;  // images come after all points, in no slice
  const double reach = neighbor_reach(eps) * kSlack;
  return std::all_of(space.axes.begin(), space.axes.end(),
                     [&](const ClosedAxis& axis) { return axis.length == 0 || axis.length > 2 * reach; });
}

Imaging::Imaging(const Space& space, double eps, std::size_t dimensions) noexcept
    : dims(static_cast<std::uint32_t>(dimensions)) {
  const double layer = 2 * neighbor_reach(eps) * kSlack;
  for (std::size_t k = 0; k < dimensions && k < space.axes.size(); ++k) {
    length[k] = space.axes[k].length;
    below[k] = space.axes[k].lo + layer;
    above[k] = space.axes[k].lo + space.axes[k].length - layer;
  }
}

double Imaging::even_share() const noexcept {
  double times = 1;
  for (std::uint32_t k = 0; k < dims; ++k) {
    if (length[k] > 0) times *= 2 + (below[k] - above[k]) / length[k];
  }
  return times - 1;
}

std::uint64_t count_images(PointsView points, const Imaging& imaging) { return count_by_block(points, imaging).back(); }

ImagedPoints make_images(PointsView points, const Imaging& imaging, const CancelToken& cancel) {
  const std::size_t n = points.size();
  const std::size_t dims = points.dims();
  const std::vector<std::uint64_t> before = count_by_block(points, imaging);
  cancel.check();
  ImagedPoints made{Points(n + before.back(), dims, Precision::float64), Buffer<std::uint32_t>(before.back())};
  double* const out = made.points.values<double>().data();
  points.visit([&](auto values) {
    for_blocks(n, [&](std::size_t b, std::size_t first, std::size_t last) {
      std::uint64_t at = before[b];
      for (std::size_t i = first; i < last; ++i) {
        const auto* const row = values.data() + i * dims;
        for (std::size_t k = 0; k < dims; ++k) out[i * dims + k] = row[k];
        imaging.for_each([row](std::size_t k) { return row[k]; },
                         [&](const double* shift) {
                           for (std::size_t k = 0; k < dims; ++k) out[(n + at) * dims + k] = row[k] + shift[k];
                           made.origins[at++] = static_cast<std::uint32_t>(i);
                         });
      }
    });
  });
  cancel.check();
  return made;
}

}  // namespace epsflow::index
