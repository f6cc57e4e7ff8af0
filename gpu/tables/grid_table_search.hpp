// The table searches on a grid: three ways, each in its own source file, and the choice between them.
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

/// What a search is made of.
struct GridTask {
  std::shared_ptr<const DeviceGrid> grid;
  GpuResources resources;
  TableOptions options;

  /// Rows cut into parts of about equal packed words, so of about as many distance tests. Waits.
  [[nodiscard]] std::vector<Range> cut_by_words(std::uint64_t parts) const;
  /// Batches that there must be at least, lest one hold too many rows or take too long.
  [[nodiscard]] std::uint64_t fewest_batches() const;
  /// Words that the buffer of a lane may take, so that all lanes together leave memory for the next index.
  [[nodiscard]] std::uint64_t most_lane_words() const;
};

/// What all three ways share.
class GridTableSearch : public TableSearch {
 public:
  [[nodiscard]] const BatchPlan& plan() const final { return plan_; }
  [[nodiscard]] RowOrder order() const final { return {task_.grid->order_owner(), task_.grid->order()}; }

 protected:
  /// Plans the blocks; batches are for the way that is taken.
  explicit GridTableSearch(GridTask task);

  [[nodiscard]] const DeviceGrid& grid() const { return *task_.grid; }
  [[nodiscard]] const Stream& stream() const { return task_.grid->stream(); }

  const GridTask task_;
  BatchPlan plan_;
};

/// A packed table: its layout says how large a batch is.
[[nodiscard]] std::unique_ptr<TableSearch> make_packed_search(const GridTask& task);

/// Counts the neighbours of all rows. Waits.
[[nodiscard]] CountedRows count_rows(const GridTask& task);
/// Kernel::rows: rows are counted, then filled.
[[nodiscard]] std::unique_ptr<TableSearch> make_rows_search(const GridTask& task, CountedRows rows);

/// Kernel::global and Kernel::shared, after the paper: the number of pairs is estimated, kernels emit pairs in any order, and a
/// sort makes rows of them.
[[nodiscard]] std::unique_ptr<TableSearch> make_pairs_search(const GridTask& task);

/// The way that the options ask for. The GPU must be the current one. Waits. Throws UsageError, DeviceOutOfMemory, Cancelled.
[[nodiscard]] std::unique_ptr<TableSearch> make_table_search(const GridTask& task);

}  // namespace epsflow::gpu
