// Threads and memory of calls without an engine, and the defaults of both.
#pragma once

#include <tbb/task_arena.h>

#include <epsflow/core/memory.hpp>
#include <epsflow/pipeline/options.hpp>

namespace epsflow {

/// Returns the options with the defaults of threads and memory in place of 0. Throws UsageError as check_options().
[[nodiscard]] EngineOptions resolved(EngineOptions options);

/// The threads and memory of a call on the CPU.
struct Workers {
  /// who: names the call in errors. Throws UsageError for options that are wrong or for a GPU.
  Workers(const EngineOptions& options, const char* who);

  MemoryBudget budget;
  tbb::task_arena arena;

 private:
  explicit Workers(const EngineOptions& numbers);
};

}  // namespace epsflow
