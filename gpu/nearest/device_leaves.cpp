#include <epsflow/gpu/nearest/device_leaves.hpp>

#include <algorithm>
#include <cmath>

#include <epsflow/gpu/base/tuning.hpp>
#include <epsflow/gpu/nearest/near_frame.hpp>
#include <epsflow/index/curve.hpp>

namespace epsflow::gpu {
namespace {

constexpr std::uint32_t groups_of(std::uint32_t size, std::uint32_t of) noexcept { return (size + of - 1) / of; }

double largest_extent(const DevicePoints& points) noexcept {
  double largest = 0;
  for (const index::Extent& extent : points.extents()) largest = std::max(largest, extent.hi - extent.lo);
  return largest;
}

index::Curve curve_through(const DevicePoints& points) noexcept {
  double lo[kMostNearestDims] = {}, hi[kMostNearestDims] = {};
  for (std::size_t k = 0; k < points.extents().size(); ++k) {
    lo[k] = points.extents()[k].lo;
    hi[k] = points.extents()[k].hi;
  }
  return {lo, hi, points.extents().size()};
}

/// Allocates the boxes of all levels in one array.
template <class T>
DeviceBuffer<std::byte> allocate_boxes(LeafView& view, DeviceMemory& memory, cudaStream_t stream) {
  std::uint64_t first[kMostLevels] = {};
  std::uint64_t ends = 0;
  for (std::uint32_t count = groups_of(view.size, kDeviceLeaf);; count = groups_of(count, kDeviceBranch)) {
    first[view.levels] = ends;
    view.counts[view.levels++] = count;
    ends += std::uint64_t{2} * view.dims * count;
    if (count <= kDeviceBranch) break;
  }
  DeviceBuffer<std::byte> boxes(memory, stream, ends * sizeof(T));
  for (unsigned level = 0; level < view.levels; ++level) {
    view.boxes[level] = reinterpret_cast<T*>(boxes.data()) + first[level];
  }
  return boxes;
}

}  // namespace

bool can_order(const DevicePoints& points) {
  const auto [data, size, dims, precision] = points.device();
  if (!points.space().plain() || dims > kMostNearestDims || size == 0) return false;
  // Sums are scaled to units of the points; in this range that neither overflows nor underflows.
  const double extent = largest_extent(points);
  return extent == 0 || (extent > 1e-140 && extent < 1e150);
}

std::optional<DeviceLeaves> DeviceLeaves::of(const DevicePoints& points, DeviceMemory& memory, const Stream& stream) {
  const PointsOnDevice given = points.device();
  const cudaStream_t on = stream.get();
  const bool single = given.precision == Precision::float32;
  const std::uint64_t size = given.size;
  DeviceLeaves leaves;
  LeafView& view = leaves.view_;
  view = {.size = given.size, .dims = given.dims, .precision = given.precision};
  if (const double extent = largest_extent(points); extent > 0) view.scale = std::exp2(-std::ilogb(extent));

  leaves.coordinates_ = DeviceBuffer<std::byte>(memory, on, size * given.dims * bytes_of(given.precision));
  leaves.boxes_ = single ? allocate_boxes<float>(view, memory, on) : allocate_boxes<double>(view, memory, on);
  DeviceBuffer<std::uint32_t> ids(memory, on, size), other_ids(memory, on, size);
  const DeviceBuffer<std::uint64_t> numbers(memory, on, size), other_numbers(memory, on, size);
  const DeviceBuffer<std::uint32_t> unresolved(memory, on, 1);
  launch_curve_numbers(given, curve_through(points), numbers.data(), ids.data(), on);
  TwoBuffers<std::uint64_t> keys{numbers.data(), other_numbers.data()};
  TwoBuffers<std::uint32_t> values{ids.data(), other_ids.data()};
  launch_sort(keys, values, size, static_cast<int>(given.dims * index::curve_bits(given.dims)), {memory, on});
  leaves.order_ = std::move(values.current == ids.data() ? ids : other_ids);
  view.order = leaves.order_.data();
  launch_gather(given, view.order, leaves.coordinates_.data(), on);
  view.coordinates = leaves.coordinates_.data();
  launch_count_unresolved(view, keys.current, unresolved.data(), on);
  launch_boxes(view, on);
  if (read_values(unresolved.data(), 1, on).front() > tuning::kMostUnresolved) return std::nullopt;
  return leaves;
}

}  // namespace epsflow::gpu
