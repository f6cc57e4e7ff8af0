// The object that travels through the flow: the work of one eps.
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

/// The variants that share one eps, and therefore one index.
struct EpsGroup {
  double eps = 0;                     ///< as the caller gave it; results carry it
  std::vector<std::uint32_t> minpts;  ///< descending
  double radius = eps;                ///< eps among the transformed points, which are searched
  bool table_refused = false;         ///< the memory budget could not hold a table although no other group ran
};

/// One eps in progress: each stage adds its part, the last one releases everything.
struct EpsJob {
  explicit EpsJob(EpsGroup g) : group(std::move(g)) {}

  /// Returns the seconds of wall time since the job was made.
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }

  /// Frees everything except the group. Copies of the job's handle may still exist in threads that finished its last
  /// batch.
  void release() noexcept {
    table.reset();
    order = {};
    search.reset();
    table_memory = {};
    index.reset();
    index_memory = {};
  }

  EpsGroup group;
  std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();

  MemoryCharge index_memory;
  std::unique_ptr<Index> index;

  // On the way through a table:
  double table_seconds = 0;  ///< seconds() when the last row was in the table
  std::unique_ptr<TableSearch> search;
  RowOrder order;
  /// Offsets, counts, layout, and the memory that the consumer needs; the arena charges the entries.
  MemoryCharge table_memory;
  std::unique_ptr<NeighborTable> table;
  std::atomic<std::uint64_t> rows_done{0};
};

}  // namespace epsflow::stages
