#include <epsflow/index/layers.hpp>

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include <epsflow/index/radix_sort.hpp>

namespace epsflow::index {
namespace {

constexpr std::size_t kMostSamplePoints = 2048;
constexpr std::size_t kFewestSamplePoints = 512;
/// Coordinates of a sample, unless these are fewer points.
constexpr std::size_t kSampleCoordinates = 1 << 19;
/// Points of the sample that rank the random pivots, and functions that only bound.
constexpr std::size_t kRankingPoints = 256;
constexpr std::size_t kRandomPivots = 64;
constexpr std::size_t kKeptPivots = 16;
constexpr std::size_t kCorners = 16;
constexpr std::size_t kCoordinates = 6;
/// Bins are a little wider than a reach, as MiSTIC's should be to be exact.
constexpr double kBinSlack = 1 + 0x1p-20;
/// Share of the sample that may lie in the first bin and in the last whatever its distance, so that a few outliers do
/// not make all bins wide.
constexpr std::size_t kTail = 128;
/// Origins above it make a function 0 everywhere, reaches above the other all of them; see layer_function.hpp.
constexpr double kLargestOrigin = 0x1p500;
constexpr double kLargestReach = 0x1p400;
/// Reaches of rounding beyond which a function tells nothing.
constexpr double kMostMargin = 0x1p10;
constexpr std::size_t kLayerGrain = 1 << 12;
/// Share of pairs that a grid may leave for a tree not to be looked at: it takes 1 to 2 ms to choose, and pruned no more of any
/// data on which a grid left this little.
constexpr double kFewRemaining = 0.05;
/// Share of pairs from which sorting points does not pay. Tiles are pruned less than points.
constexpr double kNearlyAll = 0.9;

/// splitmix64: the same numbers everywhere.
class Sequence {
 public:
  std::uint64_t bits() noexcept {
    std::uint64_t z = state_ += 0x9E3779B97F4A7C15;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
  }
  double unit() noexcept { return static_cast<double>(bits() >> 11) * 0x1p-53; }

 private:
  std::uint64_t state_ = 0x5EED;
};

/// A function that may become a layer: a coordinate, or a pivot where there is one.
struct Candidate {
  explicit Candidate(std::uint32_t coordinate) : dim(coordinate) {}
  explicit Candidate(std::vector<double> at) : pivot(std::move(at)) {}

  std::uint32_t dim = 0;
  std::vector<double> pivot;
  std::vector<double> values;       ///< of the sample, in reaches
  std::vector<std::uint32_t> bins;  ///< of the sample
  LayerFunction function;
};

/// Points of the sample, every `stride`-th, as they are worked with: coordinate k of all of them side by side.
struct Columns {
  explicit Columns(const LayerSample& sample, std::size_t stride = 1)
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

/// Distances to a pivot, in the order of operations that scaled_values() has.
std::vector<double> distances(const Columns& columns, std::span<const double> pivot) {
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

/// Standard deviation, good enough to rank by. Scaled down so that no square overflows.
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

std::vector<std::uint32_t> dims_by_variance(const Columns& columns) {
  std::vector<double> spread(columns.dims);
  tbb::parallel_for(std::size_t{0}, columns.dims, [&](std::size_t k) { spread[k] = spread_of(columns.column(k)); });
  std::vector<std::uint32_t> dims(columns.dims);
  std::iota(dims.begin(), dims.end(), 0);
  std::stable_sort(dims.begin(), dims.end(), [&](auto a, auto b) { return spread[a] > spread[b]; });
  return dims;
}

std::vector<std::vector<double>> random_pivots(const LayerSample& sample, std::span<const double> lo,
                                               std::span<const double> hi) {
  const Columns columns(sample, std::max<std::size_t>(1, sample.size() / kRankingPoints));
  Sequence random;
  // Half of them anywhere in the bounding box, half among the points: the former see clusters from afar, the latter from
  // within.
  std::vector<std::vector<double>> pivots(kRandomPivots);
  for (std::size_t p = 0; p < kRandomPivots; ++p) {
    pivots[p].resize(columns.dims);
    const std::size_t row = random.bits() % columns.points;
    for (std::size_t k = 0; k < columns.dims; ++k) {
      const double share = random.unit();
      pivots[p][k] = p % 2 == 0 ? lo[k] * (1 - share) + hi[k] * share : columns.column(k)[row];
    }
  }
  std::vector<double> spread(kRandomPivots);
  tbb::parallel_for(std::size_t{0}, kRandomPivots,
                    [&](std::size_t p) { spread[p] = spread_of(distances(columns, pivots[p])); });
  std::vector<std::size_t> ranked(kRandomPivots);
  std::iota(ranked.begin(), ranked.end(), 0);
  std::stable_sort(ranked.begin(), ranked.end(), [&](auto a, auto b) { return spread[a] > spread[b]; });
  std::vector<std::vector<double>> kept;
  for (std::size_t p = 0; p < kKeptPivots; ++p) kept.push_back(std::move(pivots[ranked[p]]));
  return kept;
}

std::vector<Candidate> make_candidates(const LayerSample& sample, const Columns& columns, LayerKind kind) {
  std::vector<Candidate> candidates;
  const std::vector<std::uint32_t> dims = dims_by_variance(columns);
  const std::size_t coordinates = kind == LayerKind::grid ? kMostFunctions : kCoordinates;
  for (std::size_t k = 0; k < std::min(coordinates, dims.size()); ++k) candidates.emplace_back(dims[k]);
  if (kind == LayerKind::grid) return candidates;

  std::vector<double> lo(columns.dims), hi(columns.dims);
  for (std::size_t k = 0; k < columns.dims; ++k) {
    const auto [least, most] = std::ranges::minmax(columns.column(k));
    lo[k] = least;
    hi[k] = most;
  }
  for (auto& pivot : random_pivots(sample, lo, hi)) candidates.emplace_back(std::move(pivot));
  // Corners that differ from each other in half of the dimensions, where there are enough of these.
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

/// Values, bins and the function itself of a candidate. `values`: of the sample, unscaled.
void measure(Candidate& candidate, std::vector<double> values, double reach, std::size_t dims) {
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

/// Σ count² over the bins of a candidate within the parts there are already: how many pairs of points it leaves together.
/// MiSTIC's Σ (count − mean)² is the same less n²/bins, which prefers few bins among equals, and a single one to all.
class RemainingPairs {
  struct Slot {
    std::uint32_t key = 0;
    std::uint32_t count = 0;
  };
  static constexpr unsigned kSlotBits = 12;
  static constexpr std::size_t kSlots = std::size_t{1} << kSlotBits;
  static_assert(kSlots >= 2 * kMostSamplePoints);

 public:
  static constexpr std::uint64_t kBytes = kSlots * sizeof(Slot);

  [[nodiscard]] std::uint64_t operator()(const Candidate& candidate, std::span<const std::uint32_t> part_of) {
    slots_.assign(kSlots, {});
    std::uint64_t squares = 0;
    for (std::size_t i = 0; i < part_of.size(); ++i) {
      const std::uint32_t key = (part_of[i] << kMostLayerBits | candidate.bins[i]) + 1;  // 0: an empty slot
      std::size_t at = key * 0x9E3779B1U >> (32 - kSlotBits);
      while (slots_[at].key != key && slots_[at].key != 0) at = (at + 1) % kSlots;
      slots_[at].key = key;
      squares += 2 * std::uint64_t{slots_[at].count++} + 1;
    }
    return squares;
  }

 private:
  std::vector<Slot> slots_;
};

/// Divides each part by the bins of a candidate.
void divide(const Candidate& candidate, std::vector<std::uint32_t>& part_of) {
  for (std::size_t i = 0; i < part_of.size(); ++i) part_of[i] = part_of[i] << kMostLayerBits | candidate.bins[i];
  std::vector<std::uint32_t> slots = part_of;
  std::ranges::sort(slots);
  slots.erase(std::unique(slots.begin(), slots.end()), slots.end());
  for (std::uint32_t& part : part_of) {
    part = static_cast<std::uint32_t>(std::ranges::lower_bound(slots, part) - slots.begin());
  }
}

/// Indices of candidates, layers first.
struct Chosen {
  std::vector<std::size_t> indices;
  std::size_t sorted = 0;
};

Chosen choose(std::span<const Candidate> candidates, std::size_t n, const CancelToken& cancel) {
  Chosen chosen;
  std::vector<char> taken(candidates.size());
  std::vector<std::uint32_t> part_of(n);
  while (chosen.sorted < kMostLayers && chosen.sorted < candidates.size()) {
    cancel.check();
    std::vector<std::uint64_t> scores(candidates.size(), std::numeric_limits<std::uint64_t>::max());
    tbb::parallel_for(std::size_t{0}, candidates.size(), [&](std::size_t c) {
      if (taken[c] == 0) scores[c] = RemainingPairs()(candidates[c], part_of);
    });
    const auto best = static_cast<std::size_t>(std::ranges::min_element(scores) - scores.begin());
    divide(candidates[best], part_of);
    taken[best] = 1;
    chosen.indices.push_back(best);
    ++chosen.sorted;
  }
  // Bounds: what varies most once that is taken out which the functions so far tell.
  const std::size_t stride = std::max<std::size_t>(1, n / kRankingPoints);
  std::vector<std::vector<double>> rest;
  for (const Candidate& candidate : candidates) {
    std::vector<double> values;
    for (std::size_t i = 0; i < n; i += stride) values.push_back(candidate.values[i]);
    const double mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
    for (double& x : values) x -= mean;
    rest.push_back(std::move(values));
  }
  const auto dot = [](std::span<const double> a, std::span<const double> b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
  };
  const auto take_out = [&](std::size_t c) {
    const double square = dot(rest[c], rest[c]);
    if (square == 0) return;
    for (std::size_t other = 0; other < candidates.size(); ++other) {
      if (taken[other] != 0) continue;
      const double share = dot(rest[other], rest[c]) / square;
      for (std::size_t i = 0; i < rest[c].size(); ++i) rest[other][i] -= share * rest[c][i];
    }
  };
  for (const std::size_t c : chosen.indices) take_out(c);
  while (chosen.indices.size() < std::min<std::size_t>(kMostFunctions, candidates.size())) {
    std::optional<std::size_t> best;
    double most = -1;
    for (std::size_t c = 0; c < candidates.size(); ++c) {
      const double square = taken[c] != 0 ? -1 : dot(rest[c], rest[c]);
      if (square > most) {
        most = square;
        best = c;
      }
    }
    if (!best) break;
    taken[*best] = 1;
    chosen.indices.push_back(*best);
    take_out(*best);
  }
  return chosen;
}

}  // namespace

std::size_t layer_sample_size(std::size_t n, std::size_t dims) noexcept {
  return std::min(
      n, std::clamp(kSampleCoordinates / std::max<std::size_t>(dims, 1), kFewestSamplePoints, kMostSamplePoints));
}

std::uint64_t layer_choice_bytes(std::size_t n, std::size_t dims) noexcept {
  const std::uint64_t sample = layer_sample_size(n, dims);
  const std::uint64_t candidates = kCoordinates + kKeptPivots + kCorners;
  // Of each candidate: values and bins, and two copies of the values while all are measured, or the slots of a score.
  const std::uint64_t each =
      sample * (3 * sizeof(double) + sizeof(std::uint32_t)) + kRankingPoints * sizeof(double) + RemainingPairs::kBytes;
  // The sample twice, by rows and by columns; pivots, and the points that rank them.
  return 2 * sample * dims * sizeof(double) + candidates * each +
         (kRandomPivots + 2 * candidates + kRankingPoints) * (dims + kRankingPoints) * sizeof(double);
}

LayerSample layer_sample(PointsView points) {
  LayerSample sample;
  sample.dims = points.dims();
  const std::size_t size = layer_sample_size(points.size(), points.dims());
  sample.values.resize(size * points.dims());
  points.visit([&](auto values) {
    for (std::size_t i = 0; i < size; ++i) {
      const auto row = values.subspan(layer_sample_row(i, size, points.size()) * points.dims(), points.dims());
      std::copy(row.begin(), row.end(), sample.values.begin() + static_cast<std::ptrdiff_t>(i * points.dims()));
    }
  });
  return sample;
}

double tile_reach(double eps, std::size_t dims) noexcept {
  if (std::isinf(eps * eps) || eps > kLargestReach) return std::numeric_limits<double>::infinity();
  return std::max(eps, 0x1p-500) * (1 + static_cast<double>(dims + 8) * 0x1p-52);
}

Layers::Layers(std::vector<LayerFunction> functions, std::size_t sorted, std::size_t dims, std::vector<double> pivots)
    : functions_(std::move(functions)), pivots_(std::move(pivots)), sorted_(sorted), dims_(dims) {
  for (std::size_t f = sorted_; f-- > 0;) {
    functions_[f].shift = key_bits_;
    key_bits_ += static_cast<unsigned>(std::bit_width(functions_[f].bins - 1));
  }
}

LayersView Layers::view() const noexcept {
  LayersView view;
  std::ranges::copy(functions_, view.functions);
  view.pivots = pivots_.data();
  view.count = static_cast<std::uint32_t>(functions_.size());
  view.sorted = static_cast<std::uint32_t>(sorted_);
  view.pivot_count = static_cast<std::uint32_t>(pivots_.size() / dims_);
  for (std::size_t f = 0; f < sorted_; ++f) {
    view.sorted_pivots += functions_[f].pivot != LayerFunction::kNoPivot ? 1 : 0;
  }
  view.dims = static_cast<std::uint32_t>(dims_);
  return view;
}

Layers choose_layers(const LayerSample& sample, double eps, LayerKind kind, const CancelToken& cancel) {
  cancel.check();
  if (sample.size() == 0) return {};
  const Columns columns(sample);
  std::vector<Candidate> candidates = make_candidates(sample, columns, kind);
  const double reach = tile_reach(eps, sample.dims);
  cancel.check();
  tbb::parallel_for(std::size_t{0}, candidates.size(), [&](std::size_t c) {
    Candidate& candidate = candidates[c];
    const std::span<const double> column = columns.column(candidate.dim);
    measure(candidate,
            candidate.pivot.empty() ? std::vector<double>(column.begin(), column.end())
                                    : distances(columns, candidate.pivot),
            reach, sample.dims);
  });
  const Chosen chosen = choose(candidates, columns.points, cancel);
  std::vector<LayerFunction> functions;
  std::vector<const Candidate*> pivots;
  for (const std::size_t c : chosen.indices) {
    LayerFunction function = candidates[c].function;
    if (!candidates[c].pivot.empty()) {
      function.pivot = static_cast<std::uint32_t>(pivots.size());
      pivots.push_back(&candidates[c]);
    }
    functions.push_back(function);
  }
  std::vector<double> coordinates(sample.dims * pivots.size());
  for (std::size_t k = 0; k < sample.dims; ++k) {
    for (std::size_t p = 0; p < pivots.size(); ++p) coordinates[k * pivots.size() + p] = pivots[p]->pivot[k];
  }
  return {std::move(functions), chosen.sorted, sample.dims, std::move(coordinates)};
}

double remaining_share(const Layers& layers, const LayerSample& sample) {
  const LayersView view = layers.view();
  const std::size_t stride = std::max<std::size_t>(1, sample.size() / kRankingPoints);
  std::vector<double> scaled;
  for (std::size_t i = 0; i < sample.size(); i += stride) {
    double values[kMostFunctions];
    scaled_values(view, view.count, &sample.values[i * sample.dims], values);
    scaled.insert(scaled.end(), values, values + view.count);
  }
  if (view.count == 0) return 1;
  const std::size_t points = scaled.size() / view.count;
  std::size_t remaining = 0;
  for (std::size_t p = 0; p < points; ++p) {
    for (std::size_t q = 0; q < p; ++q) {
      const double* const a = &scaled[p * view.count];
      const double* const b = &scaled[q * view.count];
      remaining += std::equal(a, a + view.count, b, [](double x, double y) { return std::abs(x - y) <= 1; }) ? 1 : 0;
    }
  }
  return points < 2 ? 1 : 2 * static_cast<double>(remaining) / static_cast<double>(points * (points - 1));
}

LayersOfKind choose_layers_kind(const LayerSample& sample, double eps, const CancelToken& cancel) {
  LayersOfKind grid{IndexChoice::grid, choose_layers(sample, eps, LayerKind::grid, cancel)};
  const double of_grid = remaining_share(grid.layers, sample);
  if (of_grid <= kFewRemaining) return grid;
  LayersOfKind tree{IndexChoice::tree, choose_layers(sample, eps, LayerKind::tree, cancel)};
  const double of_tree = remaining_share(tree.layers, sample);
  if (std::min(of_grid, of_tree) >= kNearlyAll) return {};
  return of_grid <= of_tree ? grid : tree;
}

LayerOrder::LayerOrder(PointsView points, double eps, LayerKind kind, const CancelToken& cancel)
    : layers_(choose_layers(layer_sample(points), eps, kind, cancel)), order_(points.size()) {
  struct Item {
    std::uint64_t key;
    std::uint32_t id;
  };
  const std::size_t n = points.size();
  const LayersView view = layers_.view();
  Buffer<Item> made(n), spare(n);
  points.visit([&](auto values) {
    tbb::parallel_for(tbb::blocked_range<std::size_t>(0, n, kLayerGrain), [&](const auto& range) {
      double scaled[kMostFunctions];
      for (std::size_t i = range.begin(); i != range.end(); ++i) {
        scaled_values(view, view.sorted, values.data() + i * points.dims(), scaled);
        made[i] = {layer_key(view, scaled), static_cast<std::uint32_t>(i)};
      }
    });
  });
  cancel.check();
  const std::span<const Item> items = radix_sort(
      made.span(), spare.span(), layers_.key_bits(), [](const Item& item) { return item.key; }, cancel);
  const auto starts_leaf = [&](std::size_t i) { return i == 0 || items[i].key != items[i - 1].key; };
  // Counted first: vectors that grow would take more than the leaves of points that all have their own.
  std::size_t leaves = 0;
  for (std::size_t i = 0; i < n; ++i) leaves += starts_leaf(i) ? 1 : 0;
  leaf_starts_.reserve(leaves + 1);
  leaf_keys_.reserve(leaves);
  for (std::size_t i = 0; i < n; ++i) {
    order_[i] = items[i].id;
    if (!starts_leaf(i)) continue;
    leaf_starts_.push_back(static_cast<std::uint32_t>(i));
    leaf_keys_.push_back(items[i].key);
  }
  leaf_starts_.push_back(static_cast<std::uint32_t>(n));
}

}  // namespace epsflow::index
