// The set-up of every run around the flow: its turn on the engine, options, cancellation.
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

/// Serves runs and loads of an engine one at a time, first come, first served, because each may use the whole budget.
class EngineQueue {
 public:
  /// The constructor waits for the turn, and the destructor ends it.
  class Lock {
   public:
    /// Throws Cancelled if cancelled while it waits.
    Lock(EngineQueue& queue, const CancelToken& cancel);
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;
    ~Lock() { queue_.leave(ticket_); }

   private:
    EngineQueue& queue_;
    std::uint64_t ticket_;
  };

 private:
  [[nodiscard]] std::uint64_t join();
  void leave(std::uint64_t ticket) noexcept;

  std::mutex mutex_;
  std::condition_variable moved_;
  std::uint64_t next_ticket_ = 0;
  std::deque<std::uint64_t> waiting_;  ///< the front has the turn
};

/// The state that the copies of an Engine share.
struct EngineState {
  EngineState(const EngineOptions& options, const std::function<void(const std::string&)>& on_notice);

  EngineOptions options;  ///< with memory, threads, backend and gpu as in use
  tbb::task_arena arena;
  MemoryBudget budget;
  const std::unique_ptr<Backend> backend;
  ArenaPool pool;
  EngineQueue queue;
};

/// Holds an engine while no other work uses it. The constructor waits for the turn; throws Cancelled if cancelled
/// meanwhile.
class EngineLock {
 public:
  EngineLock(const Engine& engine, const CancelToken& cancel) : state_(engine.state_), lock_(state_->queue, cancel) {}

  [[nodiscard]] Backend& backend() const noexcept { return *state_->backend; }
  /// Calls body on the engine's threads.
  void on_threads(const std::function<void()>& body) const { state_->arena.execute(body); }
  /// Calls body on the engine's threads without a turn, for work that needs neither its memory nor its device.
  static void on_threads_of(const Engine& engine, const std::function<void()>& body) {
    engine.state_->arena.execute(body);
  }
  /// Returns the budget of an engine, which lives as long as the engine.
  [[nodiscard]] static MemoryBudget& budget(const Engine& engine) noexcept { return engine.state_->budget; }
  /// Returns the bytes that an engine may use of its device's memory, in use or not; 0 if it has no memory.
  [[nodiscard]] static std::uint64_t device_memory(const Engine& engine) {
    return engine.state_->backend->device_memory();
  }
  /// Returns a pointer that is equal for copies of an engine and differs for other engines.
  [[nodiscard]] static const void* identity(const Engine& engine) noexcept { return engine.state_.get(); }

 private:
  std::shared_ptr<EngineState> state_;
  EngineQueue::Lock lock_;
};

/// The state that the copies of a Dataset share.
struct DatasetState {
  /// The constructors wait for their turn. They throw as Engine::load().
  DatasetState(std::shared_ptr<EngineState> engine, PointsView points, const Metric& metric,
               std::shared_ptr<const Slices> slices, const CancelToken* cancel);
  DatasetState(std::shared_ptr<EngineState> engine, const DevicePointsView& points,
               std::shared_ptr<const Slices> slices, const CancelToken* cancel);

  const std::shared_ptr<EngineState> engine;
  const Metric metric;
  /// Checks eps against the box, by the points before the transformation. Empty unless the metric transforms points.
  BoxFit fit{metric};
  const std::size_t dims;  ///< dimensions of the points before the transformation
  MemoryCharge memory;
  MemoryCharge transformed_memory;
  Points moved;                                ///< the transformed points; empty if the metric transforms none
  std::unique_ptr<const LoadedPoints> points;  // last, so that it is destroyed first
};

/// Weights of the points of a data set. They keep the data set, because its engine has their memory.
struct DatasetWeights {
  std::shared_ptr<const DatasetState> of;
  MemoryCharge memory;
  LoadedWeights loaded;
};

/// Returns the options with EngineOptions::backend set by choose_backend() for these points. Throws as check_metric()
/// and preferred_backend(), and UsageError for loaded points.
[[nodiscard]] EngineOptions with_backend(const PointSet& points, EngineOptions engine, const RunOptions& run);

/// The data set of one run: either a loaded one, or loaded by an engine of its own, on the backend of with_backend().
class LoadedSet {
 public:
  /// Throws as Engine and Engine::load() do, Cancelled, and UsageError if engine options are given for loaded points.
  LoadedSet(const PointSet& points, const EngineOptions& engine, const RunOptions& run, const Observer& observer);
  [[nodiscard]] const Dataset& data() const noexcept { return data_; }

 private:
  [[nodiscard]] Dataset made(const PointSet& points, const EngineOptions& engine, const RunOptions& run,
                             const Observer& observer);

  std::optional<Points> brought_;  ///< destroyed last
  Dataset data_;
};

/// One run. The constructor waits for its turn.
class Session {
 public:
  /// The data set and the observer must outlive it. Throws UsageError for options that contradict each other, the
  /// engine or the weights; Cancelled if cancelled while it waits.
  Session(const Dataset& data, const RunOptions& options, const Observer& observer);

  /// Returns the groups of a sweep, by descending eps. Throws UsageError as transformed_radius() does, and if the box
  /// is too coarse for an eps.
  [[nodiscard]] std::vector<stages::EpsGroup> groups(const Sweep& sweep) const;
  /// Returns the radius of eps. Throws as groups().
  [[nodiscard]] double radius(double eps) const;

  /// Throws UsageError if the data set is in slices. what: the function that takes only one slice, for the message.
  void require_one_slice(const char* what) const;

  /// Returns the inputs of a flow over the data set.
  [[nodiscard]] FlowContext context();
  /// Calls run_flow() on the engine's threads.
  void run(std::vector<stages::EpsGroup> groups, const FlowConsumer& consumer, MoreGroups more = nullptr);

  /// Returns true if some weights of a data set are below 0.
  [[nodiscard]] static bool negative_weights(const Dataset& data) noexcept {
    return data.weights_ != nullptr && data.weights_->loaded.whole.negative();
  }

  /// Loads other points of the same space for run_on(). slices: the slices of these points, or null. The points must
  /// outlive the result.
  [[nodiscard]] std::unique_ptr<LoadedPoints> load(PointsView points, std::shared_ptr<const Slices> slices) const {
    Space space = data_.points->space();
    space.slices = std::move(slices);
    return engine_.backend->load(points, space);
  }
  /// Calls run_flow() on other points, with other options, on the threads of the calling arena. stop: as
  /// FlowContext::stop, a child of this session's token.
  void run_on(const LoadedPoints& points, const LoadedWeights* weights, const RunOptions& options, CancelToken& stop,
              std::vector<stages::EpsGroup> groups, const FlowConsumer& consumer);

  /// Calls body on the engine's threads.
  void on_threads(const std::function<void()>& body);

  [[nodiscard]] const LoadedPoints& points() const noexcept { return *data_.points; }
  /// Returns null if the points have no weights.
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
  const RunOptions options_;
  const Observer& observer_;
  CancelToken stop_;
  EngineQueue::Lock lock_;
};

}  // namespace epsflow
