#include <epsflow/stages/build_table.hpp>

#include <epsflow/index/batch_plan.hpp>

namespace epsflow::stages {

BuildTable::Outcome BuildTable::operator()(TableJob& job, const Batch& batch, const Lane& lane) const {
  if (lane.overflow) {
    if (trace != nullptr) trace->count_retry();
    const auto [first, second] = index::split(batch);
    return {{first, second}, false};
  }
  if (job.table->format() == TableFormat::csr && !job.table->append(lane.rows, lane.counts, lane.ids)) {
    return {{}, true};
  }
  job.rows_done.fetch_add(batch.rows.size(), std::memory_order_relaxed);
  return {};
}

}  // namespace epsflow::stages
