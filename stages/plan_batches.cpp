#include <epsflow/stages/plan_batches.hpp>

#include <algorithm>
#include <string>

#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>
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
                      (exact ? "" : "about ") + format_bytes(bytes) + "; of the memory budget of " +
                      format_bytes(pool.budget().total()) + ", points and index take " + format_bytes(taken) +
                      ": raise Options::memory to at least " + format_needed_bytes(taken + bytes) + ", or lower eps");
}

bool PlanBatches::operator()(TableJob& job, bool alone) const {
  try {
    plan(job);
    return true;
  } catch (const ResourceError&) {
    if (alone) throw;
    return false;  // other tables, or another that was quicker, have what there was
  }
}

void PlanBatches::plan(TableJob& job) const {
  const auto rows = static_cast<std::uint32_t>(job.search->order().size());
  std::shared_ptr<const PackedLayout> layout;
  const bool wanted =
      format == FormatChoice::packed || (format == FormatChoice::automatic && job.search->suits_packed());
  if (wanted && options.kernel == Kernel::rows) layout = job.search->packed_layout();
  if (format == FormatChoice::packed && layout == nullptr) {
    throw UsageError(
        "a packed table needs Options::kernel = Kernel::rows and at most three dimensions: leave the choice with "
        "Options::format = FormatChoice::automatic");
  }
  PlanOptions with_format = options;
  with_format.format = layout != nullptr ? TableFormat::packed : TableFormat::csr;
  job.plan = job.search->plan(with_format);
  const std::uint64_t words = layout != nullptr ? layout->words() : job.plan.pairs;
  const std::uint64_t entries = pool.charge_of(words * sizeof(std::uint32_t));
  const std::uint64_t rest =
      row_bytes(rows, layout.get()) + (consumer_bytes ? consumer_bytes(job.group.minpts.size()) : 0);
  const bool exact = layout != nullptr || job.plan.counted;
  if (pool.available() < entries + rest) throw_table_too_large(job, pool, entries + rest, exact);
  job.table_memory = MemoryCharge(pool.budget(), rest, "the rows of the table");
  if (layout != nullptr) {
    job.table = std::make_unique<NeighborTable>(layout, pool.acquire(entries));
  } else {
    // The estimate may be too small: reserve address space for all that the budget could hold.
    job.table = std::make_unique<NeighborTable>(rows, pool.acquire(pool.budget().total()));
    // Counted: what is too little now would be so after the search as well.
    if (exact && !job.table->grow(words)) {
      job.table_memory = {};
      throw_table_too_large(job, pool, entries + rest, exact);
    }
  }
  job.table->set_blocks(job.plan.blocks);
  job.open_batches = job.plan.batches.size();
}

}  // namespace epsflow::stages
