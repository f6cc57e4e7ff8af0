// What every run sets up around the flow: its turn on the engine, options, cancellation.
#pragma once

#include <tbb/task_arena.h>

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include <epsflow/core/backend.hpp>
#include <epsflow/core/memory.hpp>
#include <epsflow/pipeline/engine.hpp>
#include <epsflow/pipeline/flow.hpp>

namespace epsflow {

struct EngineState {
  EngineState(const Options& options, const std::function<void(const std::string&)>& on_notice);

  const Options options;  ///< with the numbers of memory and threads
  tbb::task_arena arena;
  MemoryBudget budget;
  const std::unique_ptr<Backend> backend;
  ArenaPool pool;
  std::timed_mutex turn;  ///< whose run it is: the budget is one run's
};

struct DatasetState {
  DatasetState(std::shared_ptr<EngineState> engine, PointsView points);
  DatasetState(std::shared_ptr<EngineState> engine, const DevicePointsView& points);

  const std::shared_ptr<EngineState> engine;
  const MemoryCharge memory;
  const std::unique_ptr<const LoadedPoints> points;  // last: it goes first
};

/// A data set with an engine of its own. Throws as Engine and Engine::load() do, Cancelled.
[[nodiscard]] Dataset load_for_one_run(PointsView points, const Options& options, const Observer& observer);

/// One run. Waits for its turn when it is made.
class Session {
 public:
  /// `data` and `observer` must outlive it. Throws UsageError where the engine cannot do what the options ask, Cancelled.
  Session(const Dataset& data, const Observer& observer);

  /// run_flow() on the engine's threads.
  void run(std::vector<stages::EpsGroup> groups, const FlowConsumer& consumer);

  /// Calls body on the engine's threads.
  void on_threads(const std::function<void()>& body);

  [[nodiscard]] const LoadedPoints& points() const noexcept { return *data_.points; }
  [[nodiscard]] MemoryBudget& budget() noexcept { return engine_.budget; }
  [[nodiscard]] const Backend& backend() const noexcept { return *engine_.backend; }
  [[nodiscard]] const CancelToken& stop() const noexcept { return stop_; }
  [[nodiscard]] unsigned threads() const noexcept { return engine_.options.threads; }

 private:
  const DatasetState& data_;
  EngineState& engine_;
  const Options& options_;
  const Observer& observer_;
  CancelToken stop_;
  std::unique_lock<std::timed_mutex> turn_;
};

}  // namespace epsflow
