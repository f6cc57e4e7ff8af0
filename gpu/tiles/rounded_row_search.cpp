#include <epsflow/gpu/tiles/rounded_row_search.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include <epsflow/gpu/base/device.hpp>
#include <epsflow/gpu/base/tuning.hpp>
#include <epsflow/gpu/tiles/tile_tuning.hpp>

namespace epsflow::gpu {
namespace {

/// Scaled coordinates are less than this power of two; half precision reaches 65504.
constexpr int kRowFrameBits = 14;
/// Coordinates in a slice of factors, and in a step of products.
template <class Real>
constexpr std::uint32_t kPerSlice = sizeof(Real) == 4 ? 64 : 16;
template <class Real>
constexpr std::uint32_t kPerStep = kPerSlice<Real> / 4;
/// The slots of a row are at least kSlotsForEach for each point of its list. They are more if memory suffices, because
/// there are many candidates if half precision resolves few distances.
constexpr std::uint32_t kSlotsForEach = 6;
constexpr std::uint32_t kFewestSlots = 256;
constexpr std::uint32_t kMostSlots = 2048;
constexpr std::uint64_t kSlotShare = 4;  // the divisor of the free memory
/// Candidates that a launch is expected to add to a row, for each point of its list.
constexpr std::uint32_t kExpected = 4;
/// A row has this many slots for all pivots.
constexpr std::uint32_t kMostPivots = 256;
/// The most pairs of tiles whose distances are stored, in 4 bytes each. From some four million points on there are
/// more, and all tiles are compared.
constexpr std::uint64_t kMostGaps = 1ULL << 30U;
/// Rows of blocks of tiles are the second dimension of a grid, which has at most 65,535.
constexpr std::uint32_t kMostRows = 1U << 25U;
/// Rows that lose candidates are compared again, with the radius that the others show.
constexpr unsigned kAttempts = 4;

/// Returns how many units of a size hold a count.
std::uint32_t units_of(std::uint64_t count, std::uint64_t size) {
  return static_cast<std::uint32_t>((count + size - 1) / size);
}

/// Returns a number without common factor with `count`. Its multiples modulo count are spread evenly.
std::uint64_t spread(std::uint64_t count) {
  auto step = static_cast<std::uint64_t>(0.6180339887 * static_cast<double>(count));
  while (step > 1 && std::gcd(step, count) != 1) --step;
  return std::max<std::uint64_t>(step, 1);
}

int attribute_of(cudaDeviceAttr which, int device) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, which, device));
  return value;
}

}  // namespace

template <class Real>
RoundedRows<Real>::RoundedRows(const OrderedPoints& points, const std::uint32_t* positions, std::uint32_t count,
                               const TileFrame& frame, const Scratch& scratch)
    : points_(points) {
  DeviceMemory& memory = scratch.memory;
  const cudaStream_t stream = scratch.stream;
  if (positions != nullptr) {
    ids_ = {memory, stream, count};
    launch_ids_of(positions, points.order, count, ids_.data(), stream);
    points_.order = ids_.data();
  }
  points_.size = count;
  tiles_.count = units_of(count, index::kTilePoints);
  tiles_.slices_per_tile = units_of(points.dims, kPerSlice<Real>);
  tiles_.steps = units_of(points.dims, kPerStep<Real>);
  slices_ = {memory, stream, std::uint64_t{tiles_.count} * tiles_.slices_per_tile * kSliceBytes};
  bounds_ = {memory, stream, std::uint64_t{padded_count()} + tiles_.count};
  shapes_ = {memory, stream, padded_count()};
  reach_ = {memory, stream, tiles_.count};
  components_ = {memory, stream, tiles_.count};
  tiles_.slices = slices_.data();
  tiles_.no = bounds_.data();
  tiles_.gaps = bounds_.data() + padded_count();
  tiles_.shapes = shapes_.data();
  launch_factors(points_, frame, tiles_, stream);
}

template <class Real>
void RoundedRows<Real>::measure(double slack, const RoundedRows& columns, const TileFrame& frame,
                                const Scratch& scratch) {
  if (std::uint64_t{tiles_.count} * columns.tiles_.count > kMostGaps) return;
  centres_ = {scratch.memory, scratch.stream, std::uint64_t{tiles_.count} * points_.dims};
  radii_ = {scratch.memory, scratch.stream, tiles_.count};
  launch_tile_balls(points_, frame, slack, balls(), scratch.stream);
  gaps_ = {scratch.memory, scratch.stream, std::uint64_t{tiles_.count} * columns.tiles_.count};
  launch_tile_gaps(balls(), columns.balls(), gaps_.data(), scratch.stream);
}

template <class Real>
RoundedRowSearch<Real>::RoundedRowSearch(const OrderedPoints& points, std::uint32_t length, const GpuResources& gpu,
                                         cudaStream_t stream)
    : gpu_(gpu),
      stream_(stream),
      length_(length),
      multiprocessors_(static_cast<unsigned>(attribute_of(cudaDevAttrMultiProcessorCount, gpu.device))),
      hopper_(attribute_of(cudaDevAttrComputeCapabilityMajor, gpu.device) == 9),
      points_(points),
      order_(gpu.memory, stream, points.size),
      centre_(gpu.memory, stream, points.dims),
      radii_(gpu.memory, stream, points.size) {
  points_.order = order_.data();
  frame_.centre = centre_.data();
}

template <class Real>
std::optional<RoundedRowSearch<Real>> RoundedRowSearch<Real>::of(const DevicePoints& points, std::uint32_t length,
                                                                 bool portable, const GpuResources& gpu,
                                                                 const Stream& stream) {
  const PointsOnDevice device = points.device();
  if (!points.space().plain() || device.size < 2 || device.size > kMostRows) return std::nullopt;
  const cudaStream_t on = stream.get();
  RoundedRowSearch search({device.data, nullptr, device.size, device.dims, device.precision, 0}, length, gpu, on);
  search.hopper_ = search.hopper_ && !portable;
  const DeviceBuffer<TileSurvey> survey(gpu.memory, on, 1);
  check(cudaMemsetAsync(survey.data(), 0, survey.bytes(), on));
  launch_centre(device, search.centre_.data(), on);
  launch_survey(device, search.centre_.data(), survey.data(), on);
  const double farthest = std::bit_cast<double>(read_values(survey.data(), 1, on).front().farthest);
  if (!(farthest > 0x1p-450 && farthest < 0x1p450)) return std::nullopt;
  search.frame_.exponent = kRowFrameBits - 1 - std::ilogb(farthest);
  // A step adds up to 16 products to the sum so far, at once or in halves (gpu/tiles/tile_search.cpp).
  search.frame_.gamma = 18.0 * units_of(device.dims, 16) * (1 + 0x1p-10) * (sizeof(Real) == 4 ? 0x1p-23 : 0x1p-51);
  launch_scatter_order(device.size, spread(device.size), search.order_.data(), on);
  search.round_all();
  search.order_by_pivots();
  search.round_all();
  search.columns_->measure(search.slack(), *search.columns_, search.frame_, search.scratch());
  return search;
}

template <class Real>
void RoundedRowSearch<Real>::round_all() {
  columns_.reset();
  columns_.emplace(points_, nullptr, points_.size, frame_, scratch());
  const DeviceBuffer<ShapeExtremes> extremes(gpu_.memory, stream_, 1);
  check(cudaMemsetAsync(extremes.data(), 0, extremes.bytes(), stream_));
  const ProductTiles<Real>& columns = columns_->tiles();
  launch_shape_extremes(columns.shapes, points_.size, extremes.data(), stream_);
  const ShapeExtremes found = read_values(extremes.data(), 1, stream_).front();
  row_frame_ = {frame_.gamma, std::bit_cast<double>(found.norm), std::bit_cast<double>(found.radius), frame_.exponent};
  launch_column_bounds(columns.shapes, row_frame_, points_.size, columns_->padded_count(), columns.no, stream_);
}

template <class Real>
double RoundedRowSearch<Real>::slack() const noexcept {
  return 0x1p-40 * (std::sqrt(row_frame_.most_norm) + row_frame_.most_radius);
}

/// The order is still the scattered one, so its first points are a sample of all. They are the pivots.
template <class Real>
void RoundedRowSearch<Real>::order_by_pivots() {
  const std::uint32_t n = points_.size;
  const std::uint32_t pivots = std::min(n, kMostPivots);
  const RoundedRows<Real> chosen(points_, nullptr, pivots, frame_, scratch());
  launch_column_bounds(chosen.tiles().shapes, row_frame_, pivots, chosen.padded_count(), chosen.tiles().no, stream_);
  const DeviceBuffer<std::uint32_t> counts(gpu_.memory, stream_, n);
  const DeviceBuffer<std::uint32_t> candidates(gpu_.memory, stream_, std::uint64_t{n} * kMostPivots);
  const DeviceBuffer<Real> nearness(gpu_.memory, stream_, std::uint64_t{n} * kMostPivots);
  const CandidateSlots<Real> slots{{counts.data(), candidates.data(), kMostPivots}, nearness.data()};
  check(cudaMemsetAsync(counts.data(), 0, counts.bytes(), stream_));
  const RoundedRows<Real>& rows = *columns_;
  const ProductTiles<Real>& open = rows.tiles();
  compare_with(rows, chosen, {open.shapes, nullptr, false, n, rows.padded_count()},
               {.row_tiles = open.count, .column_tiles = chosen.tiles().count, .to = chosen.tiles().count}, {}, slots);
  const DeviceBuffer<unsigned long long> keys(gpu_.memory, stream_, n);
  const DeviceBuffer<double> radii(gpu_.memory, stream_, n);
  launch_pivot_keys(open.shapes, row_frame_, slots, n, pivots, length_, keys.data(), radii.data(), stream_);
  DeviceBuffer<std::uint32_t> order(gpu_.memory, stream_, n);
  launch_sort_rows(keys.data(), order_.data(), radii.data(), n, order.data(), radii_.data(), scratch());
  order_ = std::move(order);
  points_.order = order_.data();
}

template <class Real>
RoundedRows<Real> RoundedRowSearch<Real>::rows(const std::uint32_t* positions, std::uint32_t count) const {
  RoundedRows<Real> made(points_, positions, count, frame_, scratch());
  if (columns_->gaps() != nullptr) made.measure(slack(), *columns_, frame_, scratch());
  return made;
}

template <class Real>
void RoundedRowSearch<Real>::compare_with(const RoundedRows<Real>& rows, const RoundedRows<Real>& others,
                                          const RowRadii& radii, const TilePairs& pairs, const ColumnChoice& choice,
                                          const CandidateSlots<Real>& slots) const {
  const DeviceBuffer<Real> no(gpu_.memory, stream_, rows.padded_count());
  launch_bound_rows(radii, row_frame_, no.data(), rows.reach(), stream_);
  const std::uint64_t most =
      std::uint64_t{index::tile_blocks_of(pairs.row_tiles)} * index::tile_blocks_of(pairs.column_tiles);
  const DeviceBuffer<index::TileBlock> blocks(gpu_.memory, stream_, most);
  const DeviceBuffer<unsigned long long> count(gpu_.memory, stream_, 1);
  TilePairs wanted = pairs;
  wanted.gaps = rows.gaps();
  wanted.reach = rows.reach();
  launch_list_blocks(wanted, blocks.data(), count.data(), stream_);
  const TileWork work{blocks.data(), read_values(count.data(), 1, stream_).front()};
  if (work.count == 0) return;
  ProductTiles<Real> bounded = rows.tiles();
  bounded.no = no.data();
  if constexpr (sizeof(Real) == 4) {
    if (hopper_) {
      return launch_hopper_candidates(bounded, others.tiles(), work, choice, slots, multiprocessors_, stream_);
    }
  }
  launch_row_candidates(bounded, others.tiles(), work, choice, slots, multiprocessors_, stream_);
}

template <class Real>
void RoundedRowSearch<Real>::compare(const RoundedRows<Real>& rows, const double* values, bool limits,
                                     const ColumnRange& columns, const ColumnChoice& choice,
                                     const CandidateSlots<Real>& slots) const {
  TilePairs pairs{.row_tiles = rows.tiles().count,
                  .column_tiles = column_tiles(),
                  .step = spread(column_tiles()),
                  .from = columns.from,
                  .to = columns.to,
                  .band = columns.band};
  if (choice.components != nullptr) {
    launch_tile_components(choice.components, choice.positions, rows.count(), rows.components(), stream_);
    launch_tile_components(choice.components, nullptr, points_.size, columns_->components(), stream_);
    pairs.row_components = rows.components();
    pairs.column_components = columns_->components();
  }
  compare_with(rows, *columns_, {rows.tiles().shapes, values, limits, rows.count(), rows.padded_count()}, pairs, choice,
               slots);
}

template <class Real>
std::uint32_t RoundedRowSearch<Real>::most_columns(const RoundedRows<Real>& rows) const {
  const double most = sizeof(Real) == 4 ? tuning::kMostProducts16 : tuning::kMostProducts64;
  const double of_column =
      static_cast<double>(rows.padded_count()) * index::kTilePoints * (static_cast<double>(points_.dims) + 32);
  return static_cast<std::uint32_t>(std::clamp(most / of_column, 1.0, static_cast<double>(column_tiles())));
}

template <class Real>
bool RoundedRowSearch<Real>::nearest_lists(std::uint32_t* lists, double* sums) {
  const std::uint32_t n = points_.size;
  std::uint32_t capacity = std::clamp(std::bit_ceil(kSlotsForEach * length_), kFewestSlots, kMostSlots);
  const std::uint64_t most_bytes = gpu_.memory.available() / kSlotShare;
  while (capacity < kMostSlots &&
         2 * std::uint64_t{n} * capacity * (sizeof(std::uint32_t) + sizeof(Real)) <= most_bytes) {
    capacity *= 2;
  }
  const DeviceBuffer<std::uint32_t> counts(gpu_.memory, stream_, n), retained(gpu_.memory, stream_, n);
  const DeviceBuffer<std::uint32_t> candidates(gpu_.memory, stream_, std::uint64_t{n} * capacity);
  const DeviceBuffer<Real> nearness(gpu_.memory, stream_, std::uint64_t{n} * capacity);
  const DeviceBuffer<double> retry(gpu_.memory, stream_, n);
  const DeviceBuffer<std::uint32_t> lost(gpu_.memory, stream_, 1);
  const CandidateSlots<Real> slots{{counts.data(), candidates.data(), capacity}, nearness.data()};
  check(cudaMemsetAsync(counts.data(), 0, counts.bytes(), stream_));
  check(cudaMemsetAsync(retained.data(), 0, retained.bytes(), stream_));
  const NearestRows state{columns_->tiles().shapes, n, length_, radii_.data(), retry.data(), retained.data()};
  const auto compare_all = [&](const ColumnRange& range) {
    for (unsigned attempt = 0; attempt < kAttempts; ++attempt) {
      gpu_.cancel.check();
      compare(*columns_, attempt == 0 ? radii_.data() : retry.data(), false, range, {}, slots);
      launch_narrow(state, row_frame_, slots, attempt > 0, lost.data(), stream_);
      if (read_values(lost.data(), 1, stream_).front() == 0) return true;
    }
    return false;
  };
  if (!compare_all({0, column_tiles(), TilePairs::Band::alone})) return false;
  const std::uint32_t most = most_columns(*columns_);
  std::uint64_t seen = units_of(std::min(n, kMostPivots), index::kTilePoints);  // tiles
  for (std::uint32_t first = 0; first < column_tiles();) {
    // A row has found the `length_` nearest points of the tiles that it has seen. If points are in random order, c
    // times as many other tiles hold about c · length_ points within that distance. The slots suffice for this c.
    const std::uint64_t more = seen * std::max(kExpected, kFewestSlots / 4 / length_);
    const auto columns = static_cast<std::uint32_t>(std::min<std::uint64_t>({more, most, column_tiles() - first}));
    if (!compare_all({first, first + columns, TilePairs::Band::without})) return false;
    first += columns;
    seen += columns;
  }
  launch_sort_candidates(points_, slots, length_, lists, sums, lost.data(), stream_);
  return read_values(lost.data(), 1, stream_).front() == 0;
}

template class RoundedRows<float>;
template class RoundedRows<double>;
template class RoundedRowSearch<float>;
template class RoundedRowSearch<double>;

}  // namespace epsflow::gpu
