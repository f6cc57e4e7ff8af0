#include <epsflow/stages/build_table.hpp>

#include <tbb/task_arena.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <numeric>
#include <variant>
#include <vector>

#include <epsflow/core/error.hpp>
#include <epsflow/core/parallel.hpp>
#include <epsflow/stages/plan_batches.hpp>

namespace epsflow::stages {
namespace {

/// Rows of a part. A device's batch may have millions of rows, which are entered in parallel.
constexpr std::size_t kRows = 1 << 15;

std::size_t parts_of(std::size_t rows) { return (rows + kRows - 1) / kRows; }

/// Calls body(first, size) for the parts of this number of rows.
template <class F>
void for_each_part(std::size_t rows, F&& body) {
  // Isolated: a lane must not wait for a long unrelated task that its thread might start here.
  tbb::this_task_arena::isolate([&] {
    parallel_for(parts_of(rows), [&](std::size_t part) { body(part * kRows, std::min(rows - part * kRows, kRows)); });
  });
}

/// Enters rows in the table. Returns true if they fit.
bool enter(NeighborTable& table, const PackedRows& found) {
  for_each_part(found.counts.size(), [&](std::size_t first, std::size_t size) {
    table.add_counts(found.rows.begin + static_cast<std::uint32_t>(first), found.counts.subspan(first, size));
  });
  return true;
}

bool enter(NeighborTable& table, const WrittenRows& found) {
  std::vector<const std::uint32_t*> ids(parts_of(found.counts.size()), found.ids);
  for (std::size_t part = 1; part < ids.size(); ++part) {
    const auto before = found.counts.subspan((part - 1) * kRows, kRows);
    ids[part] = ids[part - 1] + std::accumulate(before.begin(), before.end(), std::uint64_t{0});
  }
  for_each_part(found.counts.size(), [&](std::size_t first, std::size_t size) {
    table.add_rows(found.rows.part(first, size), found.counts.subspan(first, size), ids[first / kRows]);
  });
  return true;
}

bool enter(NeighborTable& table, const LaneRows& found) { return table.append(found.rows, found.counts, found.ids); }

/// Handles a batch by the kind of result of its search.
struct Build {
  const BuildTable& stage;
  EpsJob& job;
  const Batch& batch;
  bool exclusive;

  template <class Rows>
  BuildTable::Outcome operator()(const Rows& found) const {
    if (!enter(*job.table, found)) return (*this)(TableFull{});
    job.rows_done.fetch_add(found.rows.size(), std::memory_order_relaxed);
    return {};
  }
  BuildTable::Outcome operator()(const BatchTooLarge&) const {
    if (stage.trace != nullptr) stage.trace->count_retry();
    const auto [first, second] = job.search->split(batch);
    return {{first, second}, false};
  }
  BuildTable::Outcome operator()(const TableFull&) const {
    if (!exclusive) return {{}, true};
    // The search found more than the estimate: the error names the memory for all rows by the corrected estimate.
    const std::uint64_t bytes = std::max(job.search->plan().pairs * 4, job.table->bytes());
    throw_table_too_large(job, stage.pool, bytes, false);
  }
  BuildTable::Outcome operator()(const UnsortedPairs&) const {
    throw Error("pairs of a batch were not sorted, which is a defect of epsflow: please report it");
  }
  BuildTable::Outcome operator()(const DeviceFull& full) const { std::rethrow_exception(full.error); }
  BuildTable::Outcome operator()(const BatchFailed& failed) const { std::rethrow_exception(failed.error); }
};

}  // namespace

BuildTable::Outcome BuildTable::operator()(EpsJob& job, const Batch& batch, const BatchResult& result,
                                           bool exclusive) const {
  return std::visit(Build{*this, job, batch, exclusive}, result);
}

}  // namespace epsflow::stages
