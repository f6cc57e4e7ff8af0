#include <epsflow/gpu/tables/counted_rows.hpp>

#include <algorithm>

#include <epsflow/gpu/base/device.hpp>
#include <epsflow/gpu/grid/index_kernels.hpp>
#include <epsflow/index/batch_plan.hpp>

namespace epsflow::gpu {

CountedRows::CountedRows(DeviceBuffer<std::uint32_t> counts, const Stream& stream, DeviceMemory& memory)
    : stream_(stream), memory_(memory), counts_(std::move(counts)) {
  if (counts_.size() == 0) return;
  const Scratch scratch{memory_, stream_.get()};
  const auto n = static_cast<std::uint32_t>(counts_.size());
  offsets_ = {memory_, stream_.get(), std::uint64_t{n} + 1};
  launch_offsets(counts_.data(), n, offsets_.data(), scratch);
  const DeviceBuffer<std::uint64_t> sums(memory_, stream_.get(), 2);
  launch_sum_and_largest(counts_.data(), n, sums.data(), scratch);
  const std::vector<std::uint64_t> totals = read_values(sums.data(), 2, stream_.get());
  pairs_ = totals[0];
  longest_ = totals[1];
}

CountedRows::Cuts CountedRows::cut(std::uint64_t parts) const {
  const auto n = static_cast<std::uint32_t>(counts_.size());
  const auto count = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(parts, 1, n));
  const DeviceBuffer<std::uint32_t> rows(memory_, stream_.get(), std::uint64_t{count} + 1);
  const DeviceBuffer<std::uint64_t> offsets(memory_, stream_.get(), std::uint64_t{count} + 1);
  launch_cut(offsets_.data(), n + 1, count, rows.data(), offsets.data(), stream_.get());
  return {read_values(rows.data(), rows.size(), stream_.get()),
          read_values(offsets.data(), offsets.size(), stream_.get())};
}

std::pair<Batch, Batch> CountedRows::split(const Batch& batch) const {
  const DeviceScope scope(stream_.device());
  auto [first, second] = index::split_range(batch);
  const auto offset_of = [&](std::uint32_t row) {
    return read_values(offsets_.data() + row, 1, stream_.get()).front();
  };
  first.expected_pairs = offset_of(first.range.end) - offset_of(first.range.begin);
  second.expected_pairs = batch.expected_pairs - first.expected_pairs;
  return {first, second};
}

void add_batch(BatchPlan& plan, const CountedRows::Cuts& cuts, std::size_t begin, std::size_t end) {
  const Range rows{cuts.rows[begin], cuts.rows[end]};
  if (rows.size() == 0) return;
  const std::uint64_t pairs = cuts.offsets[end] - cuts.offsets[begin];
  plan.batches.push_back({.range = rows, .expected_pairs = pairs});
  plan.lane_pairs = std::max(plan.lane_pairs, pairs);
}

}  // namespace epsflow::gpu
