#include <epsflow/stages/plan_batches.hpp>

#include <algorithm>
#include <string>

#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/core/sweep.hpp>

namespace epsflow::stages {
namespace {

/// Memory of a table without its entries, in bytes.
std::uint64_t row_bytes(std::uint64_t rows, const PackedLayout* layout) {
  return layout == nullptr ? csr_table_bytes(rows, 0) : rows * 4 + layout->bytes();
}

}  // namespace

void throw_table_too_large(const EpsJob& job, const ArenaPool& pool, std::uint64_t bytes, bool exact) {
  const std::uint64_t taken = pool.budget().total() - std::min(pool.budget().total(), pool.available());
  throw ResourceError("the neighbour table of eps " + format_number(job.group.eps) + " needs " +
                      (exact ? "" : "about ") + format_bytes(bytes) + "; of the memory budget of " +
                      format_bytes(pool.budget().total()) + ", points and index take " + format_bytes(taken) +
                      ": raise EngineOptions::memory to at least " + format_needed_bytes(taken + bytes) +
                      ", or lower eps; labels need no table with RunOptions::strategy = StrategyChoice::direct and no "
                      "option of tables");
}

bool PlanBatches::operator()(EpsJob& job, bool alone) const {
  try {
    plan(job);
    return true;
  } catch (const ResourceError&) {
    if (alone) throw;
    return false;  // other tables used the memory first
  }
}

void PlanBatches::plan(EpsJob& job) const {
  job.search = job.index->table(options);
  job.order = job.search->order();
  const auto rows = static_cast<std::uint32_t>(job.order.ids.size());
  const std::shared_ptr<const PackedLayout> layout = job.search->layout();
  const BatchPlan& plan = job.search->plan();
  const std::uint64_t words = layout != nullptr ? layout->words() : plan.pairs;
  const std::uint64_t entries = pool.charge_of(words * sizeof(std::uint32_t));
  const std::uint64_t rest =
      row_bytes(rows, layout.get()) + (consumer_bytes ? consumer_bytes(job.group.minpts.size()) : 0);
  const bool exact = layout != nullptr || plan.counted;
  if (pool.available() < entries + rest) throw_table_too_large(job, pool, entries + rest, exact);
  job.table_memory = MemoryCharge(pool.budget(), rest, "the rows of the table");
  if (layout != nullptr) {
    job.table = std::make_unique<NeighborTable>(layout, pool.acquire(entries));
  } else {
    // The estimate may be too small, so reserve address space for the whole budget.
    job.table = std::make_unique<NeighborTable>(rows, pool.acquire(pool.budget().total()));
    // The size is counted, so it would not fit after the search either.
    if (exact && !job.table->grow(words)) {
      job.table_memory = {};
      throw_table_too_large(job, pool, entries + rest, exact);
    }
  }
  job.table->set_blocks(plan.blocks);
}

}  // namespace epsflow::stages
