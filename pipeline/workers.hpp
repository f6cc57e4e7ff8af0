// Threads and memory: what options leave open, and workers of a call that has no engine.
#pragma once

#include <tbb/task_arena.h>

#include <epsflow/core/memory.hpp>
#include <epsflow/pipeline/options.hpp>

namespace epsflow {

/// The options with numbers for threads and memory. Throws UsageError as check_options().
[[nodiscard]] EngineOptions settled(EngineOptions options);

/// What a call on the CPU works with.
struct Workers {
  /// who: names the call in errors. Throws UsageError for options that are wrong, or that are of a GPU.
  Workers(const EngineOptions& options, const char* who);

  MemoryBudget budget;
  tbb::task_arena arena;

 private:
  explicit Workers(const EngineOptions& numbers);
};

}  // namespace epsflow
