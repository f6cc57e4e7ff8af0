#include <epsflow/gpu/direct/device_core.hpp>

#include <algorithm>
#include <vector>

#include <epsflow/core/device_array.hpp>
#include <epsflow/core/space.hpp>
#include <epsflow/gpu/base/device.hpp>
#include <epsflow/gpu/base/tuning.hpp>
#include <epsflow/gpu/base/upload.hpp>
#include <epsflow/gpu/direct/dense_box_kernels.hpp>
#include <epsflow/gpu/direct/direct_task.hpp>
#include <epsflow/gpu/grid/device_points.hpp>
#include <epsflow/index/cell_axes.hpp>

namespace epsflow::gpu {
namespace {

std::vector<double> widened(PointsView points) {
  std::vector<double> values;
  points.visit([&](auto from) { values.assign(from.begin(), from.end()); });
  return values;
}

}  // namespace

bool DeviceCore::serves(const CoreInput& core) noexcept {
  constexpr auto kNone = static_cast<std::int32_t>(kNoNumber);
  return core.points.dims() <= index::kMostDenseBoxDims && core.points.size() <= kMostGpuPoints &&
         std::find(core.labels.begin(), core.labels.end(), kNone) == core.labels.end();
}

DeviceCore::DeviceCore(const CoreInput& core, const DeviceCoreHome& home)
    : home_(home),
      radius_(core.radius),
      size_(static_cast<std::uint32_t>(core.points.size())),
      dims_(static_cast<std::uint32_t>(core.points.dims())),
      points_(home.memory, stream_.get(), std::uint64_t{size_} * dims_),
      labels_(home.memory, stream_.get(), size_) {
  stream_.synchronize();  // the memory is allocated now
  const std::vector<double> values = widened(core.points);
  upload(points_.data(), values.data(), points_.bytes(), {home_.device, home_.pinned, home_.threads});
  upload(labels_.data(), core.labels.data(), labels_.bytes(), {home_.device, home_.pinned, home_.threads});
}

std::optional<Labels> DeviceCore::assign(std::span<const double> queries, const CancelToken& cancel) const {
  (void)cudaGetLastError();  // clears an error of the caller's own work on this thread
  const DeviceScope scope(home_.device);
  DeviceMemory& memory = home_.memory;
  const std::uint64_t count = queries.size() / dims_;
  if (size_ + count > kMostGpuPoints) return std::nullopt;
  const auto size = static_cast<std::uint32_t>(size_ + count);
  const Stream stream;
  const DeviceBuffer<double> all(memory, stream.get(), std::uint64_t{size} * dims_);
  check(cudaMemcpyAsync(all.data(), points_.data(), points_.bytes(), cudaMemcpyDeviceToDevice, stream.get()));
  stream.synchronize();
  upload(all.data() + points_.size(), queries.data(), queries.size_bytes(),
         {home_.device, home_.pinned, home_.threads});
  const DevicePoints points(DevicePointsView(all.data(), size, dims_, {home_.device, stream.get()}), memory);
  cancel.check();
  const index::CellAxes axes =
      index::choose_axes(points.host_for(radius_), radius_, Cells::dense_box, cancel, points.extents(), Space{});
  if (!axes.dense_boxes) return std::nullopt;
  DenseBoxGrid grid(points, radius_, axes, memory, home_.pinned, cancel);
  grid.finish();
  const cudaStream_t on = grid.stream().get();
  const DenseBoxView& view = grid.view();
  const DeviceBuffer<std::uint32_t> core_bits(memory, on, std::uint64_t{size} / 32 + 1);
  const DeviceBuffer<std::uint32_t> numbers(memory, on, view.cells);
  const DeviceBuffer<std::uint32_t> differ(memory, on, 1);
  const DeviceBuffer<std::int32_t> labels(memory, on, size);
  const DeviceBuffer<std::uint32_t> left(memory, on, std::min(size, tuning::kRemainingPoints));
  const TallyPair tally(memory, home_.pinned, on);
  Labels found(count, home_.labels);
  const StreamDrain drain(grid.stream());  // waits before the memory above is freed
  const RemainingPoints remaining{left.data(), static_cast<std::uint32_t>(left.size()), tally.device()};
  tally.clear(on);
  check(cudaMemsetAsync(differ.data(), 0, differ.bytes(), on));
  launch_core_numbers(view, labels_.data(), size_, core_bits.data(), numbers.data(), differ.data(), on);
  const Nodes nodes{view.starts, view.order, core_bits.data(), view.cells, kNeverBySize};
  launch_label_positions(view, nodes, numbers.data(), true, remaining, labels.data(), nullptr, nullptr, on);
  launch_remaining_labels(view, nodes, numbers.data(), remaining, labels.data(), nullptr, on);
  check(cudaMemcpyAsync(found.data(), labels.data() + size_, count * sizeof(std::int32_t), cudaMemcpyDeviceToHost, on));
  if (read_values(differ.data(), 1, on).front() != 0) return std::nullopt;
  cancel.check();
  return found;
}

}  // namespace epsflow::gpu
