#include <epsflow/gpu/tiles/tile_table_search.hpp>

#include <algorithm>
#include <bit>

#include <epsflow/gpu/base/device.hpp>
#include <epsflow/gpu/base/nvtx.hpp>
#include <epsflow/gpu/base/tuning.hpp>
#include <epsflow/gpu/tiles/tile_tuning.hpp>

namespace epsflow::gpu {
namespace {

/// Bytes that a lane needs for a pair: its key twice, what the sort needs besides, and its id.
constexpr std::uint64_t kBytesPerPair = 24;
/// Parts of a batch of full size; the first batch has one.
constexpr std::size_t kShares = 8;

}  // namespace

TileTableSearch::TileTableSearch(std::unique_ptr<TileSearch> search, const GpuResources& resources,
                                 const TableOptions& options)
    : resources_(resources), options_(options), search_(std::move(search)) {
  const StageRange range(Stage::plan_batches);
  count_rows();
  for (unsigned i = 0; i < std::max(1U, options_.lanes); ++i) lanes_.push_back(std::make_unique<Lane>(resources_));
  const double share = static_cast<double>(resources_.memory.available()) * tuning::kLaneShare;
  const std::uint64_t most = std::max<std::uint64_t>(
      1, static_cast<std::uint64_t>(share / static_cast<double>(lanes_.size() * kBytesPerPair)));
  const std::uint64_t batch_pairs =
      std::min(options_.lane_pairs > 0 ? options_.lane_pairs : tuning::kTileBatchPairs, most);
  const std::uint32_t n = search_->tiles().size();
  bits_ = static_cast<unsigned>(std::bit_width(n));
  const std::uint64_t parts = std::max(plan_.pairs / batch_pairs + 1, n / tuning::kMostBatchRows + 1);
  const std::vector<std::uint64_t> ends = read_values(offsets_.data(), offsets_.size(), search_->stream().get());
  // Small ones first, each twice the one before, so that there is soon something to carry for the bus; but not where each
  // is a search.
  const std::vector<std::uint32_t> cuts = cut_rows(parts * kShares);
  const std::size_t shares = cuts.size() - 1;
  const std::size_t full = std::max<std::size_t>(1, shares / parts);
  std::size_t size = search_->kept() ? 1 : full;
  for (std::size_t first = 0; first < shares; first += size, size = std::min(2 * size, full)) {
    const Range rows{cuts[first], cuts[std::min(first + size, shares)]};
    if (rows.size() == 0) continue;
    plan_.batches.push_back({.range = rows, .expected_pairs = ends[rows.end] - ends[rows.begin]});
    plan_.lane_pairs = std::max(plan_.lane_pairs, plan_.batches.back().expected_pairs);
  }
  plan_.blocks = ranges_between(cut_rows(std::uint64_t{options_.workers} * tuning::kBlocksPerWorker));
}

void TileTableSearch::count_rows() {
  const Stream& stream = search_->stream();
  const std::uint32_t n = search_->tiles().size();
  counts_ = {resources_.memory, stream.get(), n};
  offsets_ = {resources_.memory, stream.get(), std::uint64_t{n} + 1};
  launch_fill(counts_.data(), n, 1, stream.get());
  search_->for_each_list([&](PairList list) { launch_count_pairs(list, counts_.data(), stream.get()); });
  const RowTotals totals = place_rows(counts_, offsets_, {resources_.memory, stream.get()});
  plan_.counted = true;
  plan_.pairs = totals.pairs;
  longest_row_ = totals.longest;
}

/// Rows between parts of about as many pairs, from 0 to n. Those of parts without a row are equal.
std::vector<std::uint32_t> TileTableSearch::cut_rows(std::uint64_t parts) const {
  const Stream& stream = search_->stream();
  const std::uint32_t n = search_->tiles().size();
  const auto count = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(parts, 1, n));
  const DeviceBuffer<std::uint32_t> places(resources_.memory, stream.get(), std::uint64_t{count} + 1);
  const DeviceBuffer<std::uint64_t> values(resources_.memory, stream.get(), std::uint64_t{count} + 1);
  launch_cut(offsets_.data(), n + 1, count, places.data(), values.data(), stream.get());
  return read_values(places.data(), places.size(), stream.get());
}

std::pair<Batch, Batch> TileTableSearch::split(const Batch& batch) const {
  const DeviceScope scope(resources_.device);
  Batch first = batch;
  Batch second = batch;
  const std::uint32_t middle = batch.range.begin + batch.range.size() / 2;
  first.range.end = second.range.begin = middle;
  const auto end_of = [&](std::uint32_t row) {
    return read_values(offsets_.data() + row, 1, search_->stream().get()).front();
  };
  first.expected_pairs = end_of(middle) - end_of(batch.range.begin);
  second.expected_pairs = batch.expected_pairs - first.expected_pairs;
  return {first, second};
}

void TileTableSearch::search(const Batch& batch, unsigned lane_number, NeighborTable& table, Completion done) {
  Lane& lane = *lanes_.at(lane_number);
  start_on(lane.base, done, [&] {
    const DeviceScope scope(resources_.device);
    const StageRange range(Stage::find_neighbors);
    lane.base.found = {};
    start_rows(batch, lane, table, done);
  });
}

void TileTableSearch::collect_keys(const Batch& batch, Lane& lane) {
  const cudaStream_t stream = lane.base.stream.get();
  auto* const count = reinterpret_cast<unsigned long long*>(lane.base.counters.data());
  const PairKeys shape{batch.range, bits_};
  launch_begin_keys(shape, lane.keys.data(), count, stream);
  if (search_->kept()) {
    search_->for_each_list([&](PairList list) { launch_pair_keys(list, shape, lane.keys.data(), count, stream); });
    return;
  }
  const std::scoped_lock lock(searching_);
  search_->for_each_list([&](PairList list) {
    search_->stream().synchronize();
    launch_pair_keys(list, shape, lane.keys.data(), count, stream);
    lane.base.stream.synchronize();  // the list is overwritten
  });
}

void TileTableSearch::start_rows(const Batch& batch, Lane& lane, NeighborTable& table, Completion done) {
  GpuLane& base = lane.base;
  FoundRows& found = base.found;
  const std::uint64_t pairs = batch.expected_pairs;
  const std::uint32_t rows = batch.range.size();
  found.pairs = pairs;
  const std::uint64_t room = base.ensure_words(plan_.lane_pairs, longest_row_);
  found.overflow = pairs > room && rows > 1;
  if (!found.overflow && lane.keys.size() < 2 * pairs) {
    lane.keys = {};
    lane.keys = {resources_.memory, base.stream.get(), 2 * std::max(pairs, room)};
  }
  std::uint32_t* const ids = found.overflow ? nullptr : table.reserve(pairs);
  found.out_of_memory = !found.overflow && ids == nullptr;
  if (ids == nullptr) {
    done(found);
    return;
  }
  base.ensure_rows(rows, false);
  collect_keys(batch, lane);
  const cudaStream_t stream = base.stream.get();
  launch_ids_of_keys({lane.keys.data(), lane.keys.data() + lane.keys.size() / 2}, pairs, {batch.range, bits_},
                     base.words.data(), {resources_.memory, stream});
  copy_to_table(ids, base.words.data(), pairs * sizeof(std::uint32_t), stream);
  check(cudaMemcpyAsync(base.host_counts.as<std::uint32_t>(), counts_.data() + batch.range.begin,
                        rows * sizeof(std::uint32_t), cudaMemcpyDeviceToHost, stream));
  found.rows = batch.range;
  found.counts = {base.host_counts.as<const std::uint32_t>(), rows};
  found.ids = {ids, pairs};
  found.ids_in_table = true;
  report_from(base, std::move(done));
}

void TileTableSearch::sort(unsigned, NeighborTable&, Completion done) { done({}); }  // rows come sorted

}  // namespace epsflow::gpu
