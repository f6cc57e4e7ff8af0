#include <epsflow/stages/build_table.hpp>

#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <vector>

namespace epsflow::stages {
namespace {

/// A device's batch may have millions of rows: their offsets are written in parallel.
void add_rows(NeighborTable& table, const FoundRows& found) {
  constexpr std::size_t kRows = 1 << 15;
  const std::size_t rows = found.counts.size();
  std::vector<std::uint64_t> firsts((rows + kRows - 1) / kRows);
  std::uint64_t first = 0;
  for (std::size_t part = 0; part < firsts.size(); ++part) {
    firsts[part] = first;
    for (std::size_t i = part * kRows; i < std::min(rows, (part + 1) * kRows); ++i) first += found.counts[i];
  }
  // Isolated: a lane must not wait for whatever long task its thread might pick up here.
  tbb::this_task_arena::isolate([&] {
    tbb::parallel_for(std::size_t{0}, firsts.size(), [&](std::size_t part) {
      const std::size_t begin = part * kRows;
      const std::size_t size = std::min(rows - begin, kRows);
      const Range range{found.rows.begin + static_cast<std::uint32_t>(begin), found.rows.end};
      table.add_rows(range, found.row_list.empty() ? found.row_list : found.row_list.subspan(begin, size),
                     found.counts.subspan(begin, size), found.ids.empty() ? nullptr : &found.ids[firsts[part]]);
    });
  });
}

}  // namespace

BuildTable::Outcome BuildTable::operator()(EpsJob& job, const Batch& batch, const FoundRows& found) const {
  if (found.overflow) {
    if (trace != nullptr) trace->count_retry();
    const auto [first, second] = job.search->split(batch);
    return {{first, second}, false};
  }
  if (found.out_of_memory) return {{}, true};
  const bool csr = job.table->format() == TableFormat::csr;
  if (csr && !found.ids_in_table) {
    if (!job.table->append(found.rows, found.counts, found.ids)) return {{}, true};
  } else {
    add_rows(*job.table, found);
  }
  job.rows_done.fetch_add(found.row_list.empty() ? found.rows.size() : found.row_list.size(),
                          std::memory_order_relaxed);
  return {};
}

}  // namespace epsflow::stages
