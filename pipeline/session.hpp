// What every run sets up around the flow: threads, budget, backend, cancellation.
#pragma once

#include <tbb/task_arena.h>

#include <functional>
#include <memory>
#include <vector>

#include <epsflow/core/backend.hpp>
#include <epsflow/pipeline/flow.hpp>

namespace epsflow {

class Session {
 public:
  /// Checks the points and charges them to the budget. Throws InputError, ResourceError.
  Session(PointsView points, const Options& options, const Observer& observer);

  /// run_flow() on this session's threads.
  void run(std::vector<stages::EpsGroup> groups, const FlowConsumer& consumer);

  /// Calls body on this session's threads.
  void on_threads(const std::function<void()>& body);

  [[nodiscard]] MemoryBudget& budget() noexcept { return budget_; }
  [[nodiscard]] Backend& backend() noexcept { return *backend_; }
  [[nodiscard]] const CancelToken& stop() const noexcept { return stop_; }
  [[nodiscard]] unsigned threads() const noexcept { return threads_; }

 private:
  PointsView points_;
  const Options& options_;
  const Observer& observer_;
  unsigned threads_;
  tbb::task_arena arena_;
  MemoryBudget budget_;
  MemoryCharge points_memory_;
  std::unique_ptr<Backend> backend_;
  ArenaPool pool_;
  CancelToken stop_;
};

}  // namespace epsflow
