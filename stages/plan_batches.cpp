#include <epsflow/stages/plan_batches.hpp>

#include <algorithm>
#include <string>

#include <epsflow/core/error.hpp>
#include <epsflow/core/sweep.hpp>

namespace epsflow::stages {
namespace {

/// Csr: a 64-bit offset and a 32-bit count per row. Packed: the count, and the layout, which is there already.
std::uint64_t row_bytes(std::uint64_t rows, const PackedLayout* layout) {
  return layout == nullptr ? rows * 12 : rows * 4 + layout->bytes();
}

}  // namespace

void throw_table_too_large(const TableJob& job, const ArenaPool& pool, std::uint64_t bytes, bool exact) {
  const std::uint64_t taken = pool.budget().total() - std::min(pool.budget().total(), pool.available());
  throw ResourceError("the neighbour table of eps " + format_number(job.group.eps) + " needs " +
                      (exact ? "" : "about ") + std::to_string(bytes) + " bytes; of the memory budget of " +
                      std::to_string(pool.budget().total()) + " bytes, points and index take " + std::to_string(taken) +
                      ": raise --memory (Options::memory) to at least " + std::to_string(taken + bytes) +
                      ", or lower eps");
}

bool PlanBatches::operator()(TableJob& job, bool alone) const {
  const auto rows = static_cast<std::uint32_t>(job.search->order().size());
  std::shared_ptr<const PackedLayout> layout;
  if (format != FormatChoice::csr && emit == Emit::rows) layout = job.search->packed_layout();
  if (format == FormatChoice::packed && layout == nullptr) {
    throw UsageError(
        "a packed table needs rows (not pairs) and an index of up to three dimensions: leave the table format to "
        "choose "
        "itself");
  }
  job.plan = job.search->plan({.format = layout != nullptr ? TableFormat::packed : TableFormat::csr,
                               .workers = workers,
                               .lane_pairs = lane_pairs});
  const std::uint64_t entries =
      layout != nullptr ? layout->words() * sizeof(std::uint32_t) : job.plan.estimated_pairs * sizeof(std::uint32_t);
  const std::uint64_t rest =
      row_bytes(rows, layout.get()) + (consumer_bytes ? consumer_bytes(job.group.minpts.size()) : 0);
  if (pool.available() < entries + rest) {
    if (!alone) return false;
    throw_table_too_large(job, pool, entries + rest, layout != nullptr);
  }
  try {
    job.table_memory = MemoryCharge(pool.budget(), rest, "the rows of the table");
    if (layout != nullptr) job.table = std::make_unique<NeighborTable>(layout, pool.acquire(entries));
  } catch (const ResourceError&) {
    if (alone) throw;
    return false;  // another table was quicker to take what there was
  }
  if (layout == nullptr) {
    // The estimate may be too small: reserve address space for all that the budget could hold.
    job.table = std::make_unique<NeighborTable>(rows, pool.acquire(pool.budget().total()));
  }
  std::vector<Run> blocks;
  blocks.reserve(job.plan.batches.size());
  for (const Batch& batch : job.plan.batches) blocks.push_back(batch.rows);
  job.table->set_blocks(std::move(blocks));
  job.open_batches = job.plan.batches.size();
  return true;
}

}  // namespace epsflow::stages
