// Work in the background: Python waits for it in short steps and handles signals in between.
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

/// A run on its own thread, which never calls the interpreter: Python fetches its results. The destructor cancels the
/// run and waits for it. All functions are thread-safe, and only wait() and the destructor may take long.
class Task {
 public:
  /// Converts the result of the run to an object of Python. It is called at most once, by take(), with the interpreter
  /// locked.
  using Give = std::function<nb::object()>;

  /// The results, progress and notices that a run leaves for Python to fetch. Thread-safe.
  class Channel {
   public:
    /// Adds a finished variant, for take_results().
    void put(VariantResult&& result);
    /// Sets the result of the run, for take().
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

  /// Starts the run on a new thread. work: the run, a function of an observer and the channel for its results.
  explicit Task(std::function<void(const Observer&, Channel&)> work);
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;
  ~Task();

  /// Waits for the end, at most for `time`. Returns whether the run has ended. If it has failed, throws its exception.
  [[nodiscard]] bool wait(std::chrono::duration<double> time);
  void cancel() noexcept { cancel_.cancel(); }

  /// Returns the variants that were finished since the last call.
  [[nodiscard]] std::vector<VariantResult> take_results();
  /// Returns the result of the run; needs the lock of the interpreter. Throws Error if the run has none, or none yet,
  /// or if it was taken before.
  [[nodiscard]] nb::object take();
  /// Returns the notices since the last call (Observer::on_notice).
  [[nodiscard]] std::vector<std::string> take_notices();
  [[nodiscard]] Progress progress() const;

 private:
  CancelToken cancel_;
  Channel channel_;
  std::jthread thread_;  // last, because it uses the other members
};

/// Returns a function that moves `value` into convert(), which makes an object of Python. It may be called once.
template <class T, class Convert>
[[nodiscard]] Task::Give giving(T value, Convert convert) {
  auto held = std::make_shared<T>(std::move(value));
  return [held, convert] { return nb::object(convert(std::move(*held))); };
}

/// Starts a task whose result is the return value of work(observer), converted by `convert`.
template <class Work, class Convert>
[[nodiscard]] std::unique_ptr<Task> start_making(Work work, Convert convert) {
  return std::make_unique<Task>([work = std::move(work), convert](const Observer& observer, Task::Channel& channel) {
    channel.put(giving(work(observer), convert));
  });
}

/// Starts a task whose result is converted to the Python class that is bound for its type.
template <class Work>
[[nodiscard]] std::unique_ptr<Task> start_making(Work work) {
  return start_making(std::move(work), []<class T>(T&& made) { return nb::cast(std::forward<T>(made)); });
}

/// Defines a function of a module, or a method of a class, that starts a task. The task keeps all arguments alive, as
/// it reads their memory and Python may stop waiting for it.
template <class Owner, class... Arguments, class... Extra>
void def_task(Owner& owner, const char* name, std::unique_ptr<Task> (*start)(Arguments...), const Extra&... extra) {
  [&]<std::size_t... k>(std::index_sequence<k...>) { owner.def(name, start, extra..., nb::keep_alive<0, k + 1>()...); }
  (std::index_sequence_for<Arguments...>());
}

}  // namespace epsflow::python
