#include <epsflow/gpu/direct/device_cluster_sets.hpp>

#include <utility>

namespace epsflow::gpu {

Clusters DeviceClusterSets::take(const LabelledLevel& level, std::uint32_t clusters, bool last, cudaStream_t stream) {
  if (core_since_.size() == 0) {
    core_since_ = {memory_, stream, level.size};
    check(cudaMemsetAsync(core_since_.data(), 0xFF, core_since_.bytes(), stream));
  }
  require_countable(all_before_ + clusters);
  launch_core_since(level, static_cast<std::uint32_t>(all_before_), core_since_.data(), stream);

  // The arrays are adjacent, so that one copy brings them to the host.
  const std::uint64_t count = clusters;
  const std::uint64_t columns = borders_ ? 3 : 2;
  const DeviceBuffer<std::uint32_t> found(memory_, stream, columns * count + before_);
  DeviceBuffer<std::uint32_t> roots(memory_, stream, count);
  if (count > 0) {
    std::uint32_t* const core = borders_ ? found.data() + 2 * count : nullptr;
    if (core != nullptr) check(cudaMemsetAsync(core, 0, count * sizeof(std::uint32_t), stream));
    launch_list_clusters(level, {found.data(), core, found.data() + count, roots.data()}, stream);
  }
  if (before_ > 0) {
    launch_join_clusters(level.numbering, roots_.data(), before_, found.data() + columns * count, stream);
  }
  const PinnedBytes on_host = pinned_.acquire(found.bytes());
  check(cudaMemcpyAsync(on_host.as<std::uint32_t>(), found.data(), found.bytes(), cudaMemcpyDeviceToHost, stream));
  Clusters result;
  DeviceBuffer<std::int32_t> by_id;
  if (last) {
    by_id = {memory_, stream, level.labelled};
    launch_core_since_by_id(level, core_since_.data(), by_id.data(), stream);
    result.core_since = Labels(level.labelled, labels_);
    check(cudaMemcpyAsync(result.core_since.data(), by_id.data(), by_id.bytes(), cudaMemcpyDeviceToHost, stream));
  }
  check(cudaStreamSynchronize(stream));
  const std::uint32_t* at = on_host.as<std::uint32_t>();
  const auto next = [&at](std::uint64_t size) {
    std::vector<std::uint32_t> values(at, at + size);
    at += size;
    return values;
  };
  result.first_core = next(count);
  std::vector<std::uint32_t> sizes = next(count);
  result.core = borders_ ? next(count) : std::exchange(sizes, {});
  result.size = std::move(sizes);
  result.joined = next(before_);
  roots_ = std::move(roots);
  before_ = clusters;
  all_before_ += clusters;
  return result;
}

}  // namespace epsflow::gpu
