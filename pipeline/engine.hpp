// What is kept over many runs: the device, pools of memory, threads, and data sets where the device works on them.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <epsflow/core/cancel.hpp>
#include <epsflow/core/device_array.hpp>
#include <epsflow/core/metric.hpp>
#include <epsflow/core/points.hpp>
#include <epsflow/pipeline/options.hpp>

namespace epsflow {

struct EngineState;
struct DatasetState;

/// A data set that an engine has loaded: checked once, and on a GPU uploaded once. Every function that takes points, a metric and
/// engine options takes one of these in their place. Copies are the same data set, which goes with the last of them and of the
/// jobs that work on it; it keeps its engine. Thread-safe.
class Dataset {
 public:
  [[nodiscard]] std::size_t size() const noexcept;
  [[nodiscard]] std::size_t dims() const noexcept;
  /// What eps and distances are measured by.
  [[nodiscard]] const Metric& metric() const noexcept;
  /// The engine that has loaded it.
  [[nodiscard]] class Engine engine() const;

 private:
  friend class Engine;
  friend class Session;
  explicit Dataset(std::shared_ptr<const DatasetState> state) : state_(std::move(state)) {}

  std::shared_ptr<const DatasetState> state_;
};

/// A device with its memory, and threads. The first run makes what later ones find made: a GPU's context (some 0.2 s),
/// pinned memory, pools. Loads and runs of one engine go one after another, first come, first served, as they share its
/// memory; so the callbacks of a run must begin no other, and load nothing. Copies are the same engine. Thread-safe.
class Engine {
 public:
  /// on_notice: as Observer's. Throws UsageError, ResourceError.
  explicit Engine(const EngineOptions& options = {},
                  const std::function<void(const std::string&)>& on_notice = nullptr);

  /// points: [host] [n × d], row-major; must outlive the data set, unchanged. Their bytes count in EngineOptions::memory as
  /// long as it lives. metric: any but the plain Euclidean one moves the points into an array of its own, which counts too
  /// (core/metric.hpp). O(n · d). Throws InputError for a coordinate that is NaN or infinite or that the metric has no place
  /// for, UsageError for a metric of other points, ResourceError. cancel: may be null; set, and a load that waits for its turn throws
  /// Cancelled.
  [[nodiscard]] Dataset load(PointsView points, const Metric& metric = {}, const CancelToken* cancel = nullptr) const;
  /// The same of points in the memory of the engine's GPU, by the Euclidean metric. They count in EngineOptions::memory too, as some
  /// runs need them on the host. Throws UsageError where they are on another device, or the engine runs on the CPU.
  [[nodiscard]] Dataset load(const DevicePointsView& points, const CancelToken* cancel = nullptr) const;

  /// "cpu" or "gpu".
  [[nodiscard]] std::string_view backend() const noexcept;
  /// With what memory, threads, backend and gpu came to.
  [[nodiscard]] const EngineOptions& options() const noexcept;

 private:
  friend class Dataset;
  explicit Engine(std::shared_ptr<EngineState> state) : state_(std::move(state)) {}

  std::shared_ptr<EngineState> state_;
};

}  // namespace epsflow
