// Work in the background of the interpreter: Python waits for it a little at a time and looks after signals in between.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "common.hpp"

#include <epsflow/core/cancel.hpp>
#include <epsflow/core/labels.hpp>
#include <epsflow/pipeline/engine.hpp>
#include <epsflow/pipeline/options.hpp>

namespace epsflow::python {

/// A run on a thread of its own, which never touches the interpreter: what it has to say is fetched. Destroyed, it is
/// cancelled and waited for. All functions may be called from any thread, and none takes long but wait() and the
/// destructor.
class Task {
 public:
  /// Makes an object of Python of what the run has made. It is called once, by whoever holds the interpreter.
  using Give = std::function<nb::object()>;

  /// What a run leaves for whoever asks.
  class Channel {
   public:
    void put(VariantResult&& result);
    void put(Give give);

   private:
    friend class Task;
    mutable std::mutex mutex_;
    std::condition_variable ended_condition_;
    std::vector<VariantResult> results_;
    Give give_;
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
  /// What the run has made. Throws Error if it made nothing, has not ended, or if it was taken already.
  [[nodiscard]] nb::object take();
  [[nodiscard]] std::vector<std::string> take_notices();
  [[nodiscard]] Progress progress() const;

 private:
  CancelToken cancel_;
  Channel channel_;
  std::jthread thread_;  // last: it uses the others
};

/// Makes an object of Python that gives what `value` says, once it is asked for.
template <class T, class Convert>
[[nodiscard]] Task::Give giving(T value, Convert convert) {
  auto held = std::make_shared<T>(std::move(value));
  return [held, convert] { return nb::object(convert(std::move(*held))); };
}

/// Starts a task that gives what work(observer) returns, as the object that `convert` makes of it.
template <class Work, class Convert>
[[nodiscard]] std::unique_ptr<Task> start_making(Work work, Convert convert) {
  return std::make_unique<Task>([work = std::move(work), convert](const Observer& observer, Task::Channel& channel) {
    channel.put(giving(work(observer), convert));
  });
}

/// Starts one that gives it as the class that is bound for it.
template <class Work>
[[nodiscard]] std::unique_ptr<Task> start_making(Work work) {
  return start_making(std::move(work), []<class T>(T&& made) { return nb::cast(std::forward<T>(made)); });
}

}  // namespace epsflow::python
