// What travels through the flow: the work of one eps.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <epsflow/core/backend.hpp>
#include <epsflow/core/memory.hpp>
#include <epsflow/core/neighbor_table.hpp>

namespace epsflow::stages {

/// The variants that share one eps, and so one index.
struct EpsGroup {
  double eps = 0;                     ///< as the caller gave it, which is what results carry
  std::vector<std::uint32_t> minpts;  ///< descending
  double radius = eps;                ///< as it is searched
  bool table_refused = false;         ///< the memory budget had no room for a table, though it was alone
};

/// One eps on its way: each stage adds its part, the last drops it all.
struct EpsJob {
  explicit EpsJob(EpsGroup g) : group(std::move(g)) {}

  using Clock = std::chrono::steady_clock;
  [[nodiscard]] double seconds() const { return std::chrono::duration<double>(Clock::now() - begin).count(); }

  /// Frees everything but the group. Copies of the job's handle may live on in threads that have just put its last
  /// batch away.
  void release() noexcept {
    table.reset();
    order = {};
    search.reset();
    table_memory = {};
    index.reset();
    index_memory = {};
  }

  EpsGroup group;
  Clock::time_point begin = Clock::now();

  MemoryCharge index_memory;
  std::unique_ptr<Index> index;

  // On the way through a table:
  double table_seconds = 0;  ///< wall time from the index to the last row
  std::unique_ptr<TableSearch> search;
  RowOrder order;
  /// Offsets, counts, layout, and what its consumer needs; the entries are charged by the arena.
  MemoryCharge table_memory;
  std::unique_ptr<NeighborTable> table;
  std::atomic<std::uint64_t> rows_done{0};
};

}  // namespace epsflow::stages
