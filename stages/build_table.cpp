#include <epsflow/stages/build_table.hpp>

#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <vector>

namespace epsflow::stages {
namespace {

/// A device's batch may have millions of rows: their offsets are written in parallel.
void add_rows(NeighborTable& table, const Lane& lane) {
  constexpr std::size_t kRows = 1 << 15;
  const std::size_t rows = lane.counts.size();
  std::vector<std::uint64_t> firsts((rows + kRows - 1) / kRows);
  std::uint64_t first = 0;
  for (std::size_t part = 0; part < firsts.size(); ++part) {
    firsts[part] = first;
    for (std::size_t i = part * kRows; i < std::min(rows, (part + 1) * kRows); ++i) first += lane.counts[i];
  }
  // Isolated: a lane must not wait for whatever long task its thread might pick up here.
  tbb::this_task_arena::isolate([&] {
    tbb::parallel_for(std::size_t{0}, firsts.size(), [&](std::size_t part) {
      const std::size_t begin = part * kRows;
      const std::size_t size = std::min(rows - begin, kRows);
      const Run run{lane.rows.begin + static_cast<std::uint32_t>(begin), lane.rows.end};
      table.add_rows(run, lane.row_list.empty() ? lane.row_list : lane.row_list.subspan(begin, size),
                     lane.counts.subspan(begin, size), lane.ids.empty() ? nullptr : &lane.ids[firsts[part]]);
    });
  });
}

}  // namespace

BuildTable::Outcome BuildTable::operator()(TableJob& job, const Batch& batch, const Lane& lane) const {
  if (lane.overflow) {
    if (trace != nullptr) trace->count_retry();
    const auto [first, second] = job.search->split(batch);
    return {{first, second}, false};
  }
  if (lane.out_of_memory) return {{}, true};
  const bool csr = job.table->format() == TableFormat::csr;
  if (csr && !lane.ids_in_table) {
    if (!job.table->append(lane.rows, lane.counts, lane.ids)) return {{}, true};
  } else {
    add_rows(*job.table, lane);
  }
  job.rows_done.fetch_add(lane.row_list.empty() ? lane.rows.size() : lane.row_list.size(), std::memory_order_relaxed);
  return {};
}

}  // namespace epsflow::stages
