#include <epsflow/gpu/grid/device_grid.hpp>

#include <algorithm>
#include <bit>

namespace epsflow::gpu {
namespace {

/// Copies to the device. Waits only if the host memory is not pinned.
template <class T>
void upload(const DeviceBuffer<T>& to, const T* from, cudaStream_t stream) {
  if (to.size() > 0) check(cudaMemcpyAsync(to.data(), from, to.bytes(), cudaMemcpyHostToDevice, stream));
}

template <class T>
Buffer<T> download(const DeviceBuffer<T>& from, cudaStream_t stream) {
  Buffer<T> to(from.size());
  if (from.size() > 0) check(cudaMemcpyAsync(to.data(), from.data(), from.bytes(), cudaMemcpyDeviceToHost, stream));
  return to;
}

}  // namespace

DeviceGrid::DeviceGrid(const DevicePoints& points, double eps, DeviceMemory& memory, PinnedPool& pinned,
                       const CancelToken& cancel)
    : memory_(memory) {
  const PointsOnDevice device = points.device();
  view_.size = device.size;
  view_.dims = device.dims;
  view_.precision = device.precision;
  view_.space = points.space_view();
  view_.limit = points.space().limit(eps);
  if (device.size == 0) return;
  const index::CellAxes chosen =
      index::choose_axes(points.host_for(eps), eps, Cells::eps, cancel, points.extents(), points.space());
  const std::vector<index::CellAxis>& axes = chosen.axes;
  const index::CellKeys keys(chosen);
  KeyMaker maker(keys, points.slices());
  std::vector<DeviceBuffer<index::AxisStretch>> stretches;  // they must live until the keys are made
  for (std::size_t a = 0; a < axes.size(); ++a) {
    maker.axes[a] = axes[a].view();
    maker.strides[a] = keys.strides[a];
    stretches.emplace_back(memory, stream_.get(), maker.axes[a].stretch_count);
    upload(stretches.back(), maker.axes[a].stretches, stream_.get());
    maker.axes[a].stretches = stretches.back().data();
  }
  cancel.check();
  const auto bits = static_cast<int>(std::bit_width(keys.count - 1));
  if (bits <= 32) {
    sort_points<std::uint32_t>(points, maker, bits, pinned);
  } else {
    sort_points<std::uint64_t>(points, maker, bits, pinned);
  }
  cancel.check();

  const DeviceBuffer<std::int64_t> neighbor_offsets(memory, stream_.get(), keys.neighbor_offsets.size());
  upload(neighbor_offsets, keys.neighbor_offsets.data(), stream_.get());
  const CellTable table{cell_keys_.data(),
                        cell_starts_.data(),
                        view_.cells,
                        neighbor_offsets.data(),
                        static_cast<std::uint32_t>(neighbor_offsets.size()),
                        keys.window,
                        keys.closed};
  range_offsets_ = {memory, stream_.get(), std::uint64_t{view_.cells} + 1};
  cell_words_ = {memory, stream_.get(), std::uint64_t{view_.cells} + 1};
  launch_measure_ranges(table, range_offsets_.data(), cell_words_.data(), {memory, stream_.get()});
  const std::uint64_t ranges = read_values(range_offsets_.data() + view_.cells, 1, stream_.get()).front();
  packed_words_ = read_values(cell_words_.data() + view_.cells, 1, stream_.get()).front();
  ranges_ = {memory, stream_.get(), ranges};
  launch_write_ranges(table, range_offsets_.data(), ranges_.data(), stream_.get());
  view_.range_offsets = range_offsets_.data();
  view_.cell_words = cell_words_.data();
  view_.ranges = ranges_.data();
  // Lanes use the arrays on other streams.
  stream_.synchronize();
}

template <class Key>
void DeviceGrid::sort_points(const DevicePoints& points, const KeyMaker& maker, int bits, PinnedPool& pinned) {
  const PointsOnDevice device = points.device();
  const std::uint32_t n = device.size;
  const Scratch scratch{memory_, stream_.get()};
  cell_of_ = {memory_, stream_.get(), n};
  coordinates_ = {memory_, stream_.get(), std::uint64_t{n} * device.dims * bytes_of(device.precision)};
  view_.coordinates = coordinates_.data();
  view_.cell_of = cell_of_.data();

  const DeviceBuffer<Key> key_memory(memory_, stream_.get(), 2 * std::uint64_t{n});
  const DeviceBuffer<std::uint32_t> id_memory(memory_, stream_.get(), 2 * std::uint64_t{n});
  TwoBuffers<Key> keys{key_memory.data(), key_memory.data() + n};
  TwoBuffers<std::uint32_t> ids{id_memory.data(), id_memory.data() + n};
  launch_keys(device, maker, keys.current, ids.current, stream_.get());
  launch_sort(keys, ids, n, bits, scratch);
  order_ = std::make_shared<const PinnedBytes>(pinned.acquire(std::uint64_t{n} * sizeof(std::uint32_t)));
  check(cudaMemcpyAsync(order_->as<std::uint32_t>(), ids.current, std::uint64_t{n} * sizeof(std::uint32_t),
                        cudaMemcpyDeviceToHost, stream_.get()));
  launch_gather(device, ids.current, coordinates_.data(), stream_.get());
  launch_cell_numbers(keys.current, n, cell_of_.data(), scratch);
  view_.cells = read_values(cell_of_.data() + n - 1, 1, stream_.get()).front() + 1;
  cell_starts_ = {memory_, stream_.get(), std::uint64_t{view_.cells} + 1};
  cell_keys_ = {memory_, stream_.get(), view_.cells};
  launch_cell_starts(keys.current, cell_of_.data(), n, view_.cells, cell_starts_.data(), cell_keys_.data(),
                     stream_.get());
  view_.cell_starts = cell_starts_.data();
}

std::vector<std::uint64_t> DeviceGrid::read_cell_keys() const {
  return read_values(cell_keys_.data(), view_.cells, stream_.get());
}

PackedLayout DeviceGrid::read_layout() const {
  PackedLayout layout;
  if (view_.size == 0) {
    layout.bundles.starts = Buffer<std::uint32_t>(1);
    layout.bundles.range_offsets = Buffer<std::uint64_t>(1);
    layout.first_words = Buffer<std::uint64_t>(1);
    layout.bundles.starts[0] = 0;
    layout.bundles.range_offsets[0] = layout.first_words[0] = 0;
    return layout;
  }
  layout.bundles.starts = download(cell_starts_, stream_.get());
  layout.bundles.range_offsets = download(range_offsets_, stream_.get());
  layout.bundles.ranges = download(ranges_, stream_.get());
  layout.first_words = download(cell_words_, stream_.get());
  stream_.synchronize();
  return layout;
}

}  // namespace epsflow::gpu
