// What is kept over many runs: the device, pools of memory, threads, and the data sets in the memory that the device works on.
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

/// A handle to a data set that an engine has loaded. Its points are checked once, and on a GPU uploaded once. run(), neighbors() and plan()
/// take it in place of points, metric and engine options; start() takes nothing else.
/// Copies are the same data set. It is freed with its last copy and the last job that works on it, and keeps its engine alive.
/// Thread-safe.
class Dataset {
 public:
  [[nodiscard]] std::size_t size() const noexcept;
  [[nodiscard]] std::size_t dims() const noexcept;
  /// How many slices the points are in; 0 where they are one data set.
  [[nodiscard]] std::size_t slices() const noexcept;
  /// What eps and distances are measured by.
  [[nodiscard]] const Metric& metric() const noexcept;
  /// The engine that has loaded it.
  [[nodiscard]] class Engine engine() const;

  /// The same points with weights, for runs in which a point is core if the weights of the points within eps, its own included, sum
  /// to minpts or more: the sample_weight of scikit-learn. With every weight 1 the labels are those without weights. What neighbours
  /// are does not change.
  ///
  /// weights: [host] [n], finite. They may be fractions, 0 or negative. Each is first rounded to a whole multiple of one power of two,
  /// which changes it by at most 2^-62 of the largest absolute weight (of 2^32, if that is less and no weight is below 0). The
  /// multiples are summed exactly, and the sum is rounded to float64 once. So sums do not depend on the order, and ten weights of 0.1
  /// are 1. The weights are copied, 8·n bytes, which count in EngineOptions::memory while the data set with them lives; a GPU has
  /// another copy, which counts in EngineOptions::gpu_memory. cancel: as for Engine::load(). O(n). Throws UsageError where there are
  /// not n weights, where one is not finite, and where some are below 0 and one would become 0 beside one over 2^32; ResourceError,
  /// Cancelled.
  [[nodiscard]] Dataset weighted(std::span<const double> weights, const CancelToken* cancel = nullptr) const;

 private:
  friend class Engine;
  friend class Session;
  explicit Dataset(std::shared_ptr<const DatasetState> state) : state_(std::move(state)) {}

  std::shared_ptr<const DatasetState> state_;
  std::shared_ptr<const DatasetWeights> weights_;  ///< null where the points have none
};

/// A device with its memory, and threads. The first run sets up what later runs use again: a GPU's context (about 0.2 s), pinned memory,
/// pools. Loads and runs of one engine share its memory. So they are done one after another, first come, first served; a callback of a run
/// must therefore neither begin another run of the engine nor load with it. Copies are the same engine. Thread-safe.
class Engine {
 public:
  /// The options are fixed for the life of the engine. on_notice is told once, in a sentence, where the engine takes another backend
  /// than one might expect (Observer::on_notice). Throws UsageError, ResourceError.
  explicit Engine(const EngineOptions& options = {},
                  const std::function<void(const std::string&)>& on_notice = nullptr);

  /// points: [host] [n × d], row-major; must outlive the data set, unchanged. Their bytes count in EngineOptions::memory while the
  /// data set lives. metric: if it transforms the points (core/metric.hpp), the transformed ones are a second array, which counts,
  /// too. The norms without scale and without box transform nothing. cancel: may be null. If it is cancelled while this load waits
  /// for its turn, the load throws Cancelled. O(n · d).
  /// Throws InputError for a coordinate that is NaN or infinite, and for one that the metric does not allow (out of range, outside the
  /// box, a zero vector), and for a box too large for the points (core/box_fit.hpp); UsageError where the metric does not fit the
  /// points (check_metric()); ResourceError.
  [[nodiscard]] Dataset load(PointsView points, const Metric& metric = {}, const CancelToken* cancel = nullptr) const;
  /// Loads many data sets at once: slice s is the points [slices[s], slices[s + 1]), and points of different slices are never neighbours.
  /// A run gives each slice the labels that a run of it alone would, and its counts (VariantResult::slices), in about the time that one
  /// data set of as many points takes. slices: [count + 1], from 0 to the number of points, not descending; slices may be empty. Such a
  /// data set serves run(), start(), neighbors() and plan(), with points searched by a grid of cells.
  /// Throws as above, and UsageError for such offsets.
  [[nodiscard]] Dataset load(PointsView points, std::span<const std::uint64_t> slices, const Metric& metric = {},
                             const CancelToken* cancel = nullptr) const;
  /// Loads points that are in the memory of the engine's GPU, by the plain Euclidean distance. They stay where they are and must
  /// outlive the data set, unchanged. Their bytes count in EngineOptions::memory too, because some runs need them on the host. Throws
  /// as above, and UsageError where they are on another device or the engine runs on the CPU.
  [[nodiscard]] Dataset load(const DevicePointsView& points, const CancelToken* cancel = nullptr) const;
  /// The same of many data sets.
  [[nodiscard]] Dataset load(const DevicePointsView& points, std::span<const std::uint64_t> slices,
                             const CancelToken* cancel = nullptr) const;

  /// The catalogue of points that are in the memory of the engine's GPU (catalog/device_catalog.hpp): as catalog() makes it on the
  /// host, by any metric. Sums over points go in another order, which is the same from run to run: where they are exact all is equal, else to
  /// about 1e-12. Takes its turn, and some 20·n bytes of EngineOptions::gpu_memory besides what the catalogue takes. Throws as catalog()
  /// does, and UsageError where arrays are on another GPU or the engine runs on the CPU.
  [[nodiscard]] Catalog catalog(const DeviceCatalogInput& input, const CancelToken* cancel = nullptr) const;

  /// "cpu" or "gpu".
  [[nodiscard]] std::string_view backend() const noexcept;
  /// Memory, threads, backend and gpu are the values in use, also where they were left to the engine.
  [[nodiscard]] const EngineOptions& options() const noexcept;

 private:
  friend class Dataset;
  friend class EngineTurn;
  explicit Engine(std::shared_ptr<EngineState> state) : state_(std::move(state)) {}

  std::shared_ptr<EngineState> state_;
};

}  // namespace epsflow
