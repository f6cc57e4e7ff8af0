#include <epsflow/index/layer_candidates.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>

#include <epsflow/core/parallel.hpp>
#include <epsflow/core/scatter.hpp>

namespace epsflow::index {
namespace {

constexpr std::size_t kRandomPivots = 64;
constexpr std::size_t kChosenPivots = 16;
constexpr std::size_t kCorners = 16;
constexpr std::size_t kTreeCoordinates = 6;
static_assert(kChosenPivots + kCorners + kTreeCoordinates == kMostCandidates && kMostFunctions <= kMostCandidates);
/// Bins are a little wider than a reach, which MiSTIC requires to be exact.
constexpr double kBinSlack = 1 + 0x1p-20;
/// 1/kTail of the sample may lie in the first bin, and in the last, so that a few outliers do not widen all bins.
constexpr std::size_t kTail = 128;
/// A function with a larger rounding error, in reaches, does not separate points.
constexpr double kMostMargin = 0x1p10;

/// Every `stride`-th point of the sample, as columns: coordinate k of all points is contiguous.
struct SampleColumns {
  explicit SampleColumns(const LayerSample& sample, std::size_t stride = 1)
      : points((sample.size() + stride - 1) / stride), dims(sample.dims), values(points * dims) {
    for (std::size_t i = 0; i < points; ++i) {
      for (std::size_t k = 0; k < dims; ++k) values[k * points + i] = sample.values[i * stride * dims + k];
    }
  }
  [[nodiscard]] std::span<const double> column(std::size_t k) const { return {values.data() + k * points, points}; }

  std::size_t points;
  std::size_t dims;
  std::vector<double> values;
};

/// Returns the distances to a pivot, by the order of operations of scaled_values().
std::vector<double> distances(const SampleColumns& columns, std::span<const double> pivot) {
  std::vector<double> sums(columns.points);
  for (std::size_t k = 0; k < columns.dims; ++k) {
    const std::span<const double> x = columns.column(k);
    const double r = pivot[k];
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double diff = x[i] - r;
      sums[i] += diff * diff;
    }
  }
  for (double& sum : sums) sum = std::sqrt(sum);
  return sums;
}

/// Returns a standard deviation that is good enough for ranking. Values are scaled down so that no square overflows.
double spread_of(std::span<const double> values) {
  double largest = 0;
  for (const double x : values) largest = std::max(largest, std::abs(x));
  if (largest == 0 || std::isinf(largest)) return largest;
  const int exponent = std::clamp(std::ilogb(largest), -1000, 1000);
  const double scale = std::ldexp(1.0, -exponent);
  double mean = 0, sum = 0;
  for (const double x : values) mean += x * scale;
  mean /= static_cast<double>(values.size());
  for (const double x : values) sum += (x * scale - mean) * (x * scale - mean);
  return std::ldexp(std::sqrt(sum / static_cast<double>(values.size())), exponent);
}

std::vector<std::uint32_t> dims_by_variance(const SampleColumns& columns) {
  std::vector<double> spread(columns.dims);
  parallel_for(columns.dims, [&](std::size_t k) { spread[k] = spread_of(columns.column(k)); });
  std::vector<std::uint32_t> dims(columns.dims);
  std::iota(dims.begin(), dims.end(), 0);
  std::stable_sort(dims.begin(), dims.end(), [&](auto a, auto b) { return spread[a] > spread[b]; });
  return dims;
}

std::vector<std::vector<double>> random_pivots(const LayerSample& sample, std::span<const double> lo,
                                               std::span<const double> hi) {
  const SampleColumns columns(sample, std::max<std::size_t>(1, sample.size() / kRankingPoints));
  Scattered random(0x5EED);
  // Half of the pivots are anywhere in the bounding box to separate clusters, half among the points to divide them.
  std::vector<std::vector<double>> pivots(kRandomPivots);
  for (std::size_t p = 0; p < kRandomPivots; ++p) {
    pivots[p].resize(columns.dims);
    const std::size_t row = random.next() % columns.points;
    for (std::size_t k = 0; k < columns.dims; ++k) {
      const double share = static_cast<double>(random.next() >> 11) * 0x1p-53;
      pivots[p][k] = p % 2 == 0 ? lo[k] * (1 - share) + hi[k] * share : columns.column(k)[row];
    }
  }
  std::vector<double> spread(kRandomPivots);
  parallel_for(kRandomPivots, [&](std::size_t p) { spread[p] = spread_of(distances(columns, pivots[p])); });
  std::vector<std::size_t> ranked(kRandomPivots);
  std::iota(ranked.begin(), ranked.end(), 0);
  std::stable_sort(ranked.begin(), ranked.end(), [&](auto a, auto b) { return spread[a] > spread[b]; });
  std::vector<std::vector<double>> chosen;
  for (std::size_t p = 0; p < kChosenPivots; ++p) chosen.push_back(std::move(pivots[ranked[p]]));
  return chosen;
}

std::vector<LayerCandidate> list_candidates(const LayerSample& sample, const SampleColumns& columns, LayerKind kind) {
  std::vector<LayerCandidate> candidates;
  const std::vector<std::uint32_t> dims = dims_by_variance(columns);
  const std::size_t coordinates = kind == LayerKind::grid ? kMostFunctions : kTreeCoordinates;
  for (std::size_t k = 0; k < std::min(coordinates, dims.size()); ++k) candidates.emplace_back(dims[k]);
  if (kind == LayerKind::grid) return candidates;

  std::vector<double> lo(columns.dims), hi(columns.dims);
  for (std::size_t k = 0; k < columns.dims; ++k) {
    const auto [least, most] = std::ranges::minmax(columns.column(k));
    lo[k] = least;
    hi[k] = most;
  }
  for (auto& pivot : random_pivots(sample, lo, hi)) candidates.emplace_back(std::move(pivot));
  // Corners differ from each other in half of the dimensions, if there are enough dimensions.
  for (std::uint32_t c = 0; c < kCorners; ++c) {
    std::vector<double> corner(columns.dims);
    for (std::size_t k = 0; k < columns.dims; ++k) {
      const std::uint32_t mask = c & static_cast<std::uint32_t>(1 + k % 15);
      corner[dims[k]] = std::popcount(mask) % 2 == 0 ? lo[dims[k]] : hi[dims[k]];
    }
    candidates.emplace_back(std::move(corner));
  }
  return candidates;
}

/// Computes values, bins and the function of a candidate. `values`: unscaled values of the sample.
void measure(LayerCandidate& candidate, std::vector<double> values, double reach, std::size_t dims) {
  LayerFunction& function = candidate.function;
  function.dim = candidate.dim;
  const std::size_t n = values.size();
  std::vector<double> ranked = values;
  const auto at_rank = [&](std::size_t rank) {
    std::nth_element(ranked.begin(), ranked.begin() + static_cast<std::ptrdiff_t>(rank), ranked.end());
    return ranked[rank];
  };
  function.origin = at_rank(n / 2);
  if (std::abs(function.origin) <= kLargestOrigin && reach <= kLargestReach) {
    function.inverse_reach = 1 / reach;
  } else {
    function.origin = 0;
  }
  const double rounding = static_cast<double>(dims + 8) * 0x1p-51;
  function.slope = rounding;
  function.margin = 0x1p-30;
  if (!candidate.pivot.empty()) function.margin += rounding * (function.origin * function.inverse_reach);
  if (function.margin > kMostMargin) function.inverse_reach = function.margin = 0;

  function.first_bin = function.scaled(at_rank(n / kTail));
  const double length = function.scaled(at_rank(n - 1 - n / kTail)) - function.first_bin;
  const double width = std::max(kBinSlack, length / ((1 << kMostLayerBits) - 1));
  function.bins_per_reach = 1 / width;
  function.bins =
      static_cast<std::uint32_t>(std::min(length / width, static_cast<double>((1 << kMostLayerBits) - 1))) + 1;

  candidate.values = std::move(values);
  candidate.bins.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    candidate.values[i] = function.scaled(candidate.values[i]);
    candidate.bins[i] = function.bin(candidate.values[i]);
  }
}

}  // namespace

std::vector<LayerCandidate> make_candidates(const LayerSample& sample, double eps, LayerKind kind,
                                            const CancelToken& cancel) {
  const SampleColumns columns(sample);
  std::vector<LayerCandidate> candidates = list_candidates(sample, columns, kind);
  const double reach = tile_reach(eps, sample.dims);
  cancel.check();
  parallel_for(candidates.size(), [&](std::size_t c) {
    LayerCandidate& candidate = candidates[c];
    const std::span<const double> column = columns.column(candidate.dim);
    measure(candidate,
            candidate.pivot.empty() ? std::vector<double>(column.begin(), column.end())
                                    : distances(columns, candidate.pivot),
            reach, sample.dims);
  });
  return candidates;
}

std::uint64_t candidate_bytes(std::uint64_t sample, std::size_t dims) noexcept {
  // For each candidate: values and bins, and two copies of the values while all are measured.
  constexpr std::uint64_t kEach = 3 * sizeof(double) + sizeof(std::uint32_t);
  // The sample twice, by rows and by columns; pivots, and the points that rank them.
  return 2 * sample * dims * sizeof(double) + kMostCandidates * sample * kEach +
         (kRandomPivots + 2 * kMostCandidates + kRankingPoints) * (dims + kRankingPoints) * sizeof(double);
}

}  // namespace epsflow::index
