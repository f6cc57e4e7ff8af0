// What travels through the flow: the work of one eps.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <epsflow/core/backend.hpp>
#include <epsflow/core/memory.hpp>
#include <epsflow/core/neighbor_table.hpp>

namespace epsflow::stages {

/// The variants that share one eps, and so one index and one table.
struct EpsGroup {
  double eps = 0;
  std::vector<std::uint32_t> minpts;  ///< descending
};

/// One eps on its way: each stage adds its part, the last drops it all.
struct TableJob {
  explicit TableJob(EpsGroup g) : group(std::move(g)) {}

  /// Frees everything but the group. Copies of the job's handle may live on in threads that have just put its last
  /// batch away.
  void release() noexcept {
    table.reset();
    table_memory = {};
    search.reset();
    index_memory = {};
  }

  EpsGroup group;
  std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
  double table_seconds = 0;  ///< wall time from the index to the last row

  MemoryCharge index_memory;
  std::unique_ptr<NeighborSearch> search;
  /// Offsets, counts, layout, and what its consumer needs; the entries are charged by the arena.
  MemoryCharge table_memory;
  std::unique_ptr<NeighborTable> table;
  BatchPlan plan;
  /// Batches that are neither in the table nor given up. A split batch counts as two.
  std::atomic<std::size_t> open_batches{0};
  std::atomic<std::uint64_t> rows_done{0};
  /// No other table shares the memory budget until this one is complete.
  bool exclusive = false;
  /// The budget was exhausted while other tables shared it: this one starts again when it is alone.
  std::atomic<bool> starved{false};
};

}  // namespace epsflow::stages
