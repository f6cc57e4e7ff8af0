// The table searches on a grid: three kinds, each in its own source file, and the choice between them.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <epsflow/core/table_search.hpp>
#include <epsflow/gpu/base/gpu_resources.hpp>
#include <epsflow/gpu/grid/device_grid.hpp>
#include <epsflow/gpu/tables/counted_rows.hpp>

namespace epsflow::gpu {

[[nodiscard]] constexpr std::uint64_t divide_up(std::uint64_t a, std::uint64_t b) noexcept { return (a + b - 1) / b; }

/// The arguments of a search.
struct GridTask {
  std::shared_ptr<const DeviceGrid> grid;
  GpuResources resources;
  TableOptions options;

  /// Cuts the rows into `parts` parts, at most one for each row, of about equally many packed words (32 candidates
  /// each), and so of distance tests. Waits.
  [[nodiscard]] std::vector<Range> cut_by_words(std::uint64_t parts) const;
  /// Returns the smallest number of batches with which no batch has too many rows or takes too long.
  [[nodiscard]] std::uint64_t fewest_batches() const;
  /// Returns the most words of a lane's buffer with which all lanes leave memory for the next index.
  [[nodiscard]] std::uint64_t most_lane_words() const;
};

/// The common base of the three searches.
class GridTableSearch : public TableSearch {
 public:
  [[nodiscard]] const BatchPlan& plan() const final { return plan_; }
  [[nodiscard]] RowOrder order() const final { return {task_.grid->order_owner(), task_.grid->order()}; }

 protected:
  /// Plans the blocks. Derived classes plan the batches.
  explicit GridTableSearch(GridTask task);

  [[nodiscard]] const DeviceGrid& grid() const { return *task_.grid; }
  [[nodiscard]] const Stream& stream() const { return task_.grid->stream(); }

  const GridTask task_;
  BatchPlan plan_;
};

/// Makes the search of a packed table, whose layout determines the sizes of batches.
[[nodiscard]] std::unique_ptr<TableSearch> make_packed_search(const GridTask& task);

/// Counts the neighbours of all rows. Waits. Throws Cancelled, DeviceError.
[[nodiscard]] CountedRows count_rows(const GridTask& task);
/// Kernel::rows: rows are counted, then written.
[[nodiscard]] std::unique_ptr<TableSearch> make_rows_search(const GridTask& task, CountedRows rows);

/// Kernel::global and Kernel::shared, after the paper: pairs are estimated, emitted in any order, and sorted to rows.
[[nodiscard]] std::unique_ptr<TableSearch> make_pairs_search(const GridTask& task);

/// Makes the requested search. If the format is automatic, takes the one that transfers fewer bytes. The GPU must be
/// the current one. Waits. Throws UsageError if a packed table is requested with another kernel than Kernel::rows or
/// too many dimensions, and DeviceError, Cancelled.
[[nodiscard]] std::unique_ptr<TableSearch> make_table_search(const GridTask& task);

}  // namespace epsflow::gpu
