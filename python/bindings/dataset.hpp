// Engines and the data sets that they have loaded, as Python holds them and as tasks use them.
#pragma once

#include <unistd.h>

#include "arrays.hpp"
#include "task.hpp"

#include <epsflow/core/error.hpp>
#include <epsflow/pipeline/engine.hpp>
#include <epsflow/pipeline/options.hpp>

namespace epsflow::python {

/// What belongs to the process that made it: its threads and its device do not follow a fork, and must not be waited for there.
template <class T>
class OfProcess {
 public:
  explicit OfProcess(T value) : value_(std::make_unique<T>(std::move(value))) {}
  OfProcess(OfProcess&&) noexcept = default;
  OfProcess& operator=(OfProcess&&) noexcept = default;
  ~OfProcess() {
    if (pid_ != getpid()) (void)value_.release();  // NOLINT: left to the process's end
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
  std::vector<std::string> notices;  ///< what there was to say when it was made
};

struct PyDataset {
  OfProcess<Dataset> data;
  nb::object points;  ///< keeps what the data set looks at
};

/// A data set that a task works on, with weights unless there are none. Tasks keep the arrays that they read, also where whoever
/// waits for them is interrupted.
class TaskDataset {
 public:
  TaskDataset(const PyDataset& data, const Weights& weights) : points_(data.data.get()) {
    if (weights) weights_ = span_of(*weights);
  }

  [[nodiscard]] Dataset get(const Observer& observer) const {
    return weights_ ? points_.weighted(*weights_, observer.cancel) : points_;
  }

 private:
  Dataset points_;
  std::optional<std::span<const double>> weights_;
};

/// Starts a sweep of a data set. The task hands over each result as it is finished and, if requested, the lineage at
/// the end.
std::unique_ptr<Task> start_sweep(const PyDataset& data, const Variants& variants, const nb::dict& options,
                                  const Weights& weights, bool lineage);

}  // namespace epsflow::python
