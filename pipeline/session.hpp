// What every run sets up around the flow: its turn on the engine, options, cancellation.
#pragma once

#include <tbb/task_arena.h>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include <epsflow/core/backend.hpp>
#include <epsflow/core/box_fit.hpp>
#include <epsflow/core/memory.hpp>
#include <epsflow/core/metric.hpp>
#include <epsflow/core/weights.hpp>
#include <epsflow/pipeline/engine.hpp>
#include <epsflow/pipeline/flow.hpp>
#include <epsflow/pipeline/point_set.hpp>

namespace epsflow {

/// First come, first served: the budget of an engine is one run's, or one load's, at a time.
class TurnQueue {
 public:
  /// Waits for its turn, and ends it.
  class Turn {
   public:
    /// Throws Cancelled.
    Turn(TurnQueue& queue, const CancelToken& cancel);
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    ~Turn() { queue_.leave(ticket_); }

   private:
    TurnQueue& queue_;
    std::uint64_t ticket_;
  };

 private:
  [[nodiscard]] std::uint64_t join();
  void leave(std::uint64_t ticket) noexcept;

  std::mutex mutex_;
  std::condition_variable moved_;
  std::uint64_t next_ticket_ = 0;
  std::deque<std::uint64_t> waiting_;  ///< whose turn it is comes first
};

struct EngineState {
  EngineState(const EngineOptions& options, const std::function<void(const std::string&)>& on_notice);

  EngineOptions options;  ///< with what was left open settled
  tbb::task_arena arena;
  MemoryBudget budget;
  const std::unique_ptr<Backend> backend;
  ArenaPool pool;
  TurnQueue turns;
};

/// An engine from the moment that nothing else works with it. Throws Cancelled.
class EngineTurn {
 public:
  EngineTurn(const Engine& engine, const CancelToken& cancel) : state_(engine.state_), turn_(state_->turns, cancel) {}

  [[nodiscard]] Backend& backend() const noexcept { return *state_->backend; }
  /// What an engine may use of its device's memory, whether it is in use or not; 0 where it has none.
  [[nodiscard]] static std::uint64_t device_memory(const Engine& engine) {
    return engine.state_->backend->device_memory();
  }
  /// The same for copies of an engine alone.
  [[nodiscard]] static const void* identity(const Engine& engine) noexcept { return engine.state_.get(); }

 private:
  std::shared_ptr<EngineState> state_;
  TurnQueue::Turn turn_;
};

struct DatasetState {
  /// All wait for their turn. Throw Cancelled.
  DatasetState(std::shared_ptr<EngineState> engine, PointsView points, const Metric& metric,
               std::shared_ptr<const Slices> slices, const CancelToken* cancel);
  DatasetState(std::shared_ptr<EngineState> engine, const DevicePointsView& points,
               std::shared_ptr<const Slices> slices, const CancelToken* cancel);

  const std::shared_ptr<EngineState> engine;
  const Metric metric;
  BoxFit fit{metric};      ///< of the points that it was loaded with, where any were moved
  const std::size_t dims;  ///< of the points as they were given
  MemoryCharge memory;
  MemoryCharge moved_memory;
  Points moved;                                ///< where the metric moves them
  std::unique_ptr<const LoadedPoints> points;  // last: it goes first
};

/// Weights of the points of a data set, which they keep: its engine has the memory that they are in.
struct DatasetWeights {
  std::shared_ptr<const DatasetState> of;
  MemoryCharge memory;
  LoadedWeights loaded;
};

/// Returns the options with EngineOptions::backend set by choose_backend() for these points. Throws as check_metric().
[[nodiscard]] EngineOptions with_backend(const PointSet& points, EngineOptions engine, const RunOptions& run);

/// The data set of one run: a loaded one, or one that an engine of its own loads, on the backend of with_backend().
class LoadedSet {
 public:
  /// Throws as Engine and Engine::load() do, Cancelled, and UsageError if options of an engine are given for points that one has loaded.
  LoadedSet(const PointSet& points, const EngineOptions& engine, const RunOptions& run, const Observer& observer);
  [[nodiscard]] const Dataset& data() const noexcept { return data_; }

 private:
  [[nodiscard]] Dataset made(const PointSet& points, const EngineOptions& engine, const RunOptions& run,
                             const Observer& observer);

  std::optional<Points> brought_;  ///< goes last
  Dataset data_;
};

/// One run. Waits for its turn when it is made.
class Session {
 public:
  /// Everything must outlive it. Throws UsageError for options that contradict each other, and where the engine cannot do what they
  /// ask; Cancelled.
  Session(const Dataset& data, const RunOptions& options, const Observer& observer);

  /// The groups of a sweep. Throws UsageError as moved_radius() does, and for an eps that the box of the metric is too coarse for.
  [[nodiscard]] std::vector<stages::EpsGroup> groups(const Sweep& sweep) const;
  /// The radius of eps. Throws likewise.
  [[nodiscard]] double radius(double eps) const;

  /// Throws UsageError where the data set is in slices, which `what` takes one at a time.
  void require_one_slice(const char* what) const;

  /// run_flow() on the engine's threads.
  void run(std::vector<stages::EpsGroup> groups, const FlowConsumer& consumer, MoreGroups more = nullptr);

  /// Whether some weights of a data set are below 0.
  [[nodiscard]] static bool negative_weights(const Dataset& data) noexcept {
    return data.weights_ != nullptr && data.weights_->loaded.whole.negative();
  }

  /// Other points of the same space, in these slices or in none, for run_on(). They must outlive it.
  [[nodiscard]] std::unique_ptr<LoadedPoints> load(PointsView points, std::shared_ptr<const Slices> slices) const {
    Space space = data_.points->space();
    space.slices = std::move(slices);
    return engine_.backend->load(points, space);
  }
  /// run_flow() on other points, with other options, on the threads of the calling arena. stop: as FlowContext::stop, a child of this
  /// session's.
  void run_on(const LoadedPoints& points, const LoadedWeights* weights, const RunOptions& options, CancelToken& stop,
                std::vector<stages::EpsGroup> groups, const FlowConsumer& consumer);

  /// Calls body on the engine's threads.
  void on_threads(const std::function<void()>& body);

  [[nodiscard]] const LoadedPoints& points() const noexcept { return *data_.points; }
  /// Null where the points have none.
  [[nodiscard]] const LoadedWeights* weights() const noexcept {
    return weights_ != nullptr ? &weights_->loaded : nullptr;
  }
  [[nodiscard]] const Metric& metric() const noexcept { return data_.metric; }
  [[nodiscard]] MemoryBudget& budget() noexcept { return engine_.budget; }
  [[nodiscard]] const ArenaPool& pool() const noexcept { return engine_.pool; }
  [[nodiscard]] const Backend& backend() const noexcept { return *engine_.backend; }
  [[nodiscard]] const CancelToken& stop() const noexcept { return stop_; }
  [[nodiscard]] unsigned threads() const noexcept { return engine_.options.threads; }

 private:
  const DatasetState& data_;
  const DatasetWeights* weights_;
  EngineState& engine_;
  const RunOptions& options_;
  const Observer& observer_;
  CancelToken stop_;
  TurnQueue::Turn turn_;
};

}  // namespace epsflow
