#include <epsflow/gpu/tiles/row_search.hpp>

#include <algorithm>
#include <bit>
#include <cmath>

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
/// there are many candidates if half precision tells few points apart.
constexpr std::uint32_t kSlotsForEach = 6;
constexpr std::uint32_t kFewestSlots = 256;
constexpr std::uint32_t kMostSlots = 2048;
constexpr std::uint64_t kSlotShare = 4;  // the divisor of the free memory
/// Candidates that a launch is expected to add to a row, for each point of its list.
constexpr std::uint32_t kExpected = 4;
/// Rows that lose candidates are compared again, with the radius that the others show.
constexpr unsigned kAttempts = 4;

/// Returns how many units of a size hold a count.
std::uint32_t units_of(std::uint64_t count, std::uint64_t size) {
  return static_cast<std::uint32_t>((count + size - 1) / size);
}

int attribute_of(cudaDeviceAttr which, int device) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, which, device));
  return value;
}

}  // namespace

template <class Real>
RoundedRows<Real>::RoundedRows(const OrderedPoints& points, const std::uint32_t* positions, std::uint32_t count,
                               const TileFrame& frame, const Scratch& scratch) {
  DeviceMemory& memory = scratch.memory;
  const cudaStream_t stream = scratch.stream;
  OrderedPoints some = points;
  if (positions != nullptr) {
    ids_ = {memory, stream, count};
    launch_ids_of(positions, points.order, count, ids_.data(), stream);
    some.order = ids_.data();
  }
  some.size = count;
  tiles_.count = units_of(count, index::kTilePoints);
  tiles_.slices_per_tile = units_of(points.dims, kPerSlice<Real>);
  tiles_.steps = units_of(points.dims, kPerStep<Real>);
  slices_ = {memory, stream, std::uint64_t{tiles_.count} * tiles_.slices_per_tile * kSliceBytes};
  bounds_ = {memory, stream, std::uint64_t{places()} + tiles_.count};
  shapes_ = {memory, stream, places()};
  tiles_.slices = slices_.data();
  tiles_.no = bounds_.data();
  tiles_.gaps = bounds_.data() + places();
  tiles_.shapes = shapes_.data();
  launch_factors(some, frame, tiles_, stream);
}

template <class Real>
std::optional<RowSearch<Real>> RowSearch<Real>::of(const DevicePoints& points, const GpuResources& gpu,
                                                   const Stream& stream) {
  const PointsOnDevice device = points.device();
  if (!points.space().plain() || device.size < 2) return std::nullopt;
  const cudaStream_t on = stream.get();
  RowSearch search({device.data, nullptr, device.size, device.dims, device.precision, 0}, gpu, on);
  search.multiprocessors_ = static_cast<unsigned>(attribute_of(cudaDevAttrMultiProcessorCount, gpu.device));
  search.hopper_ = attribute_of(cudaDevAttrComputeCapabilityMajor, gpu.device) == 9;
  search.centre_ = {gpu.memory, on, device.dims};
  const DeviceBuffer<TileSurvey> survey(gpu.memory, on, 1);
  check(cudaMemsetAsync(survey.data(), 0, survey.bytes(), on));
  launch_centre(device, search.centre_.data(), on);
  launch_survey(device, search.centre_.data(), survey.data(), on);
  const double farthest = std::bit_cast<double>(read_values(survey.data(), 1, on).front().farthest);
  if (!(farthest > 0x1p-450 && farthest < 0x1p450)) return std::nullopt;
  search.order_ = {gpu.memory, on, device.size};
  launch_scatter_order(device.size, search.order_.data(), on);
  search.points_.order = search.order_.data();
  search.frame_.centre = search.centre_.data();
  search.frame_.exponent = kRowFrameBits - 1 - std::ilogb(farthest);
  // A step adds up to 16 products to the sum so far, at once or in halves (gpu/tiles/tile_search.cpp).
  search.frame_.gamma = 18.0 * units_of(device.dims, 16) * (1 + 0x1p-10) * (sizeof(Real) == 4 ? 0x1p-23 : 0x1p-51);
  search.columns_.emplace(search.points_, nullptr, device.size, search.frame_, Scratch{gpu.memory, on});
  const DeviceBuffer<ShapeExtremes> extremes(gpu.memory, on, 1);
  check(cudaMemsetAsync(extremes.data(), 0, extremes.bytes(), on));
  const ProductTiles<Real>& columns = search.columns_->tiles();
  launch_shape_extremes(columns.shapes, device.size, extremes.data(), on);
  const ShapeExtremes found = read_values(extremes.data(), 1, on).front();
  search.row_frame_ = {search.frame_.gamma, std::bit_cast<double>(found.norm), std::bit_cast<double>(found.radius),
                       search.frame_.exponent};
  launch_column_bounds(columns.shapes, search.row_frame_, device.size, search.columns_->places(), columns.no, on);
  return search;
}

template <class Real>
RoundedRows<Real> RowSearch<Real>::rows(const std::uint32_t* positions, std::uint32_t count) const {
  return {points_, positions, count, frame_, Scratch{gpu_.memory, stream_}};
}

template <class Real>
void RowSearch<Real>::bound(const RoundedRows<Real>& rows, const double* limits, std::uint32_t count) const {
  launch_bound_rows(rows.tiles().shapes, row_frame_, limits, count, rows.places(), rows.tiles().no, stream_);
}

template <class Real>
void RowSearch<Real>::compare(const ProductTiles<Real>& rows, std::uint32_t first_column, std::uint32_t columns,
                              const ColumnChoice& choice, const CandidateSlots<Real>& slots) const {
  const RowWork work{.row_tiles = rows.count, .first_column = first_column, .columns = columns};
  if constexpr (sizeof(Real) == 4) {
    if (hopper_) {
      return launch_hopper_candidates(rows, columns_->tiles(), work, choice, slots, multiprocessors_, stream_);
    }
  }
  launch_row_candidates(rows, columns_->tiles(), work, choice, slots, multiprocessors_, stream_);
}

template <class Real>
std::uint32_t RowSearch<Real>::most_columns(const ProductTiles<Real>& rows) const {
  const double most = sizeof(Real) == 4 ? tuning::kMostProducts16 : tuning::kMostProducts64;
  const double of_column = static_cast<double>(rows.count) * index::kTilePoints * index::kTilePoints *
                           (static_cast<double>(points_.dims) + 32);
  return static_cast<std::uint32_t>(std::clamp(most / of_column, 1.0, static_cast<double>(column_tiles())));
}

template <class Real>
bool RowSearch<Real>::nearest_lists(std::uint32_t length, std::uint32_t* lists, double* sums) const {
  const std::uint32_t n = points_.size;
  std::uint32_t room = std::clamp(std::bit_ceil(kSlotsForEach * length), kFewestSlots, kMostSlots);
  const std::uint64_t most_bytes = gpu_.memory.available() / kSlotShare;
  while (room < kMostSlots && 2 * std::uint64_t{n} * room * (sizeof(std::uint32_t) + sizeof(Real)) <= most_bytes)
    room *= 2;
  const std::uint32_t places = columns_->places();
  const DeviceBuffer<std::uint32_t> counts(gpu_.memory, stream_, n);
  const DeviceBuffer<std::uint32_t> candidates(gpu_.memory, stream_, std::uint64_t{n} * room);
  const DeviceBuffer<Real> nearness(gpu_.memory, stream_, std::uint64_t{n} * room);
  const DeviceBuffer<Real> no(gpu_.memory, stream_, places), masked(gpu_.memory, stream_, places);
  const DeviceBuffer<std::uint8_t> overflown(gpu_.memory, stream_, n);
  const DeviceBuffer<std::uint32_t> lost(gpu_.memory, stream_, 1);
  const CandidateSlots<Real> slots{{counts.data(), candidates.data(), room}, nearness.data()};
  check(cudaMemsetAsync(counts.data(), 0, counts.bytes(), stream_));
  launch_open_rows(n, places, no.data(), stream_);
  launch_open_rows(0, places, masked.data(), stream_);
  ProductTiles<Real> rows = columns_->tiles();
  const NearestRows<Real> state{rows.shapes, n, length, no.data(), masked.data(), overflown.data()};
  const std::uint32_t most = most_columns(rows);
  std::uint32_t columns = 0;
  for (std::uint32_t first = 0; first < column_tiles(); first += columns) {
    // If columns have no order, a row takes of c times as many columns as it has seen c times as many candidates as its
    // list is long.
    const auto more = static_cast<std::uint64_t>(first) * std::max(kExpected, kFewestSlots / 4 / length);
    columns = static_cast<std::uint32_t>(
        std::min<std::uint64_t>({std::max<std::uint64_t>(more, 1), most, column_tiles() - first}));
    for (unsigned attempt = 0;; ++attempt) {
      if (attempt == kAttempts) return false;
      gpu_.cancel.check();
      rows.no = attempt == 0 ? no.data() : masked.data();
      compare(rows, first, columns, {}, slots);
      launch_narrow(state, row_frame_, slots, first * index::kTilePoints, attempt > 0, lost.data(), stream_);
      if (read_values(lost.data(), 1, stream_).front() == 0) break;
    }
  }
  launch_sort_candidates(points_, slots, length, lists, sums, lost.data(), stream_);
  return read_values(lost.data(), 1, stream_).front() == 0;
}

template class RoundedRows<float>;
template class RoundedRows<double>;
template class RowSearch<float>;
template class RowSearch<double>;

}  // namespace epsflow::gpu
