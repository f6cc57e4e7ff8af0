#include <epsflow/gpu/gpu_index.hpp>

#include <string>
#include <utility>

#include <epsflow/core/error.hpp>
#include <epsflow/gpu/base/device.hpp>
#include <epsflow/gpu/base/nvtx.hpp>
#include <epsflow/gpu/tables/grid_table_search.hpp>
#include <epsflow/gpu/tiles/tile_clustering.hpp>
#include <epsflow/gpu/tiles/tile_table_search.hpp>
#include <epsflow/gpu/tiles/tile_tuning.hpp>
#include <epsflow/index/cell_axes.hpp>

namespace epsflow::gpu {
SearchChoice choose_search(IndexChoice index, DecideChoice decide, std::uint64_t points, std::size_t dims) noexcept {
  const bool few_dims = dims <= index::kMostIndexedDims;
  if (index == IndexChoice::automatic && decide == DecideChoice::automatic && few_dims) return {};
  if (index == IndexChoice::automatic) {
    const double n = static_cast<double>(points);
    const double products = n * n / 2 * static_cast<double>(dims + 32);
    if (decide == DecideChoice::scalar) {
      index = IndexChoice::grid;
    } else if (products <= tuning::few_products(dims)) {
      index = IndexChoice::all;
    }
  } else if (index == IndexChoice::grid && decide == DecideChoice::automatic) {
    decide = DecideChoice::scalar;
  }
  return {index, decide};
}

namespace {

/// Chooses within the space: tiles and tensor cores serve the Euclidean norm among all points only.
SearchChoice choose_in_space(const IndexOptions& options, const DevicePoints& points) {
  const bool slices = points.space().slices != nullptr;
  if (points.space().plain() && !slices) {
    return choose_search(options.index, options.decide, points.device().size, points.device().dims);
  }
  const bool grid = options.index == IndexChoice::automatic || options.index == IndexChoice::grid;
  const bool scalar = options.decide == DecideChoice::automatic || options.decide == DecideChoice::scalar;
  if (grid && scalar) return {};
  if (slices) throw UsageError(kSlicesNeedGrid);
  throw UsageError(std::string(grid ? "SearchOptions::decide asks for tensor cores, which measure"
                                    : "SearchOptions::index asks for tiles, which measure") +
                   " straight lines on a GPU, and the metric is of another norm or a periodic box: leave it out");
}

}  // namespace

GpuIndex::GpuIndex(const DevicePoints& points, const IndexOptions& options, const GpuResources& resources,
                   LabelHomes labels)
    : points_(points),
      eps_(options.eps),
      choice_(choose_in_space(options, points)),
      resources_(resources),
      labels_(std::move(labels)) {
  if (!choice_.by_cells() && points.device().size > 0) {
    tiles_ = std::make_shared<const DeviceTileOrder>(points, eps_, choice_.index, resources.memory, resources.pinned,
                                                     resources.cancel);
    choice_.index = tiles_->kind();
    if (choice_.decide == DecideChoice::automatic) {
      prepared_ = make_tile_search();
      choice_.decide = prepared_->figures().filter;
    }
    return;
  }
  if (options.cells == Cells::dense_box) try_dense_boxes();
  if (!dense_boxes_) grid_ = make_grid();
}

void GpuIndex::try_dense_boxes() {
  const std::uint32_t dims = points_.device().dims;
  if (dims > index::kMostDenseBoxDims) return;
  if (points_.device().size > 0 && index::images_serve(points_.space(), eps_, dims)) {
    try {
      imaged_ = DevicePoints::with_images(points_, {points_.space(), eps_, dims}, resources_.memory);
    } catch (const DeviceOutOfMemory&) {  // NOLINT(bugprone-empty-catch): the search by points needs less memory
    }
  }
  const DevicePoints& points = imaged_ == nullptr ? points_ : *imaged_;
  dense_boxes_ = index::choose_axes(points.host_for(eps_), eps_, Cells::dense_box, resources_.cancel, points.extents(),
                                    points.space())
                     .dense_boxes;
  if (!dense_boxes_) imaged_ = nullptr;
}

IndexFigures GpuIndex::figures() const {
  if (tiles_ != nullptr) {
    constexpr std::uint64_t kPairsOfPoints = std::uint64_t{index::kTilePoints} * index::kTilePoints;
    return {.candidates = tiles_->tile_pairs() * kPairsOfPoints,
            .index = choice_.index,
            .decide = choice_.decide,
            .pairs_stay = true};
  }
  if (dense_boxes_) return {.dense_boxes = true};
  return {.cells = grid_->view().cells, .candidates = 32 * grid_->packed_words()};
}

std::uint64_t GpuIndex::bytes() const {
  if (tiles_ != nullptr) return std::uint64_t{tiles_->size()} * sizeof(std::uint32_t);
  return grid_ == nullptr ? 0 : grid_->bytes();
}

std::unique_ptr<TableSearch> GpuIndex::table(const TableOptions& options) const {
  const DeviceScope scope(resources_.device);
  const StageRange range(Stage::plan_batches);
  if (tiles_ != nullptr && !emits_pairs(options.kernel) && options.format != FormatChoice::packed) {
    return std::make_unique<TileTableSearch>(take_tile_search(), resources_, options);
  }
  {
    const std::lock_guard lock(mutex_);
    prepared_ = nullptr;  // frees its memory for the other search
  }
  return make_table_search({grid_ == nullptr ? make_grid() : grid_, resources_, options});
}

/// Bytes of sorted coordinates and stretches, if an axis has gaps, and of the labels and masks of two variants.
std::uint64_t GpuIndex::direct_bytes(const DirectOptions&) const {
  const PointsOnDevice searched = imaged_ == nullptr ? points_.device() : imaged_->device();
  return std::uint64_t{searched.size} * (8 + 16 + 2 * (4 + 1));
}

DirectTask GpuIndex::task_of(const DirectOptions& options) const {
  DirectTask task{.points = imaged_ == nullptr ? points_ : *imaged_,
                  .eps = eps_,
                  .minpts = {options.minpts.front(), options.minpts.back()},
                  .memory = resources_.memory,
                  .pinned = resources_.pinned,
                  .cancel = resources_.cancel,
                  .core_since = options.clusters ? labels_.host : nullptr,
                  .borders = tells_borders(options.keep),
                  .shared = options.shared};
  if (options.weights != nullptr) {
    task.weights = std::make_shared<const WeightTask>(
        WeightTask{*options.weights, WeightLevels(options.weights->whole, options.minpts)});
  }
  return task;
}

std::unique_ptr<Counted> GpuIndex::count(const DirectOptions& options) const {
  const DeviceScope scope(resources_.device);
  if (tiles_ != nullptr) return std::make_unique<TileClustering>(task_of(options), take_tile_search());
  return make_device_clustering(task_of(options), grid_);
}

std::unique_ptr<CountedPart> GpuIndex::count_part(const DirectOptions& options) const {
  const DeviceScope scope(resources_.device);
  if (tiles_ == nullptr) return make_device_clustering(task_of(options), grid_);
  throw UsageError(
      "points in parts are clustered by cells on a GPU, and these are in tiles: use SearchOptions::index = "
      "IndexChoice::grid, or the CPU");
}

std::unique_ptr<LabelStore> GpuIndex::label_store(const DirectOptions& options) const {
  const DeviceScope scope(resources_.device);
  const std::uint32_t ghosts = options.shared == nullptr ? 0 : options.shared->outer_ghosts;
  return make_label_store(resources_.device, points_.device().size - ghosts, options, labels_);
}

std::shared_ptr<const DeviceGrid> GpuIndex::make_grid() const {
  return std::make_shared<const DeviceGrid>(points_, eps_, resources_.memory, resources_.pinned, resources_.cancel);
}

std::unique_ptr<TileSearch> GpuIndex::make_tile_search() const {
  return std::make_unique<TileSearch>(points_, tiles_, TileSearchOptions{.eps = eps_, .decide = choice_.decide},
                                      resources_.memory, resources_.cancel);
}

std::unique_ptr<TileSearch> GpuIndex::take_tile_search() const {
  {
    const std::lock_guard lock(mutex_);
    if (prepared_ != nullptr) return std::move(prepared_);
  }
  return make_tile_search();
}

}  // namespace epsflow::gpu
