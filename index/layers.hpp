// Layers: an order of points by functions that separate distant points, in any number of dimensions.
//
// Source: MiSTIC (Donnelly, Gowanlock: "Multi-Space Tree with Incremental Construction for GPU-Accelerated Range
// Queries", HiPC 2024): each layer takes the function whose bins, together with the bins of the layers before, divide
// the points most evenly. Differences: the choice is made on a sample. The most even function is the one that leaves
// the fewest pairs of points together, because MiSTIC's measure calls a function of one bin perfectly balanced. Points
// are sorted by their bins instead of being put into a tree of arrays. Pruning uses the real intervals of tiles of
// consecutive points, so bins need not be as wide as eps, nor exact to the last bit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <epsflow/core/buffer.hpp>
#include <epsflow/core/cancel.hpp>
#include <epsflow/core/choices.hpp>
#include <epsflow/core/points.hpp>
#include <epsflow/index/layer_function.hpp>

namespace epsflow::index {

enum class LayerKind : std::uint8_t {
  grid,  ///< the coordinates of largest variance
  tree,  ///< coordinates, distances to corners of the bounding box, distances to random pivots
};

/// A sample: every k-th point in input order.
struct LayerSample {
  std::size_t dims = 1;
  std::vector<double> values;  ///< [points × dims], row-major

  [[nodiscard]] std::size_t size() const noexcept { return values.size() / dims; }
};
inline constexpr std::size_t kMostSamplePoints = 2048;
/// Returns the number of points in the sample of n points.
[[nodiscard]] std::size_t layer_sample_size(std::size_t n, std::size_t dims) noexcept;
/// Returns the id of the i-th point of a sample that takes `sample` of n points.
[[nodiscard]] EPSFLOW_HOST_DEVICE inline std::uint64_t layer_sample_row(std::uint64_t i, std::uint64_t sample,
                                                                        std::uint64_t n) noexcept {
  return i * (n / sample);
}
[[nodiscard]] LayerSample layer_sample(PointsView points);
/// Returns the peak memory of taking a sample of n points and choosing layers by it, in bytes.
[[nodiscard]] std::uint64_t layer_choice_bytes(std::size_t n, std::size_t dims) noexcept;

/// Returns the tile reach: no two neighbours are farther apart, measured without rounding. It is infinity if eps is
/// above kLargestReach. layer_function.hpp has the proof.
[[nodiscard]] double tile_reach(double eps, std::size_t dims) noexcept;

/// Chosen functions with their pivots.
class Layers {
 public:
  Layers() = default;
  Layers(std::vector<LayerFunction> functions, std::size_t sorted, std::size_t dims, std::vector<double> pivots);

  /// Returns a view whose pivots are in the memory of this object. A caller with a copy of them elsewhere, such as on a
  /// GPU, replaces the pointer.
  [[nodiscard]] LayersView view() const noexcept;
  /// Returns the functions; those that points are sorted by come first.
  [[nodiscard]] std::span<const LayerFunction> functions() const noexcept { return functions_; }
  /// Coordinate k of all pivots is contiguous. [dims × pivots]
  [[nodiscard]] std::span<const double> pivots() const noexcept { return pivots_; }
  /// Every layer_key() is less than 2^key_bits().
  [[nodiscard]] unsigned key_bits() const noexcept { return key_bits_; }

 private:
  std::vector<LayerFunction> functions_;
  std::vector<double> pivots_;
  std::size_t sorted_ = 0;
  std::size_t dims_ = 1;
  unsigned key_bits_ = 0;
};

/// Chooses functions by a sample of the points; none if the sample is empty. O(sample · dims · candidates), in
/// parallel; the result does not depend on the number of threads. Throws Cancelled.
[[nodiscard]] Layers choose_layers(const LayerSample& sample, double eps, LayerKind kind, const CancelToken& cancel);

/// Returns the share of the pairs of a sample that no function separates, because none differs by more than 1 reach; 1
/// if there are no functions or fewer than two points. Of a large sample a few hundred points are used.
[[nodiscard]] double remaining_share(const Layers& layers, const LayerSample& sample);

struct LayersOfKind {
  IndexChoice index = IndexChoice::all;
  Layers layers;
};
/// Returns the layers that prune a sample best: of LayerKind::grid if they leave few pairs, else the better of grid and
/// tree. If neither prunes more than a tenth, returns IndexChoice::all without layers. Otherwise as choose_layers().
[[nodiscard]] LayersOfKind choose_layers_kind(const LayerSample& sample, double eps, const CancelToken& cancel);

/// Computes the LayerFunction::scaled() values of the first `count` functions of a view at a point. Writes them to
/// `scaled`, [count].
template <class T>
void scaled_values(const LayersView& view, std::uint32_t count, const T* point, double* scaled) noexcept {
  double sums[kMostFunctions] = {};
  const std::uint32_t used = count > view.sorted ? view.pivot_count : view.sorted_pivots;
  for (std::uint32_t k = 0; k < view.dims && used > 0; ++k) {
    const auto x = static_cast<double>(point[k]);
    const double* const pivots = view.pivots + std::size_t{k} * view.pivot_count;
    for (std::uint32_t p = 0; p < used; ++p) {
      const double diff = rounded_difference(x, pivots[p]);
      sums[p] = rounded_sum(sums[p], rounded_product(diff, diff));
    }
  }
  for (std::uint32_t f = 0; f < count; ++f) {
    const LayerFunction& function = view.functions[f];
    scaled[f] = function.scaled(function.pivot == LayerFunction::kNoPivot ? static_cast<double>(point[function.dim])
                                                                          : rounded_root(sums[function.pivot]));
  }
}

/// Points sorted by layer_key(), whose highest bits are the bin of the first layer; points with equal bins by id.
class PivotOrder {
 public:
  /// O(n·d) and a radix sort, in parallel. Throws Cancelled.
  PivotOrder(PointsView points, double eps, LayerKind kind, const CancelToken& cancel);

  [[nodiscard]] std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(order_.size()); }
  [[nodiscard]] const Layers& layers() const noexcept { return layers_; }
  /// Input id of each position. [n]
  [[nodiscard]] std::span<const std::uint32_t> order() const noexcept { return order_.span(); }
  /// Moves the order out of an object that is not used afterwards.
  [[nodiscard]] Buffer<std::uint32_t> take_order() && noexcept { return std::move(order_); }
  /// First position of each different key, and n. [leaves + 1]
  [[nodiscard]] std::span<const std::uint32_t> leaf_starts() const noexcept { return leaf_starts_; }
  /// The keys, ascending. [leaves]
  [[nodiscard]] std::span<const std::uint64_t> leaf_keys() const noexcept { return leaf_keys_; }

 private:
  Layers layers_;
  Buffer<std::uint32_t> order_;
  std::vector<std::uint32_t> leaf_starts_;
  std::vector<std::uint64_t> leaf_keys_;
};

}  // namespace epsflow::index
