#include <epsflow/gpu/tables/grid_table_search.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

#include <epsflow/gpu/base/tuning.hpp>

namespace epsflow::gpu {

std::vector<Range> GridTask::cut_by_words(std::uint64_t parts) const {
  const auto count = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(parts, 1, grid->size()));
  const cudaStream_t stream = grid->stream().get();
  const DeviceBuffer<std::uint32_t> rows(resources.memory, stream, std::uint64_t{count} + 1);
  launch_cut_words(grid->view(), count, rows.data(), stream);
  return ranges_between(read_values(rows.data(), rows.size(), stream));
}

std::uint64_t GridTask::fewest_batches() const {
  const double work = 32.0 * static_cast<double>(grid->packed_words()) * static_cast<double>(grid->dims());
  return std::max(divide_up(grid->size(), tuning::kMostBatchRows),
                  static_cast<std::uint64_t>(std::ceil(work / tuning::kMostBatchWork)));
}

std::uint64_t GridTask::most_lane_words() const {
  const double share = tuning::kLaneShare / std::max(1U, options.lanes) / sizeof(std::uint32_t);
  return std::max<std::uint64_t>(1,
                                 static_cast<std::uint64_t>(static_cast<double>(resources.memory.available()) * share));
}

GridTableSearch::GridTableSearch(GridTask task) : task_(std::move(task)) {
  if (grid().size() == 0) return;
  plan_.blocks = task_.cut_by_words(std::uint64_t{task_.options.workers} * tuning::kBlocksPerWorker);
}

std::unique_ptr<TableSearch> make_table_search(const GridTask& task) {
  const FormatChoice format = task.options.format;
  const bool by_pairs = emits_pairs(task.options.kernel);
  const bool can_pack = task.grid->dims() <= kMostPackedDims && !by_pairs;
  if (format == FormatChoice::packed) {
    if (!can_pack) throw_not_packable();
    return make_packed_search(task);
  }
  if (by_pairs) return make_pairs_search(task);
  {
    CountedRows rows = count_rows(task);
    // Takes the format that transfers fewer bytes, its layout included.
    const bool packed = can_pack && format == FormatChoice::automatic &&
                        task.grid->packed_bytes() <= csr_table_bytes(task.grid->size(), rows.pairs());
    if (!packed) return make_rows_search(task, std::move(rows));
  }  // frees the counts for the lanes
  return make_packed_search(task);
}

}  // namespace epsflow::gpu
