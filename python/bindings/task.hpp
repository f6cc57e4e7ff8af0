// Work in the background of the interpreter: Python waits for it a little at a time and looks after signals in between.
#pragma once

#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include <epsflow/core/cancel.hpp>
#include <epsflow/core/error.hpp>
#include <epsflow/core/labels.hpp>
#include <epsflow/core/sweep.hpp>
#include <epsflow/core/table.hpp>
#include <epsflow/pipeline/engine.hpp>
#include <epsflow/pipeline/explore.hpp>
#include <epsflow/pipeline/neighbors.hpp>
#include <epsflow/pipeline/options.hpp>
#include <epsflow/pipeline/plan.hpp>
#include <epsflow/pipeline/predict.hpp>
#include <epsflow/pipeline/selectivity.hpp>
#include <epsflow/pipeline/tracks.hpp>
#include <epsflow/pipeline/validity.hpp>
#include <epsflow/pipeline/velocities.hpp>

namespace epsflow::python {

/// A run on a thread of its own, which never touches the interpreter: what it has to say is fetched. Destroyed, it is cancelled
/// and waited for. All functions may be called from any thread, and none takes long but wait() and the destructor.
class Task {
 public:
  /// What a run makes at its end, unless it makes results.
  using Made = std::variant<std::monostate, Neighbors, Dataset, std::vector<GroupPlan>, Predictor, Validity, Lineage,
                            Sweep, Exploration, std::vector<double>, std::vector<std::int32_t>,
                            std::vector<Selectivity>, Table, TrackedSlices, std::vector<VelocityClusters>>;

  /// What a run leaves for whoever asks.
  class Channel {
   public:
    void put(VariantResult&& result);
    void put(Made&& made);

   private:
    friend class Task;
    mutable std::mutex mutex_;
    std::condition_variable ended_condition_;
    std::vector<VariantResult> results_;
    Made made_;
    Progress progress_;
    std::vector<std::string> notices_;
    std::exception_ptr failure_;
    bool ended_ = false;
  };

  /// work: is given an observer, and where to put what it makes.
  explicit Task(std::function<void(const Observer&, Channel&)> work);
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;
  ~Task();

  /// Waits for the end, but no longer than `time`; returns whether the run has ended. Throws what ended it.
  [[nodiscard]] bool wait(std::chrono::duration<double> time);
  void cancel() noexcept { cancel_.cancel(); }

  /// Results that have come since the last call.
  [[nodiscard]] std::vector<VariantResult> take_results();
  /// Throws Error where the run has made no T, has not ended, or where it was taken already.
  template <class T>
  [[nodiscard]] T take() {
    const std::scoped_lock lock(channel_.mutex_);
    T* const made = std::get_if<T>(&channel_.made_);
    if (made == nullptr) throw Error("the task has nothing of this kind to give: it has not ended, or gave it already");
    T taken = std::move(*made);
    channel_.made_ = std::monostate();
    return taken;
  }
  [[nodiscard]] std::vector<std::string> take_notices();
  [[nodiscard]] Progress progress() const;

 private:
  CancelToken cancel_;
  Channel channel_;
  std::jthread thread_;  // last: it uses the others
};

}  // namespace epsflow::python
