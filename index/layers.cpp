#include <epsflow/index/layers.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include <epsflow/core/parallel.hpp>
#include <epsflow/index/layer_candidates.hpp>
#include <epsflow/index/layer_choice.hpp>
#include <epsflow/index/radix_sort.hpp>

namespace epsflow::index {
namespace {

constexpr std::size_t kFewestSamplePoints = 512;
/// Coordinates of a sample, unless that would be too few points.
constexpr std::size_t kSampleCoordinates = 1 << 19;
constexpr std::size_t kLayerGrain = 1 << 12;
/// If a grid leaves no more than this share of pairs, a tree is not tried: it takes 1 to 2 ms to choose, and did not
/// prune more on any data on which a grid left this little.
constexpr double kFewRemaining = 0.05;
/// From this share of pairs on, sorting points does not pay. Tiles are pruned less than points.
constexpr double kNearlyAll = 0.9;

}  // namespace

std::size_t layer_sample_size(std::size_t n, std::size_t dims) noexcept {
  return std::min(
      n, std::clamp(kSampleCoordinates / std::max<std::size_t>(dims, 1), kFewestSamplePoints, kMostSamplePoints));
}

std::uint64_t layer_choice_bytes(std::size_t n, std::size_t dims) noexcept {
  return candidate_bytes(layer_sample_size(n, dims), dims) + choosing_bytes();
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
  const std::vector<LayerCandidate> candidates = make_candidates(sample, eps, kind, cancel);
  std::vector<std::size_t> chosen = choose_sorting(candidates, cancel);
  const std::size_t sorted = chosen.size();
  add_bounding(candidates, chosen);
  std::vector<LayerFunction> functions;
  std::vector<const LayerCandidate*> pivots;
  for (const std::size_t c : chosen) {
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
  return {std::move(functions), sorted, sample.dims, std::move(coordinates)};
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

PivotOrder::PivotOrder(PointsView points, double eps, LayerKind kind, const CancelToken& cancel)
    : layers_(choose_layers(layer_sample(points), eps, kind, cancel)), order_(points.size()) {
  const std::size_t n = points.size();
  const LayersView view = layers_.view();
  Buffer<KeyedId> made(n), spare(n);
  points.visit([&](auto values) {
    parallel_ranges(n, kLayerGrain, [&](std::size_t begin, std::size_t end) {
      double scaled[kMostFunctions];
      for (std::size_t i = begin; i != end; ++i) {
        scaled_values(view, view.sorted, values.data() + i * points.dims(), scaled);
        made[i] = {layer_key(view, scaled), static_cast<std::uint32_t>(i)};
      }
    });
  });
  cancel.check();
  const std::span<const KeyedId> items = radix_sort(
      made.span(), spare.span(), layers_.key_bits(), [](const KeyedId& item) { return item.key; }, cancel);
  const auto starts_leaf = [&](std::size_t i) { return i == 0 || items[i].key != items[i - 1].key; };
  // Leaves are counted first: growing vectors would take more memory than the leaves if every point has its own.
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
