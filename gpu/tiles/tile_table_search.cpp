#include <epsflow/gpu/tiles/tile_table_search.hpp>

#include <algorithm>
#include <bit>

#include <epsflow/gpu/base/tuning.hpp>
#include <epsflow/gpu/tiles/tile_tuning.hpp>

namespace epsflow::gpu {
namespace {

/// Bytes of a lane for each pair: its key twice, temporary memory of the sort, and its id.
constexpr std::uint64_t kBytesPerPair = 24;
/// Shares of a batch of full size. The first batch has one share.
constexpr std::size_t kShares = 8;

}  // namespace

TileTableSearch::TileTableSearch(std::unique_ptr<TileSearch> search, const GpuResources& resources,
                                 const TableOptions& options)
    : resources_(resources),
      search_(std::move(search)),
      rows_(count_rows(), search_->stream(), resources_.memory),
      bits_(static_cast<unsigned>(std::bit_width(search_->tiles().size()))),
      lanes_(make_lanes<Lane>(resources_, options)) {
  plan_.counted = true;
  plan_.pairs = rows_.pairs();
  const double share = static_cast<double>(resources_.memory.available()) * tuning::kLaneShare;
  const std::uint64_t most = std::max<std::uint64_t>(
      1, static_cast<std::uint64_t>(share / static_cast<double>(lanes_.size() * kBytesPerPair)));
  const std::uint64_t batch_pairs =
      std::min(options.lane_pairs > 0 ? options.lane_pairs : tuning::kTileBatchPairs, most);
  const std::uint64_t parts =
      std::max(plan_.pairs / batch_pairs + 1, search_->tiles().size() / tuning::kMostBatchRows + 1);
  // The first batches are small, each twice the one before, so that transfers start early; unless each is a search.
  const CountedRows::Cuts cuts = rows_.cut(parts * kShares);
  const std::size_t shares = cuts.rows.size() - 1;
  const std::size_t full = std::max<std::size_t>(1, shares / parts);
  std::size_t size = search_->cached() ? 1 : full;
  for (std::size_t first = 0; first < shares; first += size, size = std::min(2 * size, full)) {
    add_batch(plan_, cuts, first, std::min(first + size, shares));
  }
  plan_.blocks = ranges_between(rows_.cut(std::uint64_t{options.workers} * tuning::kBlocksPerWorker).rows);
}

DeviceBuffer<std::uint32_t> TileTableSearch::count_rows() {
  const cudaStream_t stream = search_->stream().get();
  DeviceBuffer<std::uint32_t> counts(resources_.memory, stream, search_->tiles().size());
  launch_fill(counts.data(), counts.size(), 1, stream);  // each point is a neighbour of itself
  search_->for_each_list([&](PairsOnDevice list) { launch_count_pairs(list, counts.data(), stream); });
  return counts;
}

void TileTableSearch::search(const Batch& batch, unsigned lane_number, NeighborTable& table, Completion done) {
  Lane& lane = lanes_.at(lane_number);
  start_on(lane, Stage::find_neighbors, done,
           [&] { rows_.search(batch, lane, plan_.lane_pairs, table, done, [&] { find_ids(batch, lane); }); });
}

void TileTableSearch::find_ids(const Batch& batch, Lane& lane) {
  const std::uint64_t pairs = batch.expected_pairs;
  const cudaStream_t stream = lane.stream.get();
  if (lane.keys.size() < 2 * pairs) {
    lane.keys = {};
    lane.keys = {resources_.memory, stream, 2 * std::max(pairs, lane.words.size())};
  }
  const PairKeys shape{batch.range, bits_};
  collect_keys(shape, lane);
  launch_ids_of_keys({lane.keys.data(), lane.keys.data() + lane.keys.size() / 2}, pairs, shape, lane.words.data(),
                     {resources_.memory, stream});
}

void TileTableSearch::collect_keys(const PairKeys& shape, Lane& lane) {
  const cudaStream_t stream = lane.stream.get();
  const auto add_keys_of = [&](PairsOnDevice list) {
    launch_pair_keys(list, shape, lane.keys.data(), lane.key_count.data(), stream);
  };
  launch_begin_keys(shape, lane.keys.data(), lane.key_count.data(), stream);
  if (search_->cached()) return search_->for_each_list(add_keys_of);
  const std::scoped_lock lock(searching_);
  search_->for_each_list([&](PairsOnDevice list) {
    search_->stream().synchronize();
    add_keys_of(list);
    lane.stream.synchronize();  // the list is overwritten next
  });
}

}  // namespace epsflow::gpu
