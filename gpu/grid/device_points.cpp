#include <epsflow/gpu/grid/device_points.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include <epsflow/core/checked.hpp>
#include <epsflow/gpu/base/upload.hpp>

namespace epsflow::gpu {
namespace {

/// Returns true if kernels may load the points: in two dimensions they load both coordinates at once.
bool is_aligned(const DevicePointsView& points) {
  const std::size_t loaded = bytes_of(points.precision()) * (points.dims() == 2 ? 2 : 1);
  return reinterpret_cast<std::uintptr_t>(points.data()) % loaded == 0;
}

}  // namespace

DevicePoints::DevicePoints(PointsView points, int device, DeviceMemory& memory, PinnedPool& pinned, unsigned threads,
                           const Space& space)
    : host_(points),
      space_(space),
      data_(memory, stream_.get(), points.bytes()),
      periods_(memory, stream_.get(), space.axes.size()) {
  device_ = {data_.data(), narrow<std::uint32_t>(points.size()), static_cast<std::uint32_t>(points.dims()),
             points.precision()};
  stream_.synchronize();  // the memory is allocated now
  upload(data_.data(), points.data(), points.bytes(),
         {.device = device, .pinned = pinned, .threads = threads, .in_arena = true});
  finish_upload(memory);
}

void DevicePoints::finish_upload(DeviceMemory& memory) {
  std::vector<double> periods;
  for (const ClosedAxis& axis : space_.axes) periods.push_back(axis.length);
  if (!periods.empty()) {
    check(cudaMemcpyAsync(periods_.data(), periods.data(), periods_.bytes(), cudaMemcpyHostToDevice, stream_.get()));
    stream_.synchronize();
  }
  upload_slices(memory);
  require_finite(memory);
  find_extents(memory);
}

DevicePoints::DevicePoints(const PointsSource& points, int device, DeviceMemory& memory, PinnedPool& pinned,
                           unsigned threads, Space space)
    : space_(std::move(space)),
      on_host_(points.size == 0),
      copy_(points.size, points.dims, points.precision),
      data_(memory, stream_.get(), points.bytes()),
      periods_(memory, stream_.get(), space_.axes.size()) {
  host_ = copy_.view();
  device_ = {data_.data(), narrow<std::uint32_t>(points.size), static_cast<std::uint32_t>(points.dims),
             points.precision};
  stream_.synchronize();  // the memory is allocated now
  upload(data_.data(), points, {device, pinned, threads});
  finish_upload(memory);
}

DevicePoints::DevicePoints(const DevicePointsView& points, DeviceMemory& memory, Space space)
    : space_(std::move(space)), on_host_(points.size() == 0), copy_(points.size(), points.dims(), points.precision()) {
  host_ = copy_.view();
  device_ = {points.data(), narrow<std::uint32_t>(points.size()), static_cast<std::uint32_t>(points.dims()),
             points.precision()};
  const Event made;
  check(cudaEventRecord(made.get(), points.stream()));
  check(cudaStreamWaitEvent(stream_.get(), made.get()));
  if (!is_aligned(points)) {
    data_ = {memory, stream_.get(), points.bytes()};
    check(cudaMemcpyAsync(data_.data(), points.data(), points.bytes(), cudaMemcpyDeviceToDevice, stream_.get()));
    device_.data = data_.data();
  }
  upload_slices(memory);
  require_finite(memory);
  find_extents(memory);
}

std::shared_ptr<const DevicePoints> DevicePoints::with_images(const DevicePoints& points, const index::Imaging& imaging,
                                                              DeviceMemory& memory) {
  const PointsOnDevice from = points.device();
  const std::uint64_t most = std::min<std::uint64_t>(from.size, kMostGpuPoints - from.size);
  std::shared_ptr<DevicePoints> made(new DevicePoints);
  const cudaStream_t stream = made->stream_.get();
  const DeviceBuffer<std::uint64_t> count(memory, stream, 1);
  constexpr double kUneven = 1.5;
  constexpr double kFew = 1024;
  const double expected = kUneven * imaging.even_share() * from.size + kFew;
  std::uint64_t capacity = expected < static_cast<double>(most) ? static_cast<std::uint64_t>(expected) : most;
  while (true) {
    made->data_ = {memory, stream, (from.size + capacity) * from.dims * sizeof(double)};
    made->origins_ = {memory, stream, capacity};
    launch_make_images(from, imaging, capacity, count.data(), reinterpret_cast<double*>(made->data_.data()),
                       made->origins_.data(), stream);
    const std::uint64_t images = read_values(count.data(), 1, stream).front();
    if (images > most) return nullptr;
    made->images_ = static_cast<std::uint32_t>(images);
    if (images <= capacity) break;
    capacity = images;
    made->data_ = {};  // frees the old memory before its replacement is allocated
    made->origins_ = {};
  }
  made->on_host_ = false;
  made->copy_ = Points(std::uint64_t{from.size} + made->images_, from.dims, Precision::float64);
  made->host_ = made->copy_.view();
  made->device_ = {made->data_.data(), from.size + made->images_, from.dims, Precision::float64};
  for (std::uint32_t k = 0; k < from.dims; ++k) {
    index::Extent extent = points.extents()[k];
    if (imaging.length[k] > 0) extent = {imaging.above[k] - imaging.length[k], imaging.below[k] + imaging.length[k]};
    made->extents_.push_back(extent);
  }
  return made;
}

void DevicePoints::upload_slices(DeviceMemory& memory) {
  if (space_.slices == nullptr) return;
  const std::span<const std::uint32_t> starts = space_.slices->starts();
  slice_starts_ = {memory, stream_.get(), starts.size()};
  check(
      cudaMemcpyAsync(slice_starts_.data(), starts.data(), starts.size_bytes(), cudaMemcpyHostToDevice, stream_.get()));
}

void DevicePoints::require_finite(DeviceMemory& memory) const {
  if (device_.size == 0) return;
  const DeviceBuffer<std::uint64_t> first(memory, stream_.get(), 1);
  launch_first_not_finite(device_, first.data(), stream_.get());
  const std::uint64_t found = read_values(first.data(), 1, stream_.get()).front();
  if (found == kAllFinite) return;
  const auto value_at = [&]<class T>(T /*type*/) -> double {
    return static_cast<double>(read_values(static_cast<const T*>(device_.data) + found, 1, stream_.get()).front());
  };
  throw_not_finite(found / device_.dims, found % device_.dims,
                   device_.precision == Precision::float32 ? value_at(float{}) : value_at(double{}));
}

void DevicePoints::find_extents(DeviceMemory& memory) {
  if (device_.size > 0 && device_.dims <= index::kMostIndexedDims) {
    const DeviceBuffer<index::Extent> extents(memory, stream_.get(), device_.dims);
    launch_extents(device_, extents.data(), {memory, stream_.get()});
    extents_ = read_values(extents.data(), device_.dims, stream_.get());
  }
  stream_.synchronize();
}

PointsView DevicePoints::host() const {
  const std::scoped_lock lock(copying_);
  if (on_host_) return host_;
  const auto copy = [&](auto values) {
    check(cudaMemcpyAsync(values.data(), device_.data, values.size_bytes(), cudaMemcpyDeviceToHost, stream_.get()));
    stream_.synchronize();
  };
  if (device_.precision == Precision::float32) {
    copy(copy_.values<float>());
  } else {
    copy(copy_.values<double>());
  }
  on_host_ = true;
  return host_;
}

PointsView DevicePoints::host_for(double eps) const {
  const double side = index::SlotWidth::of_dense_box(eps, std::max<std::size_t>(device_.dims, 1)).side;
  const bool plain = !extents_.empty() && std::all_of(extents_.begin(), extents_.end(), [&](index::Extent extent) {
    return (extent.hi - extent.lo) / side < 0x1p30;  // far below the size at which an axis is cut at gaps
  });
  return plain ? host_ : host();
}

}  // namespace epsflow::gpu
