#include <epsflow/gpu/windows/gpu_window.hpp>

#include <algorithm>
#include <bit>
#include <utility>

#include <epsflow/core/checked.hpp>
#include <epsflow/gpu/base/device.hpp>
#include <epsflow/gpu/base/upload.hpp>
#include <epsflow/gpu/grid/device_points.hpp>

namespace epsflow::gpu {
namespace {

constexpr std::uint64_t kFewestSlots = 1 << 16;
/// Bytes of core marks that are copied to the host beside the labels.
constexpr std::size_t kCoreAtOnce = 4 << 20;

}  // namespace

GpuWindow::GpuWindow(std::size_t dims, std::size_t variants, GpuWindowResources home)
    : home_(std::move(home)), dims_(static_cast<std::uint32_t>(dims)), last_(variants), next_labels_(variants) {}

DevicePointsView GpuWindow::change(std::span<const std::uint32_t> leaving, PointsView arriving,
                                   std::span<const std::uint32_t> entering) {
  (void)cudaGetLastError();  // clears an error of the caller's own work on this thread
  const DeviceScope scope(home_.device);
  const cudaStream_t on = stream_.get();
  const UploadPath path{.device = home_.device, .pinned = home_.pinned, .threads = home_.threads, .in_arena = true};
  const auto left = static_cast<std::uint32_t>(leaving.size());
  const bool first_leave = left == 0 || leaving.back() + 1 == left;
  const bool all_enter = entering.size() == arriving.size();
  next_rows_ = narrow<std::uint32_t>(rows_ - left + entering.size(), "the number of points");
  leaving_ = {};  // frees the old memory before its replacement is allocated
  next_ = {};
  next_ = {home_.memory, on, std::uint64_t{next_rows_} * dims_};
  leaving_ = {home_.memory, on, first_leave ? 0 : left};
  const DeviceBuffer<std::byte> arrived(home_.memory, on, arriving.bytes());
  const DeviceBuffer<std::uint32_t> rows(home_.memory, on, all_enter ? 0 : entering.size());
  const StreamDrain drain(stream_);  // waits before the memory above is freed
  stream_.synchronize();             // the memory is allocated now
  staying_ = {leaving_.data(), left, rows_ - left};
  if (!first_leave) upload(leaving_.data(), leaving.data(), leaving_.bytes(), path);
  launch_keep_rows(staying_, points_.data(), dims_, next_.data(), on);
  if (!entering.empty()) {
    upload(arrived.data(), arriving.data(), arrived.bytes(), path);
    if (!all_enter) upload(rows.data(), entering.data(), rows.bytes(), path);
    launch_take_rows(arrived.data(), arriving.precision(), dims_, rows.data(), entering.size(),
                     next_.data() + std::uint64_t{staying_.stay} * dims_, on);
  }
  stream_.synchronize();
  return {next_.data(), next_rows_, dims_, {home_.device, on}};
}

void GpuWindow::commit() noexcept {
  points_ = std::move(next_);
  next_ = {};
  rows_ = next_rows_;
  last_.swap(next_labels_);
  for (LastLabels& labels : next_labels_) labels = {};
}

CountedClusters GpuWindow::count(std::size_t variant, const DeviceLabelling& labelling) {
  (void)cudaGetLastError();
  const DeviceScope scope(home_.device);
  const cudaStream_t on = stream_.get();
  const LastLabels& before = last_[variant];
  LastLabels& after = next_labels_[variant];
  const std::size_t clusters = labelling.clusters;
  const std::size_t earlier = before.clusters;
  after = {};  // frees old memory before its replacement is allocated
  after = {{home_.memory, on, next_rows_}, {home_.memory, on, next_rows_}, clusters};
  if (next_rows_ > 0) {
    check(cudaMemcpyAsync(after.labels.data(), labelling.labels.data(), after.labels.bytes(), cudaMemcpyDeviceToDevice,
                          on));
    check(cudaMemcpyAsync(after.core.data(), labelling.core.data(), after.core.bytes(), cudaMemcpyDeviceToDevice, on));
  }
  // One array, so that it is copied at once: the counts, which begin with 0 (the number of pairs is the first), and
  // then the smallest rows and clusters so far, which begin with the largest number.
  const std::uint64_t zeros = 2 * clusters + earlier + 1;
  const DeviceBuffer<std::uint32_t> values(home_.memory, on, zeros + clusters + earlier);
  std::uint32_t* const begin = values.data();
  WindowTally tally{};
  tally.core = begin + 1;
  tally.borders = tally.core + clusters;
  tally.shared = tally.borders + clusters;
  tally.first_row = begin + zeros;
  tally.first = tally.first_row + clusters;

  const PinnedBytes buffer = home_.pinned.acquire(std::bit_ceil(values.bytes()));
  auto* const found = buffer.as<std::uint32_t>();

  std::uint64_t slots = std::max(kFewestSlots, std::bit_ceil(4 * (clusters + earlier)));
  while (true) {
    const DeviceBuffer<std::uint64_t> keys(home_.memory, on, slots);
    const DeviceBuffer<std::uint32_t> counts(home_.memory, on, slots);
    const StreamDrain drain(stream_);  // waits before the memory above is freed
    const PairTable table{keys.data(), counts.data(), begin, narrow<std::uint32_t>(slots, "slots of a hash table")};
    check(cudaMemsetAsync(begin, 0, zeros * sizeof(std::uint32_t), on));
    check(cudaMemsetAsync(begin + zeros, 0xFF, (clusters + earlier) * sizeof(std::uint32_t), on));
    check(cudaMemsetAsync(keys.data(), 0xFF, keys.bytes(), on));
    check(cudaMemsetAsync(counts.data(), 0, counts.bytes(), on));
    launch_tally_clusters(staying_, before.rows(), after.rows(), next_rows_, tally, on);
    launch_tally_pairs(staying_, before.rows(), after.rows(), tally, table, on);
    check(cudaMemcpyAsync(found, begin, values.bytes(), cudaMemcpyDeviceToHost, on));
    stream_.synchronize();
    const std::uint32_t pairs = found[0];
    if (pairs > slots / 2) {
      slots *= 4;
      continue;
    }
    const auto at = [&](const std::uint32_t* array) { return found + (array - begin); };
    SharedCoreCounter shared(earlier);
    for (std::size_t e = 0; e < earlier; ++e) {
      if (at(tally.shared)[e] > 0) shared.add(static_cast<std::uint32_t>(e), at(tally.first)[e], at(tally.shared)[e]);
    }
    if (pairs > 0) {
      const DeviceBuffer<std::uint64_t> pair_keys(home_.memory, on, pairs);
      const DeviceBuffer<std::uint32_t> pair_counts(home_.memory, on, pairs + std::uint64_t{1});
      check(cudaMemsetAsync(pair_counts.data() + pairs, 0, sizeof(std::uint32_t), on));
      launch_list_pairs(table, pair_keys.data(), pair_counts.data(), pair_counts.data() + pairs, on);
      const auto listed = read_values(pair_keys.data(), pairs, on, home_.pinned);
      const auto points = read_values(pair_counts.data(), pairs, on, home_.pinned);
      for (std::size_t i = 0; i < listed.size(); ++i) {
        shared.add(static_cast<std::uint32_t>(listed[i] >> 32), static_cast<std::uint32_t>(listed[i]), points[i]);
      }
    }
    CountedClusters counted{std::vector<ClusterCounts>(clusters), std::move(shared).take()};
    for (std::size_t k = 0; k < clusters; ++k) {
      counted.clusters[k] = {at(tally.first_row)[k], at(tally.core)[k], at(tally.borders)[k]};
    }
    return counted;
  }
}

CountedClusters GpuWindow::count(std::size_t variant, const DeviceLabelling& labelling, const HostLabelling& host) {
  (void)cudaGetLastError();
  const DeviceScope scope(home_.device);
  const std::size_t n = labelling.labels.size();
  if (host.labels.size() != n) host.labels = Labels(n, home_.labels);
  host.core.resize(n);
  const std::size_t first = std::min(n, kCoreAtOnce);
  const PinnedBytes core = home_.pinned.acquire(std::bit_ceil(first + 1));
  const Stream copies;
  const StreamDrain drain(copies);  // waits before the memory above may be freed
  const cudaStream_t on = copies.get();
  if (n > 0) {
    check(cudaMemcpyAsync(core.as<std::uint8_t>(), labelling.core.data(), first, cudaMemcpyDeviceToHost, on));
    check(cudaMemcpyAsync(host.labels.data(), labelling.labels.data(), n * sizeof(std::int32_t), cudaMemcpyDeviceToHost,
                          on));
  }
  CountedClusters counted = count(variant, labelling);
  copies.synchronize();
  std::copy_n(core.as<std::uint8_t>(), first, host.core.data());
  read_values(labelling.core.data() + first, n - first, host.core.data() + first, on, home_.pinned);
  return counted;
}

}  // namespace epsflow::gpu
