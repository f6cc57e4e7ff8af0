#include <epsflow/gpu/tables/gpu_table_search.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include <epsflow/gpu/base/device.hpp>
#include <epsflow/gpu/base/nvtx.hpp>
#include <epsflow/gpu/base/tuning.hpp>
#include <epsflow/gpu/tables/search_kernels.hpp>

namespace epsflow::gpu {
namespace {

/// Pairs that a lane may hold: run-length encoding counts in 32 bits.
constexpr std::uint64_t kMostLanePairs = std::numeric_limits<std::int32_t>::max();

std::uint64_t divide_up(std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; }

void copy_to_host(void* to, const void* from, std::uint64_t bytes, const Stream& stream) {
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream.get()));
}

}  // namespace

RowTotals place_rows(const DeviceBuffer<std::uint32_t>& counts, const DeviceBuffer<std::uint64_t>& offsets,
                     Scratch scratch) {
  const auto n = static_cast<std::uint32_t>(counts.size());
  launch_offsets(counts.data(), n, offsets.data(), scratch);
  const DeviceBuffer<std::uint64_t> sums(scratch.memory, scratch.stream, 2);
  launch_sum_and_largest(counts.data(), n, sums.data(), scratch);
  const std::vector<std::uint64_t> totals = read_values(sums.data(), 2, scratch.stream);
  return {totals[0], totals[1]};
}

GpuTableSearch::GpuTableSearch(std::shared_ptr<const DeviceGrid> grid, const GpuResources& resources,
                               const TableOptions& options)
    : shared_grid_(std::move(grid)), grid_(*shared_grid_), resources_(resources), options_(options) {
  const bool can_pack = grid_.dims() <= kMostPackedDims && !emits_pairs(options_.kernel);
  if (options_.format == FormatChoice::packed && !can_pack) throw_not_packable();
  const StageRange range(Stage::plan_batches);
  for (unsigned i = 0; i < std::max(1U, options_.lanes); ++i) {
    lanes_.push_back(std::make_unique<GpuLane>(resources_.memory, resources_.pinned));
  }
  if (grid_.size() == 0) {
    if (can_pack && options_.format != FormatChoice::csr) {
      layout_ = std::make_shared<const PackedLayout>(grid_.read_layout());
    }
    return;
  }
  if (emits_pairs(options_.kernel)) {
    plan_pairs();
  } else {
    bool packed = options_.format == FormatChoice::packed;
    if (!packed) count_rows();
    if (can_pack && options_.format == FormatChoice::automatic) packed = packed_is_smaller();
    if (packed) {
      layout_ = std::make_shared<const PackedLayout>(grid_.read_layout());
      plan_packed();
    } else {
      plan_rows();
    }
  }
  plan_.blocks = cut_by_words(std::uint64_t{options_.workers} * tuning::kBlocksPerWorker);
}

/// Which format crosses the bus in fewer bytes, layout and all.
bool GpuTableSearch::packed_is_smaller() const {
  return grid_.packed_bytes() <= csr_table_bytes(grid_.size(), plan_.pairs);
}

/// Words that the buffer of a lane may take, so that all lanes together leave memory for the next index.
std::uint64_t GpuTableSearch::most_lane_words() const {
  const double share = tuning::kLaneShare / options_.lanes / sizeof(std::uint32_t);
  return std::max<std::uint64_t>(
      1, static_cast<std::uint64_t>(static_cast<double>(resources_.memory.available()) * share));
}

/// Batches that there must be at least, lest one hold too many rows or take too long.
std::uint64_t GpuTableSearch::fewest_batches() const {
  const double work = 32.0 * static_cast<double>(grid_.packed_words()) * static_cast<double>(grid_.dims());
  return std::max(divide_up(grid_.size(), tuning::kMostBatchRows),
                  static_cast<std::uint64_t>(std::ceil(work / tuning::kMostBatchWork)));
}

/// Rows cut into parts of about equal packed words, so of about as many distance tests.
std::vector<Range> GpuTableSearch::cut_by_words(std::uint64_t parts) const {
  const auto count = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(parts, 1, grid_.size()));
  const cudaStream_t stream = grid_.stream().get();
  const DeviceBuffer<std::uint32_t> rows(resources_.memory, stream, std::uint64_t{count} + 1);
  launch_cut_words(grid_.view(), count, rows.data(), stream);
  return ranges_between(read_values(rows.data(), rows.size(), stream));
}

void GpuTableSearch::plan_packed() {
  const std::uint64_t words = grid_.packed_words();
  const std::uint64_t batch_words = std::clamp<std::uint64_t>(
      options_.lane_pairs > 0 ? options_.lane_pairs : tuning::kPackedBatchWords, 1, most_lane_words());
  counts_ = {resources_.memory, grid_.stream().get(), grid_.size()};
  const PackedLayout& layout = *layout_;
  plan_ = {};
  offsets_ = {};
  for (const Range rows : cut_by_words(std::max(divide_up(words, batch_words), fewest_batches()))) {
    plan_.batches.push_back({.range = rows});
    lane_room_ = std::max(lane_room_, layout.first_word(rows.end) - layout.first_word(rows.begin));
  }
  const Scratch scratch{resources_.memory, grid_.stream().get()};
  const DeviceBuffer<std::uint64_t> longest(resources_.memory, scratch.stream, 1);
  launch_longest_row(grid_.view(), longest.data(), scratch);
  longest_row_ = read_values(longest.data(), 1, scratch.stream).front();
}

/// Neighbours of every row, and the place of each row in the table.
void GpuTableSearch::count_rows() {
  const Stream& stream = grid_.stream();
  const Scratch scratch{resources_.memory, stream.get()};
  const std::uint32_t n = grid_.size();
  counts_ = {resources_.memory, stream.get(), n};
  offsets_ = {resources_.memory, stream.get(), std::uint64_t{n} + 1};
  // In parts where it takes long, so that a cancelled run ends soon.
  const std::vector<Range> parts_to_count = cut_by_words(fewest_batches());
  for (const Range rows : parts_to_count) {
    launch_count_rows(grid_.view(), {rows.begin, 1, rows.size()}, counts_.data() + rows.begin, stream.get());
    if (parts_to_count.size() > tuning::kPartsAtOnce) stream.synchronize();
    resources_.cancel.check();
  }
  const RowTotals totals = place_rows(counts_, offsets_, scratch);
  plan_.counted = true;
  plan_.pairs = totals.pairs;
  longest_row_ = totals.longest;
}

void GpuTableSearch::plan_rows() {
  const Stream& stream = grid_.stream();
  const std::uint32_t n = grid_.size();
  const std::uint64_t batch_pairs =
      std::min(options_.lane_pairs > 0 ? options_.lane_pairs : tuning::kRowsBatchPairs, most_lane_words());
  const std::uint64_t parts =
      std::clamp<std::uint64_t>(std::max(divide_up(plan_.pairs, batch_pairs), fewest_batches()), 1, n);
  const DeviceBuffer<std::uint32_t> places(resources_.memory, stream.get(), parts + 1);
  const DeviceBuffer<std::uint64_t> values(resources_.memory, stream.get(), parts + 1);
  launch_cut(offsets_.data(), n + 1, static_cast<std::uint32_t>(parts), places.data(), values.data(), stream.get());
  const std::vector<std::uint32_t> rows = read_values(places.data(), parts + 1, stream.get());
  const std::vector<std::uint64_t> pairs = read_values(values.data(), parts + 1, stream.get());
  for (std::size_t k = 1; k < rows.size(); ++k) {
    if (rows[k] == rows[k - 1]) continue;
    plan_.batches.push_back({.range = {rows[k - 1], rows[k]}, .expected_pairs = pairs[k] - pairs[k - 1]});
    lane_room_ = std::max(lane_room_, pairs[k] - pairs[k - 1]);
  }
  plan_.lane_pairs = lane_room_;
}

/// Section VI of the paper: the pairs a_b from a sample, n_b = ⌈(1 + α)·a_b / b_b⌉ batches of every n_b-th point (for
/// the shared kernel: cell), buffers of b_b pairs, smaller for small tables.
void GpuTableSearch::plan_pairs() {
  const Stream& stream = grid_.stream();
  const Scratch scratch{resources_.memory, stream.get()};
  const std::uint32_t n = grid_.size();
  const auto samples = static_cast<std::uint32_t>(divide_up(n, tuning::kSampleStride));
  const DeviceBuffer<std::uint32_t> counts(resources_.memory, stream.get(), samples);
  const DeviceBuffer<std::uint64_t> sums(resources_.memory, stream.get(), 3);
  launch_count_rows(grid_.view(), {0, tuning::kSampleStride, samples}, counts.data(), stream.get());
  launch_sum_and_largest(counts.data(), samples, sums.data(), scratch);
  launch_longest_row(grid_.view(), sums.data() + 2, scratch);
  const std::vector<std::uint64_t> found = read_values(sums.data(), 3, stream.get());
  // Candidates bound what one row can have, which no splitting makes smaller.
  longest_row_ = std::min<std::uint64_t>(n, 32 * found[2]);

  const double estimate = static_cast<double>(found[0]) * n / samples * options_.estimate_factor;
  plan_.pairs = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::ceil(estimate)));
  double alpha = tuning::kAlpha;
  lane_room_ = tuning::kStaticPairs;
  if (options_.lane_pairs > 0) {
    lane_room_ = options_.lane_pairs;
  } else if (plan_.pairs < 3 * tuning::kStaticPairs) {
    alpha *= 2;
    lane_room_ = std::max(tuning::kFewestPairs, static_cast<std::uint64_t>(std::ceil(estimate * (1 + 2 * alpha) / 3)));
  }
  lane_room_ = std::clamp<std::uint64_t>(lane_room_, 1,
                                         std::max<std::uint64_t>(most_lane_words() / tuning::kPairWordsWithScratch, 1));
  lane_room_ = std::min(lane_room_, kMostLanePairs);
  if (longest_row_ > kMostLanePairs) {
    throw DeviceOutOfMemory(
        "a row of " + std::to_string(longest_row_) +
        " candidates is too long for the pairs of a lane: use SearchOptions::kernel = Kernel::rows, or lower eps");
  }
  plan_.lane_pairs = lane_room_;
  const bool by_cells = options_.kernel == Kernel::shared;
  const std::uint32_t units = by_cells ? grid_.view().cells : n;
  const auto batches = static_cast<std::uint32_t>(std::clamp<double>(
      std::max(std::ceil((1 + alpha) * static_cast<double>(plan_.pairs) / static_cast<double>(lane_room_)),
               static_cast<double>(fewest_batches())),
      1, units));
  for (std::uint32_t b = 0; b < batches; ++b) {
    plan_.batches.push_back({.range = {b, units},
                             .expected_pairs = plan_.pairs / batches,
                             .stride = batches,
                             .unit = by_cells ? Batch::Unit::cell : Batch::Unit::row});
  }
}

std::pair<Batch, Batch> GpuTableSearch::split(const Batch& batch) const {
  const DeviceScope scope(resources_.device);
  const cudaStream_t stream = grid_.stream().get();
  Batch first = batch;
  Batch second = batch;
  first.expected_pairs /= 2;
  second.expected_pairs -= first.expected_pairs;
  if (batch.units() > 1 && batch.stride > 1) {
    // Every other unit: as even as the batch was.
    first.stride = second.stride = 2 * batch.stride;
    second.range.begin += batch.stride;
    return {first, second};
  }
  if (batch.unit == Batch::Unit::cell && batch.units() == 1) {
    // One cell: from here on a range of its rows.
    const std::vector<std::uint32_t> rows = read_values(grid_.view().cell_starts + batch.range.begin, 2, stream);
    first.range = second.range = {rows[0], rows[1]};
    first.unit = second.unit = Batch::Unit::row;
    first.stride = second.stride = 1;
  }
  const std::uint32_t middle = first.range.begin + first.range.size() / 2;
  first.range.end = second.range.begin = middle;
  if (offsets_.size() > 0) {  // counted: halves are exact too
    const std::uint64_t begin = read_values(offsets_.data() + first.range.begin, 1, stream).front();
    first.expected_pairs = read_values(offsets_.data() + middle, 1, stream).front() - begin;
    second.expected_pairs = batch.expected_pairs - first.expected_pairs;
  }
  return {first, second};
}

void GpuTableSearch::search(const Batch& batch, unsigned lane_number, NeighborTable& table, Completion done) {
  GpuLane& lane = *lanes_.at(lane_number);
  start_on(lane, done, [&] {
    const DeviceScope scope(resources_.device);
    const StageRange range(Stage::find_neighbors);
    lane.found = {};
    if (layout_ != nullptr) {
      start_packed(batch, lane, table, done);
    } else if (emits_pairs(options_.kernel)) {
      start_pairs(batch, lane, done);
    } else {
      start_rows(batch, lane, table, done);
    }
  });
}

void GpuTableSearch::start_packed(const Batch& batch, GpuLane& lane, NeighborTable& table, Completion done) {
  const std::uint64_t first_word = layout_->first_word(batch.range.begin);
  const std::uint64_t words = layout_->first_word(batch.range.end) - first_word;
  const std::uint32_t rows = batch.range.size();
  if (words > lane.ensure_words(lane_room_, longest_row_) && rows > 1) {
    lane.found.overflow = true;
    done(lane.found);
    return;
  }
  lane.ensure_rows(rows, false);
  std::uint32_t* const counts = counts_.data() + batch.range.begin;
  launch_pack_rows(grid_.view(), batch.range, first_word, lane.words.data(), counts, lane.stream.get());
  copy_to_table(table.packed_words_for_writing() + first_word, lane.words.data(), words * sizeof(std::uint32_t),
                lane.stream.get());
  copy_to_host(lane.host_counts.as<std::uint32_t>(), counts, rows * sizeof(std::uint32_t), lane.stream);
  lane.found.rows = batch.range;
  lane.found.counts = {lane.host_counts.as<const std::uint32_t>(), rows};
  report_from(lane, std::move(done));
}

void GpuTableSearch::start_rows(const Batch& batch, GpuLane& lane, NeighborTable& table, Completion done) {
  const std::uint64_t pairs = batch.expected_pairs;
  const std::uint32_t rows = batch.range.size();
  FoundRows& found = lane.found;
  found.pairs = pairs;
  found.overflow = pairs > lane.ensure_words(lane_room_, longest_row_) && rows > 1;
  std::uint32_t* const ids = found.overflow ? nullptr : table.reserve(pairs);
  found.out_of_memory = !found.overflow && ids == nullptr;
  if (ids == nullptr) {
    done(found);
    return;
  }
  lane.ensure_rows(rows, false);
  launch_fill_rows(grid_.view(), batch.range, offsets_.data(), lane.words.data(), lane.stream.get());
  copy_to_table(ids, lane.words.data(), pairs * sizeof(std::uint32_t), lane.stream.get());
  copy_to_host(lane.host_counts.as<std::uint32_t>(), counts_.data() + batch.range.begin, rows * sizeof(std::uint32_t),
               lane.stream);
  lane.found.rows = batch.range;
  lane.found.counts = {lane.host_counts.as<const std::uint32_t>(), rows};
  found.ids = {ids, pairs};
  found.ids_in_table = true;
  report_from(lane, std::move(done));
}

void GpuTableSearch::start_pairs(const Batch& batch, GpuLane& lane, Completion done) {
  lane.ensure_pairs(lane_room_, longest_row_);
  const PairBuffer pairs = lane.pair_buffer();
  check(cudaMemsetAsync(lane.counters.data(), 0, lane.counters.bytes(), lane.stream.get()));
  if (options_.kernel == Kernel::global) {
    launch_global(grid_.view(), {batch.range.begin, batch.stride, batch.units()}, pairs, lane.stream.get());
  } else if (batch.unit == Batch::Unit::cell) {
    launch_shared(grid_.view(), {batch.range.begin, batch.stride, batch.units(), {0, grid_.size()}}, pairs,
                  lane.stream.get());
  } else {  // a part of the rows of one cell
    const std::uint32_t cell = read_values(grid_.view().cell_of + batch.range.begin, 1, grid_.stream().get()).front();
    launch_shared(grid_.view(), {cell, 1, 1, batch.range}, pairs, lane.stream.get());
  }
  copy_to_host(lane.host_counters.as<std::uint64_t>(), lane.counters.data(), lane.counters.bytes(), lane.stream);
  const std::uint64_t rows_if_known = options_.kernel == Kernel::global ? batch.units() : 0;
  // More than the plan gave a lane is split even where the buffer would hold it: sizes do not depend on what a lane
  // held before. A single row always fits.
  const std::uint64_t most = std::min(lane_room_, pairs.capacity);
  lane.stream.on_complete([&lane, rows_if_known, most, done = std::move(done)](const std::exception_ptr& error) {
    FoundRows& found = lane.found;
    if (error == nullptr) {
      const auto* counters = lane.host_counters.as<const std::uint64_t>();
      const std::uint64_t rows = rows_if_known > 0 ? rows_if_known : counters[1];
      found.pairs = counters[0];
      lane.found_rows = rows;
      found.overflow = found.pairs > most && rows > 1;
      found.unsorted = !found.overflow && found.pairs > 0;
    }
    found.error = error;
    done(found);
  });
}

void GpuTableSearch::sort(unsigned lane_number, NeighborTable& table, Completion done) {
  GpuLane& lane = *lanes_.at(lane_number);
  start_on(lane, done, [&] {
    const DeviceScope scope(resources_.device);
    const StageRange range(Stage::sort_pairs);
    FoundRows& found = lane.found;
    found.unsorted = false;
    std::uint32_t* const ids = table.reserve(found.pairs);
    if (ids == nullptr) {
      found.out_of_memory = true;
      done(found);
      return;
    }
    const Scratch scratch{lane.memory, lane.stream.get()};
    TwoBuffers<std::uint32_t> rows = lane.pair_rows();
    TwoBuffers<std::uint32_t> neighbors = lane.pair_neighbors();
    launch_sort(rows, neighbors, found.pairs, std::max(1, static_cast<int>(std::bit_width(grid_.size() - 1))), scratch);
    copy_to_table(ids, neighbors.current, found.pairs * sizeof(std::uint32_t), lane.stream.get());
    // Every row has a pair, the point with itself, so the different rows are those of the batch.
    launch_run_lengths(rows.current, found.pairs, rows.other, neighbors.other, lane.counters.data() + 2, scratch);
    copy_to_host(lane.host_counters.as<std::uint64_t>(), lane.counters.data(), lane.counters.bytes(), lane.stream);
    const std::uint64_t count = lane.found_rows;
    lane.ensure_rows(count, true);
    copy_to_host(lane.host_rows.as<std::uint32_t>(), rows.other, count * sizeof(std::uint32_t), lane.stream);
    copy_to_host(lane.host_counts.as<std::uint32_t>(), neighbors.other, count * sizeof(std::uint32_t), lane.stream);
    found.row_list = {lane.host_rows.as<const std::uint32_t>(), count};
    found.counts = {lane.host_counts.as<const std::uint32_t>(), count};
    found.ids = {ids, found.pairs};
    found.ids_in_table = true;
    lane.stream.on_complete([&lane, done](std::exception_ptr error) {
      FoundRows all = lane.found;
      if (error == nullptr && lane.host_counters.as<const std::uint64_t>()[2] != lane.found_rows) {
        error = std::make_exception_ptr(
            Error("the sort of a batch lost rows, which is a defect of epsflow: please report it"));
      }
      all.error = std::move(error);
      done(std::move(all));
    });
  });
}

}  // namespace epsflow::gpu
