#include <epsflow/gpu/tiles/tile_search.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include <epsflow/gpu/base/tuning.hpp>
#include <epsflow/gpu/tiles/tile_tuning.hpp>
#include <epsflow/index/distance.hpp>

namespace epsflow::gpu {
namespace {

/// Upper bound on the entries for one block of pairs of tiles, with all gaps. Every list can hold it.
constexpr std::uint64_t kLeastCapacity =
    std::uint64_t{64} * index::kTilePoints * index::kTilePoints + std::uint64_t{1 << 20};
/// Scaled coordinates are less than this power of two; half precision reaches 65504.
constexpr int kFrameBits = 14;
/// Upper bound on the scaled eps. All points of a frame are nearer to each other.
constexpr double kMostEps = 0x1p40;
/// If eps is outside of this range, eps² or squares may not be normal numbers, and no bound is proved.
constexpr double kLeastFramed = 0x1p-450;
constexpr double kMostFramed = 0x1p450;
/// The largest whole number below which half precision has all, and the largest norm for index::exact_thresholds().
constexpr double kMostWhole = 2048;
constexpr double kMostExactNorm = 1 << 20;

std::uint64_t quotient_up(std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; }

unsigned attribute(cudaDeviceAttr which) {
  int device = 0;
  int value = 0;
  check(cudaGetDevice(&device));
  check(cudaDeviceGetAttribute(&value, which, device));
  return static_cast<unsigned>(value);
}

}  // namespace

TileSearch::TileSearch(const DevicePoints& points, std::shared_ptr<const DeviceTileOrder> tiles,
                       const TileSearchOptions& options, DeviceMemory& memory, const CancelToken& cancel)
    : tiles_(std::move(tiles)),
      memory_(memory),
      cancel_(cancel),
      multiprocessors_(attribute(cudaDevAttrMultiProcessorCount)),
      hopper_(!options.portable && attribute(cudaDevAttrComputeCapabilityMajor) == 9) {
  const PointsOnDevice device = points.device();
  points_ = {device.data, tiles_->order(), device.size, device.dims, device.precision, options.eps * options.eps};
  figures_.tile_pairs = tiles_->tile_pairs();
  const std::uint64_t tile_count = index::tiles_of(device.size);
  pruned_ = tiles_->tile_pairs() < tile_count * tile_count / 4;
  figures_.filter = options.decide == DecideChoice::automatic ? DecideChoice::tensor16 : options.decide;
  if (device.size == 0) return;
  counts_ = {memory_, stream_.get(), 1};
  if (figures_.filter == DecideChoice::scalar) return;
  centre_ = {memory_, stream_.get(), device.dims};
  const DeviceBuffer<TileSurvey> survey(memory_, stream_.get(), 1);
  check(cudaMemsetAsync(survey.data(), 0, survey.bytes(), stream_.get()));
  launch_centre(device, centre_.data(), stream_.get());
  launch_survey(device, centre_.data(), survey.data(), stream_.get());
  const TileSurvey found = read_values(survey.data(), 1, stream_.get()).front();
  choose_frame(found, options.eps);
  if (figures_.filter == DecideChoice::tensor16) make_factors(factors32_, bounds32_);
  if (options.decide == DecideChoice::automatic && leaves_too_much(found, options.eps)) {
    slices_ = {};
    bounds32_ = {};
    sample_ = {};
    frame_ = {};
    figures_.filter = DecideChoice::tensor64;
    choose_frame(found, options.eps);
  }
  if (figures_.filter == DecideChoice::tensor64) make_factors(factors64_, bounds64_);
}

void TileSearch::choose_frame(const TileSurvey& survey, double eps) {
  const double farthest = std::bit_cast<double>(survey.farthest);
  if (!std::isfinite(farthest) || eps < kLeastFramed || eps > kMostFramed) {
    figures_.filter = DecideChoice::scalar;
    return;
  }
  frame_.centre = centre_.data();
  const double dims = points_.dims;
  if (figures_.filter == DecideChoice::tensor16 && survey.fractions == 0 && farthest <= kMostWhole &&
      dims * farthest * farthest <= kMostExactNorm && eps * eps <= kMostExactNorm) {
    frame_.exact = true;
    frame_.limit = eps * eps;
    return;
  }
  frame_.exponent = farthest > 0 ? std::clamp(kFrameBits - 1 - std::ilogb(farthest), -1010, 1000) : 0;
  frame_.eps = std::min(std::ldexp(eps, frame_.exponent), kMostEps);
  // A step adds 16 products to the sum so far, at once or in halves. Of each of these 18 terms it drops the bits below
  // the last bit of the largest term, which ‖p‖·‖q‖ bounds apart from bits dropped before.
  const double terms = 18 * std::ceil(dims / 16) * (1 + 0x1p-10);
  frame_.gamma = terms * (figures_.filter == DecideChoice::tensor16 ? 0x1p-23 : 0x1p-51);
}

/// Returns true if half precision would leave too many pairs undecided, so that float64 products are faster. Takes a
/// sample only if points are far from their centre in units of eps.
bool TileSearch::leaves_too_much(const TileSurvey& survey, double eps) {
  if (figures_.filter != DecideChoice::tensor16 || frame_.exact) return false;
  const double norm = std::bit_cast<double>(survey.farthest) * std::sqrt(static_cast<double>(points_.dims));
  if (norm <= tuning::kNearNorm * eps || tiles_->block_count() == 0) return false;
  take_sample();
  const double compared = static_cast<double>(tiles_->tile_pairs()) * index::kTilePoints * index::kTilePoints /
                          static_cast<double>(sample_.stride);
  return static_cast<double>(sample_.counts.open) > tuning::kMostOpen * compared;
}

/// Returns the stride of the sample: one in this many blocks of work is compared first. If pairs of tiles were pruned,
/// the rest may hold any number of pairs, so the sample is larger.
std::uint64_t TileSearch::sample_stride() const {
  const std::uint64_t blocks = tiles_->block_count();
  return pruned_ ? std::clamp<std::uint64_t>(blocks / tuning::kFewestSampled, 1, tuning::kSampledBlocks)
                 : std::max<std::uint64_t>(1, blocks / tuning::kSampledOfAll);
}

void TileSearch::take_sample() {
  sample_.stride = sample_stride();
  pairs_ = {memory_, stream_.get(), kLeastCapacity};
  if (figures_.filter != DecideChoice::scalar) open_ = {memory_, stream_.get(), kLeastCapacity};
  launch({tiles_->blocks(), tiles_->block_count(), 0, sample_.stride}, 0);
  sample_.counts = read_values(counts_.data(), 1, stream_.get()).front();
  pairs_ = {};
  open_ = {};
}

template <class Real>
void TileSearch::make_factors(ProductTiles<Real>& view, DeviceBuffer<Real>& bounds) {
  constexpr std::uint32_t kPerSlice = sizeof(Real) == 4 ? 64 : 16;
  const std::uint64_t tiles = quotient_up(points_.size, index::kTilePoints);
  const std::uint64_t padded_size = tiles * index::kTilePoints;
  view.slices_per_tile = static_cast<std::uint32_t>(quotient_up(points_.dims, kPerSlice));
  view.steps = static_cast<std::uint32_t>(quotient_up(points_.dims, kPerSlice / 4));
  slices_ = {memory_, stream_.get(), tiles * view.slices_per_tile * kSliceBytes};
  bounds = {memory_, stream_.get(), padded_size + tiles};
  view.count = static_cast<std::uint32_t>(tiles);
  view.slices = slices_.data();
  view.no = bounds.data();
  view.gaps = bounds.data() + padded_size;
  launch_factors(points_, frame_, view, stream_.get());
}

/// Divides the work into parts that are short enough for a cancelled run to end between them.
std::vector<TileWork> TileSearch::cut_work() const {
  const bool products = figures_.filter == DecideChoice::tensor16;
  const double work = static_cast<double>(tiles_->tile_pairs()) * index::kTilePoints * index::kTilePoints *
                      (static_cast<double>(points_.dims) + 32);
  const double most = products ? tuning::kMostProducts16 : tuning::kMostProducts64;
  const std::uint64_t blocks = tiles_->block_count();
  const auto parts = static_cast<std::uint64_t>(std::clamp(std::ceil(work / most), 1.0, static_cast<double>(blocks)));
  std::vector<TileWork> cut;
  for (std::uint64_t part = parts; part-- > 0;) cut.push_back({tiles_->blocks(), blocks, part, parts});
  return cut;
}

void TileSearch::launch(const TileWork& work, std::uint64_t taken) const {
  const PairCounts before{taken, 0};
  check(cudaMemcpyAsync(counts_.data(), &before, sizeof(before), cudaMemcpyHostToDevice, stream_.get()));
  const PairSink sink{pairs_.data(), pairs_.size(), open_.data(), open_.size(), counts_.data()};
  switch (figures_.filter) {
    case DecideChoice::tensor16:
      if (hopper_) {
        launch_hopper_tiles(factors32_, work, sink, multiprocessors_, stream_.get());
      } else {
        launch_product_tiles(factors32_, work, sink, multiprocessors_, stream_.get());
      }
      break;
    case DecideChoice::tensor64:
      launch_product_tiles(factors64_, work, sink, multiprocessors_, stream_.get());
      break;
    default:
      return launch_scalar_tiles(points_, work, sink, multiprocessors_, stream_.get());
  }
  launch_undecided_pairs(points_, sink, multiprocessors_, stream_.get());
}

/// Allocates lists for all pairs, by a guess, or by a sample if there is so much work that the sample is cheap.
void TileSearch::make_lists(std::uint64_t most) {
  const bool leaves_open = figures_.filter != DecideChoice::scalar;
  if (sample_.stride == 0 && sample_stride() >= tuning::kSampledBlocks) take_sample();
  std::uint64_t pairs = points_.size * tuning::kGuessedPairs;
  std::uint64_t open = 0;
  if (sample_.stride > 0) {
    pairs = sample_.counts.pairs * sample_.stride / 4 * 5;
    open = sample_.counts.open * sample_.stride / 4 * 5;
  }
  pairs_ = {memory_, stream_.get(), std::clamp(pairs, kLeastCapacity, most)};
  if (leaves_open) {
    open_ = {memory_, stream_.get(), std::clamp(open, kLeastCapacity, std::max(kLeastCapacity, most / 4))};
  }
}

void TileSearch::for_each_list(const std::function<void(PairsOnDevice)>& visit) {
  if (cached_) return visit({pairs_.data(), cached_size_});
  if (tiles_->block_count() == 0) return;
  const std::uint64_t most = std::max(kLeastCapacity, memory_.available() / tuning::kPairShare / sizeof(PointPair));
  if (pairs_.size() == 0) make_lists(most);
  Pass pass{.left = cut_work(), .whole = !std::exchange(first_pass_done_, true)};
  const auto hand_out = [&] {
    if (pass.taken > 0) visit({pairs_.data(), pass.taken});
    pass.taken = 0;
    pass.whole = false;
  };
  while (!pass.left.empty()) {
    cancel_.check();
    launch(pass.left.back(), pass.taken);
    const PairCounts counts = read_values(counts_.data(), 1, stream_.get()).front();
    if (counts.open <= open_.size() && counts.pairs <= pairs_.size()) {
      pass.taken = counts.pairs;
      figures_.undecided_pairs += counts.open;
      pass.left.pop_back();
    } else if (!make_buffer(counts, pass, most)) {
      // A part that did not fit is done again: in a larger list, else in an empty list, else in two halves.
      if (pass.taken > 0) {
        hand_out();
      } else {
        halve_next(pass);
      }
    }
  }
  if (!pass.whole) return hand_out();
  cached_ = true;
  cached_size_ = pass.taken;
  open_ = {};
  visit({pairs_.data(), cached_size_});
}

/// Enlarges the lists for the part that `counts` belongs to, and for the remaining parts if each has as many pairs as
/// this one. Returns false if that exceeds `most`.
bool TileSearch::make_buffer(const PairCounts& counts, const Pass& pass, std::uint64_t most) {
  if (counts.open > open_.size()) {
    if (counts.open > most / 4) return false;
    open_ = {};
    open_ = {memory_, stream_.get(), counts.open + counts.open / 8};
    return true;
  }
  const std::uint64_t wanted = counts.pairs + (counts.pairs - pass.taken) * (pass.left.size() - 1);
  if (wanted > most) return false;
  DeviceBuffer<PointPair> larger(memory_, stream_.get(), std::min(most, wanted * 9 / 8 + kLeastCapacity));
  if (pass.taken > 0) {
    check(cudaMemcpyAsync(larger.data(), pairs_.data(), pass.taken * sizeof(PointPair), cudaMemcpyDeviceToDevice,
                          stream_.get()));
  }
  pairs_ = std::move(larger);
  return true;
}

void TileSearch::halve_next(Pass& pass) {
  const TileWork work = pass.left.back();
  pass.left.back() = {work.blocks, work.count, work.first + work.stride, 2 * work.stride};
  pass.left.push_back({work.blocks, work.count, work.first, 2 * work.stride});
}

void TileSearch::forget_united(const std::uint32_t* core_bits) {
  if (!cached_ || cached_size_ < tuning::kFewestForgotten) return;
  const PairsOnDevice list{pairs_.data(), cached_size_};
  unsigned long long* const count = &counts_.data()->pairs;
  launch_count_needed_pairs(list, core_bits, count, stream_.get());
  const std::uint64_t capacity = read_values(count, 1, stream_.get()).front() + most_copy_gaps();
  if (capacity > cached_size_ / 2 || capacity * sizeof(PointPair) > memory_.available()) return;
  DeviceBuffer<PointPair> needed(memory_, stream_.get(), capacity);
  launch_copy_needed_pairs(list, core_bits, needed.data(), capacity, count, stream_.get());
  cached_size_ = read_values(count, 1, stream_.get()).front();
  pairs_ = std::move(needed);
}

}  // namespace epsflow::gpu
