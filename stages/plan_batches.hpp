// Stage: makes the search of a table, an empty table of the right format, and the batches that will fill it.
#pragma once

#include <cstdint>
#include <functional>

#include <epsflow/core/backend.hpp>
#include <epsflow/core/choices.hpp>
#include <epsflow/core/memory.hpp>
#include <epsflow/stages/eps_job.hpp>

namespace epsflow::stages {

struct PlanBatches {
  ArenaPool& pool;
  TableOptions options;
  /// Bytes that the consumer of the table needs for a group of this number of variants. They are reserved with the
  /// table, so that a finished table can be used.
  std::function<std::uint64_t(std::size_t variants)> consumer_bytes = nullptr;

  /// Sets search, order, table and table_memory of the job, and returns true. If the table does not fit the budget:
  /// returns false if `alone` is false, as other groups may free memory, and otherwise throws ResourceError with the
  /// bytes, the budget and the option. The size is exact for packed tables and counted ones, else an estimate. Throws
  /// as Index::table().
  [[nodiscard]] bool operator()(EpsJob& job, bool alone) const;

 private:
  void plan(EpsJob& job) const;
};

/// Throws the error for a table that does not fit: bytes needed (`exact` or estimated), the budget, and the remedy.
[[noreturn]] void throw_table_too_large(const EpsJob& job, const ArenaPool& pool, std::uint64_t bytes, bool exact);

}  // namespace epsflow::stages
