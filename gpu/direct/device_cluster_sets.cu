#include <epsflow/gpu/base/error.hpp>
#include <epsflow/gpu/base/tuning.hpp>
#include <epsflow/gpu/direct/device_cluster_sets.hpp>
#include <epsflow/gpu/direct/tally.cuh>

namespace epsflow::gpu {
namespace {

__device__ bool is_core(const Nodes& nodes, std::uint32_t node, std::uint32_t position) {
  if (nodes.starts != nullptr && __ldg(nodes.starts + node + 1) - __ldg(nodes.starts + node) >= nodes.minpts) {
    return true;
  }
  return bit_of(nodes.core, position);
}

/// Writes the facts of each cluster from the thread of its root.
__global__ void __launch_bounds__(tuning::kDirectThreads) list_kernel(LabelledLevel level, ClusterArrays clusters) {
  const std::uint64_t x = direct_thread();
  if (x >= level.nodes.count || level.numbering.parents[x] != x) return;
  const std::uint32_t k = level.numbering.numbers[x] & kNumberMask;
  clusters.first_core[k] = level.numbering.smallest[x];
  clusters.size[k] = level.numbering.sizes[k];
  clusters.root[k] = static_cast<std::uint32_t>(x);
}

__global__ void __launch_bounds__(tuning::kDirectThreads) count_core_kernel(LabelledLevel level, std::uint32_t* core) {
  const std::uint64_t p = direct_thread();
  std::uint32_t number = kNoNumber;
  // If every point gets a label, the order need not be read.
  if (p < level.size && (level.labelled == level.size || level.nodes.order[p] < level.labelled)) {
    const auto position = static_cast<std::uint32_t>(p);
    const std::uint32_t node = level.node_of != nullptr ? level.node_of[p] : position;
    number = level.numbering.numbers[node] & kNumberMask;
    if (number != kNoNumber && !is_core(level.nodes, node, position)) number = kNoNumber;
  }
  add_by_block(core, number != kNoNumber, number, 1);
}

__global__ void join_clusters_kernel(Numbering numbering, const std::uint32_t* roots, std::uint32_t count,
                                     std::uint32_t* joined) {
  const std::uint64_t k = direct_thread();
  if (k < count) joined[k] = numbering.numbers[roots[k]] & kNumberMask;
}

__global__ void __launch_bounds__(tuning::kDirectThreads)
    core_since_kernel(LabelledLevel level, std::uint32_t offset, std::int32_t* core_since) {
  const std::uint64_t p = direct_thread();
  if (p >= level.size || core_since[p] != Clusters::kNeverCore) return;
  const auto position = static_cast<std::uint32_t>(p);
  const std::uint32_t node = level.node_of != nullptr ? level.node_of[p] : position;
  const std::uint32_t number = level.numbering.numbers[node] & kNumberMask;
  if (number != kNoNumber && is_core(level.nodes, node, position)) {
    core_since[p] = static_cast<std::int32_t>(offset + number);
  }
}

__global__ void core_since_by_id_kernel(LabelledLevel level, const std::int32_t* core_since, std::int32_t* by_id) {
  const std::uint64_t p = direct_thread();
  if (p < level.size && level.nodes.order[p] < level.labelled) by_id[level.nodes.order[p]] = core_since[p];
}

}  // namespace

void launch_list_clusters(const LabelledLevel& level, const ClusterArrays& clusters, cudaStream_t stream) {
  list_kernel<<<direct_blocks(level.nodes.count), tuning::kDirectThreads, 0, stream>>>(level, clusters);
  check_launch(stream);
  if (clusters.core == nullptr) return;
  count_core_kernel<<<direct_blocks(level.size), tuning::kDirectThreads, 0, stream>>>(level, clusters.core);
  check_launch(stream);
}

void launch_join_clusters(const Numbering& numbering, const std::uint32_t* roots, std::uint32_t count,
                          std::uint32_t* joined, cudaStream_t stream) {
  join_clusters_kernel<<<direct_blocks(count), tuning::kDirectThreads, 0, stream>>>(numbering, roots, count, joined);
  check_launch(stream);
}

void launch_core_since(const LabelledLevel& level, std::uint32_t offset, std::int32_t* core_since,
                       cudaStream_t stream) {
  core_since_kernel<<<direct_blocks(level.size), tuning::kDirectThreads, 0, stream>>>(level, offset, core_since);
  check_launch(stream);
}

void launch_core_since_by_id(const LabelledLevel& level, const std::int32_t* core_since, std::int32_t* by_id,
                             cudaStream_t stream) {
  core_since_by_id_kernel<<<direct_blocks(level.size), tuning::kDirectThreads, 0, stream>>>(level, core_since, by_id);
  check_launch(stream);
}

}  // namespace epsflow::gpu
