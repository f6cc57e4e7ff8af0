#include <epsflow/gpu/tiles/device_tile_order.hpp>

#include <utility>

namespace epsflow::gpu {

DeviceTileOrder::DeviceTileOrder(const DevicePoints& points, double eps, IndexChoice kind, DeviceMemory& memory,
                                 PinnedPool& pinned, const CancelToken& cancel)
    : memory_(memory), size_(points.device().size), kind_(kind) {
  cancel.check();
  if (size_ == 0) return;
  const PointsOnDevice device = points.device();
  order_ = {memory, stream_.get(), size_};
  TileBoundsView bounds;
  bounds.tiles = index::tiles_of(size_);
  bounds.blocks = index::tile_blocks_of(bounds.tiles);
  DeviceBuffer<double> pivots;
  DeviceBuffer<index::LayerInterval> block_intervals;
  const index::Layers layers = choose_layers(device, eps, cancel);
  if (kind_ != IndexChoice::all) {
    pivots = {memory, stream_.get(), layers.pivots().size()};
    if (pivots.size() > 0) {
      check(cudaMemcpyAsync(pivots.data(), layers.pivots().data(), pivots.bytes(), cudaMemcpyHostToDevice,
                            stream_.get()));
    }
    index::LayersView view = layers.view();
    view.pivots = pivots.data();
    sort_points(points, view, static_cast<int>(layers.key_bits()));
    cancel.check();
    tile_intervals_ = {memory, stream_.get(), std::uint64_t{view.count} * bounds.tiles};
    block_intervals = {memory, stream_.get(), std::uint64_t{view.count} * bounds.blocks};
    launch_tile_bounds(device, order_.data(), view, tile_intervals_.data(), block_intervals.data(), stream_.get());
    bounds.of_tiles = tile_intervals_.data();
    bounds.of_blocks = block_intervals.data();
    bounds.functions = view.count;
  } else {
    launch_identity(order_.data(), size_, stream_.get());
  }
  host_order_ = std::make_shared<const PinnedBytes>(pinned.acquire(order_.bytes()));
  check(cudaMemcpyAsync(host_order_->as<std::uint32_t>(), order_.data(), order_.bytes(), cudaMemcpyDeviceToHost,
                        stream_.get()));
  const DeviceBuffer<TileBlockCounts> counts(memory, stream_.get(), 1);
  launch_count_tile_blocks(bounds, counts.data(), stream_.get());
  counts_ = read_values(counts.data(), 1, stream_.get()).front();
  cancel.check();
  blocks_ = {memory, stream_.get(), counts_.blocks};
  launch_list_tile_blocks(bounds, counts_.blocks, blocks_.data(), {memory, stream_.get()});
  // Searches use the arrays on other streams.
  stream_.synchronize();
}

/// Chooses the functions of the layers. Also decides the kind if it is automatic.
index::Layers DeviceTileOrder::choose_layers(const PointsOnDevice& device, double eps, const CancelToken& cancel) {
  if (kind_ == IndexChoice::all) return {};
  index::LayerSample sample;
  sample.dims = device.dims;
  const std::uint64_t points = index::layer_sample_size(size_, device.dims);
  const DeviceBuffer<double> values(memory_, stream_.get(), points * device.dims);
  launch_layer_sample(device, points, values.data(), stream_.get());
  sample.values = read_values(values.data(), values.size(), stream_.get());
  if (kind_ == IndexChoice::automatic) {
    index::LayersOfKind chosen = index::choose_layers_kind(sample, eps, cancel);
    kind_ = chosen.index;
    return std::move(chosen.layers);
  }
  const bool grid = kind_ == IndexChoice::grid;
  return index::choose_layers(sample, eps, grid ? index::LayerKind::grid : index::LayerKind::tree, cancel);
}

void DeviceTileOrder::sort_points(const DevicePoints& points, const index::LayersView& layers, int bits) {
  const std::uint64_t n = size_;
  const DeviceBuffer<std::uint64_t> key_memory(memory_, stream_.get(), 2 * n);
  const DeviceBuffer<std::uint32_t> id_memory(memory_, stream_.get(), n);
  TwoBuffers<std::uint64_t> keys{key_memory.data(), key_memory.data() + n};
  TwoBuffers<std::uint32_t> ids{order_.data(), id_memory.data()};
  launch_layer_keys(points.device(), layers, keys.current, ids.current, stream_.get());
  if (bits > 0) launch_sort(keys, ids, n, bits, {memory_, stream_.get()});
  if (ids.current != order_.data()) {
    check(cudaMemcpyAsync(order_.data(), ids.current, order_.bytes(), cudaMemcpyDeviceToDevice, stream_.get()));
  }
}

std::vector<index::LayerInterval> DeviceTileOrder::read_tile_intervals() const {
  if (tile_intervals_.size() == 0) return {};
  return read_values(tile_intervals_.data(), tile_intervals_.size(), stream_.get());
}

}  // namespace epsflow::gpu
