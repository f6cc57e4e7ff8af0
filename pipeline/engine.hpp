// An engine is kept over many runs: it owns the device, memory pools, threads, and the data sets that it has loaded.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <epsflow/core/cancel.hpp>
#include <epsflow/core/device_array.hpp>
#include <epsflow/core/metric.hpp>
#include <epsflow/core/points.hpp>
#include <epsflow/pipeline/options.hpp>

namespace epsflow {

struct Catalog;
struct DeviceCatalogInput;
struct EngineState;
struct DatasetState;
struct DatasetWeights;

/// A handle to a data set that an engine has loaded. Its points are checked once, and on a GPU uploaded once. Runs take
/// a Dataset. The free functions run(), neighbors() and plan() also take points, with a metric and engine options,
/// instead of a Dataset. Copies refer to the same data set. It is freed with its last copy and its last job, and it
/// keeps its engine alive. Thread-safe.
class Dataset {
 public:
  [[nodiscard]] std::size_t size() const noexcept;
  [[nodiscard]] std::size_t dims() const noexcept;
  /// Returns the number of slices of the points; 0 if they are one data set.
  [[nodiscard]] std::size_t slices() const noexcept;
  /// Returns the metric that measures eps and distances.
  [[nodiscard]] const Metric& metric() const noexcept;
  /// Returns the engine that has loaded it.
  [[nodiscard]] class Engine engine() const;

  /// Returns the same points with weights, the sample_weight of scikit-learn: in its runs a point is core if the
  /// weights of the points within eps, its own included, sum to minpts or more. With every weight 1 the labels are
  /// equal to those without weights. Neighbours do not depend on weights.
  ///
  /// weights: [host] [n], finite. They may be fractions, 0 or negative. If none is negative, weights above 2^32 are
  /// first set to 2^32, which is enough for any minpts. Then each is rounded to a whole multiple of a power of two, the
  /// same for all weights. This changes a weight by at most 2^-62 of the largest absolute weight. The multiples are
  /// summed exactly, and the sum is rounded to float64 once. So sums do not depend on the order, and ten weights of 0.1
  /// sum to 1.
  ///
  /// The weights are copied: 8·n bytes, which count in EngineOptions::memory while the data set with them lives. A GPU
  /// has another copy, which counts in EngineOptions::gpu_memory. cancel: as for Engine::load(). O(n). Throws
  /// ResourceError and Cancelled; UsageError if there are not n weights, or if one is not finite; and UsageError if
  /// some weights are negative, some have absolute values above 2^32, and some that are not 0 would be rounded to 0.
  [[nodiscard]] Dataset weighted(std::span<const double> weights, const CancelToken* cancel = nullptr) const;

 private:
  friend class Engine;
  friend class Session;
  explicit Dataset(std::shared_ptr<const DatasetState> state) : state_(std::move(state)) {}

  std::shared_ptr<const DatasetState> state_;
  std::shared_ptr<const DatasetWeights> weights_;  ///< null if the points have no weights
};

/// A device with its memory, and threads. The first run sets up what later runs reuse: a GPU's context (about 0.2 s),
/// pinned memory, pools. Loads and runs of one engine share its memory, so they run one after another, first come,
/// first served. A callback of a run must therefore neither begin another run of the engine nor load with it. Copies
/// refer to the same engine. Thread-safe.
class Engine {
 public:
  /// The options are fixed for the life of the engine. Calls on_notice at most once, with a sentence, if there is a GPU
  /// but the engine uses the CPU because that GPU cannot be used. Throws UsageError, ResourceError.
  explicit Engine(const EngineOptions& options = {},
                  const std::function<void(const std::string&)>& on_notice = nullptr);

  /// Loads points. points: [host] [n × d], row-major; must outlive the data set, unchanged. Their bytes count in
  /// EngineOptions::memory while the data set lives. metric: if it transforms the points (core/metric.hpp), the
  /// transformed points are a second array, which counts too. Without scale and box, the norms (euclidean, manhattan,
  /// chebyshev, minkowski) need no second array. O(n · d). cancel: may be null. If it is cancelled while this load
  /// waits for its turn, the load throws Cancelled. Throws InputError for a coordinate that is NaN or infinite or that
  /// the metric does not allow (out of range, outside the box, a zero vector), and for a box so large that it rounds
  /// the points too coarsely (core/box_fit.hpp); UsageError if the metric does not fit the points (check_metric()), and
  /// on a GPU for powers of minkowski other than 1, 2 and infinity; ResourceError.
  [[nodiscard]] Dataset load(PointsView points, const Metric& metric = {}, const CancelToken* cancel = nullptr) const;
  /// Loads many data sets at once: slice s holds the points [slices[s], slices[s + 1]), and points of different slices
  /// are never neighbours. A run gives each slice the labels and counts (VariantResult::slices) that a run of this
  /// slice alone would give it, in about the time of one data set with as many points. slices: [count + 1], from 0 to
  /// the number of points, not descending; slices may be empty. run(), start(), neighbors() and plan() accept such a
  /// data set; its points are searched by a grid of cells, or on a CPU by lists of pairs if the slices are small and
  /// sparse. Throws as load() of one data set, and UsageError for invalid offsets.
  [[nodiscard]] Dataset load(PointsView points, std::span<const std::uint64_t> slices, const Metric& metric = {},
                             const CancelToken* cancel = nullptr) const;
  /// Loads points that are in the memory of the engine's GPU, with the plain Euclidean distance. They stay there and
  /// must outlive the data set, unchanged. Their bytes count in EngineOptions::memory too, because some runs need them
  /// on the host. Throws as load() of host points, and UsageError if they are on another device or the engine runs on
  /// the CPU.
  [[nodiscard]] Dataset load(const DevicePointsView& points, const CancelToken* cancel = nullptr) const;
  /// Loads many data sets from the memory of the engine's GPU, as the two functions above do.
  [[nodiscard]] Dataset load(const DevicePointsView& points, std::span<const std::uint64_t> slices,
                             const CancelToken* cancel = nullptr) const;

  /// Makes the catalogue of points that are in the memory of the engine's GPU (catalog/device_catalog.hpp), by any
  /// metric, as the free function epsflow::catalog() does on the host. Sums are added in another order than on the
  /// host, but in the same order in every run. Sums that need no rounding equal the sums on the host; others differ by
  /// about 1e-12 of the sum of the absolute values. Waits for its turn. Takes about 20·n bytes of
  /// EngineOptions::gpu_memory, and memory for the catalogue, for copies of the points and weights, and for copies of
  /// arrays that are on the host. Throws as epsflow::catalog() does, and UsageError if arrays are on another GPU or the
  /// engine runs on the CPU.
  [[nodiscard]] Catalog catalog(const DeviceCatalogInput& input, const CancelToken* cancel = nullptr) const;

  /// Returns "cpu" or "gpu".
  [[nodiscard]] std::string_view backend() const noexcept;
  /// Returns the options with the memory, threads, backend and gpu in use, even if they were left to the engine;
  /// gpu_memory is as given.
  [[nodiscard]] const EngineOptions& options() const noexcept;

 private:
  friend class Dataset;
  friend class EngineLock;
  explicit Engine(std::shared_ptr<EngineState> state) : state_(std::move(state)) {}

  std::shared_ptr<EngineState> state_;
};

}  // namespace epsflow
