// Work in the background of the interpreter: Python waits for it a little at a time and looks after signals in between.
#pragma once

#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <epsflow/core/cancel.hpp>
#include <epsflow/core/labels.hpp>
#include <epsflow/pipeline/engine.hpp>
#include <epsflow/pipeline/neighbors.hpp>
#include <epsflow/pipeline/options.hpp>
#include <epsflow/pipeline/plan.hpp>

namespace epsflow::python {

/// A run on a thread of its own, which never touches the interpreter: what it has to say is fetched. Destroyed, it is cancelled
/// and waited for. All functions may be called from any thread, and none takes long but wait() and the destructor.
class Task {
 public:
  /// What a run leaves for whoever asks.
  class Channel {
   public:
    void put(VariantResult&& result);
    void put(Neighbors&& neighbors);
    void put(Dataset&& data);
    void put(std::vector<GroupPlan>&& plans);

   private:
    friend class Task;
    mutable std::mutex mutex_;
    std::condition_variable ended_condition_;
    std::vector<VariantResult> results_;
    std::optional<Neighbors> neighbors_;
    std::optional<Dataset> data_;
    std::optional<std::vector<GroupPlan>> plans_;
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
  [[nodiscard]] Neighbors take_neighbors();
  [[nodiscard]] Dataset take_dataset();
  [[nodiscard]] std::vector<GroupPlan> take_plans();
  [[nodiscard]] std::vector<std::string> take_notices();
  [[nodiscard]] Progress progress() const;

 private:
  CancelToken cancel_;
  Channel channel_;
  std::jthread thread_;  // last: it uses the others
};

}  // namespace epsflow::python
