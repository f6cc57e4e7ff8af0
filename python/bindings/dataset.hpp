// Engines and data sets as Python objects and as input of tasks.
#pragma once

#include <unistd.h>

#include "arrays.hpp"
#include "task.hpp"

#include <epsflow/core/error.hpp>
#include <epsflow/pipeline/engine.hpp>
#include <epsflow/pipeline/options.hpp>

namespace epsflow::python {

/// A value that is only valid in the process that made it. After a fork its threads and device do not exist, so the
/// child does not destroy it, because that would wait for them. get() throws UsageError in the child.
template <class T>
class OfProcess {
 public:
  explicit OfProcess(T value) : value_(std::make_unique<T>(std::move(value))) {}
  OfProcess(OfProcess&&) noexcept = default;
  OfProcess& operator=(OfProcess&&) noexcept = default;
  ~OfProcess() {
    if (pid_ != getpid()) (void)value_.release();  // NOLINT: freed when the process ends
  }

  [[nodiscard]] const T& get() const {
    if (pid_ != getpid()) {
      throw UsageError("an engine and its data do not follow a fork: make an epsflow.Engine in the child process");
    }
    return *value_;
  }

 private:
  std::unique_ptr<T> value_;
  pid_t pid_ = getpid();
};

struct PyEngine {
  OfProcess<Engine> engine;
  std::vector<std::string> notices;  ///< sentences from its construction, such as why a GPU is not used
};

struct PyDataset {
  OfProcess<Dataset> data;
  nb::object points;  ///< keeps the points alive that the data set reads
};

/// The data set of a task, with weights if given. It refers to the array of weights.
class TaskDataset {
 public:
  TaskDataset(const PyDataset& data, const Weights& weights) : points_(data.data.get()) {
    if (weights) weights_ = span_of(*weights);
  }

  /// Returns the data set, with a copy of the weights if they are given. Throws as Dataset::weighted().
  [[nodiscard]] Dataset get(const Observer& observer) const {
    return weights_ ? points_.weighted(*weights_, observer.cancel) : points_;
  }

 private:
  Dataset points_;
  std::optional<std::span<const double>> weights_;
};

/// Starts a sweep of a data set. The task gives each finished variant to Task::take_results(), and at the end, if
/// `lineage` is true, the lineage to Task::take().
std::unique_ptr<Task> start_sweep(const PyDataset& data, const Variants& variants, const nb::dict& options,
                                  const Weights& weights, bool lineage);

}  // namespace epsflow::python
