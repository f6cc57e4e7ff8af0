#include <cuda_runtime.h>

#include <bit>
#include <cub/device/device_scan.cuh>
#include <utility>

#include <epsflow/core/block_sum.hpp>
#include <epsflow/gpu/trees/dendrogram.cuh>

// The clusters of a condensed tree are found as in trees/condensed_tree.cpp. Values that pass from the root down to the
// points take the way of dendrogram.cuh.

namespace epsflow::gpu {
namespace {

__global__ void count_up_kernel(std::uint32_t* values, std::uint32_t count) {
  const std::uint64_t i = tree_thread();
  if (i < count) values[i] = static_cast<std::uint32_t>(i);
}
__global__ void pick_kernel(const double* from, const std::uint32_t* order, std::uint32_t count, double* to) {
  const std::uint64_t i = tree_thread();
  if (i < count) to[i] = from[order[i]];
}
/// Writes the first element of each number of an ascending array without gaps, and the size.
__global__ void cluster_starts_kernel(const std::uint32_t* numbers, std::uint32_t count, std::uint32_t* starts) {
  const std::uint64_t i = tree_thread();
  if (i >= count) return;
  if (i == 0 || numbers[i] != numbers[i - 1]) starts[numbers[i]] = static_cast<std::uint32_t>(i);
  if (i + 1 == count) starts[numbers[i] + 1] = count;
}

/// The cluster of an element, and the element of the smallest node with enough points that it is part of. If either is
/// kNoNode, it is the parent's.
struct Membership {
  std::uint32_t cluster;
  std::uint32_t node;
};
struct InheritMembership {
  __device__ Membership operator()(const Membership& before, const Membership& own) const {
    return {own.cluster != kNoNode ? own.cluster : before.cluster, own.node != kNoNode ? own.node : before.node};
  }
};

/// Returns the node that the node of an element joins, kNoNode for the root. Nodes are named by their elements.
__device__ std::uint32_t parent_node(const Dendrogram& all, const std::uint32_t* tops, std::uint32_t node) {
  const std::uint32_t parent = parent_of(all, node);
  return parent == kNoNode ? kNoNode : tops[parent];
}

/// The nodes with enough points.
struct LargeNodes {
  const std::uint32_t* tops;
  const PointsBelow* below;
  std::uint32_t least;

  __device__ bool has(std::uint32_t element) const { return tops[element] == element && below[element].size >= least; }
};

__global__ void count_large_kernel(Dendrogram all, LargeNodes large, std::uint32_t* children) {
  const std::uint64_t i = tree_thread();
  if (i >= all.edges || !large.has(static_cast<std::uint32_t>(i))) return;
  const std::uint32_t parent = parent_node(all, large.tops, static_cast<std::uint32_t>(i));
  if (parent != kNoNode) atomicAdd(children + parent, 1U);
}
/// Marks the nodes at which clusters begin.
__global__ void mark_begins_kernel(Dendrogram all, LargeNodes large, const std::uint32_t* children, char* begins) {
  const std::uint64_t i = tree_thread();
  if (i >= all.edges) return;
  begins[i] = 0;
  if (!large.has(static_cast<std::uint32_t>(i))) return;
  const std::uint32_t parent = parent_node(all, large.tops, static_cast<std::uint32_t>(i));
  begins[i] = parent == kNoNode || children[parent] > 1;
}
/// Counts the points that leave at each large node: all that are not in its only large child.
__global__ void count_leaving_kernel(Dendrogram all, LargeNodes large, const std::uint32_t* children,
                                     std::uint32_t* leaving) {
  const std::uint64_t i = tree_thread();
  if (i >= all.edges || !large.has(static_cast<std::uint32_t>(i))) return;
  atomicAdd(leaving + i, large.below[i].size);
  const std::uint32_t parent = parent_node(all, large.tops, static_cast<std::uint32_t>(i));
  if (parent != kNoNode && children[parent] == 1) atomicSub(leaving + parent, large.below[i].size);
}
__global__ void first_ids_kernel(const PointsBelow* below, const std::uint32_t* begins, std::uint32_t count,
                                 std::uint32_t* first_ids) {
  const std::uint64_t i = tree_thread();
  if (i < count) first_ids[i] = below[begins[i]].first_id;
}
/// Returns the bits of a number that is not negative; they have the order of such numbers.
__device__ unsigned long long bits_of_eps(double eps) {
  return static_cast<unsigned long long>(__double_as_longlong(eps));
}
__device__ double birth_of(const Dendrogram& all, std::uint32_t begin) {
  const std::uint32_t parent = parent_of(all, begin);
  return parent == kNoNode ? __builtin_huge_val() : height_of(all, parent);
}
__global__ void birth_keys_kernel(Dendrogram all, const std::uint32_t* begins, std::uint32_t count,
                                  std::uint64_t* keys) {
  const std::uint64_t i = tree_thread();
  if (i < count) keys[i] = ~bits_of_eps(birth_of(all, begins[i]));
}
__global__ void start_memberships_kernel(LargeNodes large, std::uint32_t edges, Membership* memberships) {
  const std::uint64_t i = tree_thread();
  if (i < edges) memberships[i] = {kNoNode, large.below[i].size >= large.least ? large.tops[i] : kNoNode};
}
__global__ void number_clusters_kernel(const std::uint32_t* begins, std::uint32_t count, Membership* memberships) {
  const std::uint64_t i = tree_thread();
  if (i < count) memberships[begins[i]].cluster = static_cast<std::uint32_t>(i);
}
__global__ void inherit_memberships_kernel(Dendrogram all, std::uint32_t first, std::uint32_t last,
                                           Membership* memberships) {
  const std::uint64_t i = first + tree_thread();
  if (i >= last) return;
  const auto element = static_cast<std::uint32_t>(i);
  if (!ends_chain(all, element)) return;
  const std::uint32_t parent = parent_of(all, element);
  if (parent != kNoNode) memberships[i] = InheritMembership{}(memberships[parent], memberships[i]);
}
__global__ void write_clusters_kernel(Dendrogram all, const PointsBelow* below, const Membership* memberships,
                                      const std::uint32_t* begins, std::uint32_t count, CondensedCluster* clusters) {
  const std::uint64_t i = tree_thread();
  if (i >= count) return;
  const std::uint32_t begin = begins[i], parent = parent_of(all, begin);
  clusters[i] = {parent == kNoNode ? kNoNode : memberships[parent].cluster,
                 birth_of(all, begin),
                 __builtin_huge_val(),
                 below[begin].size,
                 below[begin].first_id,
                 0};
}
/// Marks large nodes by their edges, so that they can be listed in ascending order of eps.
__global__ void mark_large_kernel(Dendrogram all, LargeNodes large, char* is_large) {
  const std::uint64_t edge = tree_thread();
  if (edge < all.edges) is_large[edge] = large.has(all.element_of[edge]);
}
/// Finds the cluster of each large node, and the node's share of its stability. Lowers the cluster's death.
__global__ void stabilities_kernel(Dendrogram all, const Membership* memberships, const std::uint32_t* leaving,
                                   const std::uint32_t* nodes, std::uint32_t count, CondensedCluster* clusters,
                                   std::uint32_t* cluster_of, double* adds) {
  const std::uint64_t i = tree_thread();
  if (i >= count) return;
  const std::uint32_t element = all.element_of[nodes[i]];
  CondensedCluster& cluster = clusters[memberships[element].cluster];
  const double eps = all.tree.edges[nodes[i]].height;
  atomicMin(reinterpret_cast<unsigned long long*>(&cluster.death), bits_of_eps(eps));
  const double since = density_at(cluster.birth);
  cluster_of[i] = memberships[element].cluster;
  adds[i] = 0;
  if (since < __builtin_huge_val()) {
    adds[i] = __dmul_rn(__dsub_rn(density_at(eps), since), static_cast<double>(leaving[element]));
  }
}
/// Adds up blocks of the values of each cluster, as BlockSum does. starts, sums_from: the first value and sum of each.
__global__ void add_blocks_kernel(const double* values, const std::uint32_t* starts, const std::uint32_t* sums_from,
                                  std::uint32_t clusters, std::uint32_t count, double* sums) {
  const std::uint64_t i = tree_thread();
  if (i >= count) return;
  std::uint32_t lo = 0, hi = clusters;  // sums_from[lo] <= i < sums_from[hi]
  while (hi - lo > 1) {
    const std::uint32_t middle = lo + (hi - lo) / 2;
    (sums_from[middle] <= i ? lo : hi) = middle;
  }
  const std::uint64_t first = starts[lo] + (i - sums_from[lo]) * BlockSum::kBlock;
  double sum = 0;
  for (std::uint64_t at = first; at < min(first + BlockSum::kBlock, std::uint64_t{starts[lo + 1]}); ++at) {
    sum = __dadd_rn(sum, values[at]);
  }
  sums[i] = sum;
}
__global__ void count_blocks_kernel(const std::uint32_t* starts, std::uint32_t clusters, std::uint32_t* counts) {
  const std::uint64_t i = tree_thread();
  if (i < clusters) counts[i] = (starts[i + 1] - starts[i] + BlockSum::kBlock - 1) / BlockSum::kBlock;
}
__global__ void write_stabilities_kernel(const double* sums, std::uint32_t count, CondensedCluster* clusters) {
  const std::uint64_t i = tree_thread();
  if (i < count) clusters[i].stability = sums[i];
}
__global__ void write_leaves_kernel(Dendrogram all, const Membership* memberships, std::uint32_t* cluster_of,
                                    double* leaves_at) {
  const std::uint64_t p = tree_thread();
  if (p >= all.tree.size) return;
  const std::uint32_t id = all.tree.order[p];
  const Membership membership = memberships[all.element_of[all.points.lowest[p]]];
  cluster_of[id] = membership.cluster;
  leaves_at[id] = height_of(all, membership.node);
}
__global__ void label_kernel(const SelectedCluster* of_clusters, const std::uint32_t* cluster_of,
                             const double* leaves_at, std::uint32_t count, std::int32_t* labels,
                             double* probabilities) {
  const std::uint64_t p = tree_thread();
  if (p >= count) return;
  const SelectedCluster& cluster = of_clusters[cluster_of[p]];
  labels[p] = cluster.label(leaves_at[p]);
  probabilities[p] = cluster.probability(leaves_at[p]);
}

}  // namespace

/// The steps that make a condensed tree.
struct DeviceDendrogram::Condensing : DendrogramRun {
  using DendrogramRun::DendrogramRun;

  /// Returns the nodes at which clusters begin, in the order of the clusters.
  [[nodiscard]] std::pair<DeviceBuffer<std::uint32_t>, std::uint32_t> find_begins(const LargeNodes& large,
                                                                                  const std::uint32_t* children) const {
    const auto marks = buffer<char>(of.edges_);
    each(mark_begins_kernel, of.edges_, view(), large, children, marks.data());
    auto [begins, count] = marked(marks.data(), of.edges_);
    auto first_ids = buffer<std::uint32_t>(count);
    each(first_ids_kernel, count, of.below_.data(), begins.data(), count, first_ids.data());
    sort(first_ids, begins, count, 32);
    auto births = buffer<std::uint64_t>(count);
    each(birth_keys_kernel, count, view(), begins.data(), count, births.data());
    sort(births, begins, count, 64);
    return {std::move(begins), count};
  }

  /// Adds up the stabilities, and finds the deaths.
  void measure(const LargeNodes& large, const std::uint32_t* children, const Membership* memberships,
               CondensedCluster* clusters, std::uint32_t count) const {
    const auto leaving = zeros<std::uint32_t>(of.edges_);
    each(count_leaving_kernel, of.edges_, view(), large, children, leaving.data());
    const auto marks = buffer<char>(of.edges_);
    each(mark_large_kernel, of.edges_, view(), large, marks.data());
    const auto [nodes, large_count] = marked(marks.data(), of.edges_);
    auto cluster_of = buffer<std::uint32_t>(large_count), order = buffer<std::uint32_t>(large_count);
    auto adds = buffer<double>(large_count);
    each(stabilities_kernel, large_count, view(), memberships, leaving.data(), nodes.data(), large_count, clusters,
         cluster_of.data(), adds.data());
    each(count_up_kernel, large_count, order.data(), large_count);
    sort(cluster_of, order, large_count, std::bit_width(count));
    auto values = buffer<double>(large_count);
    each(pick_kernel, large_count, adds.data(), order.data(), large_count, values.data());
    // The first value of each cluster. Each has at least one.
    auto starts = buffer<std::uint32_t>(count + 1);
    each(cluster_starts_kernel, large_count, cluster_of.data(), large_count, starts.data());
    std::uint32_t left = large_count;
    do {
      auto sums_from = zeros<std::uint32_t>(count + 1);
      each(count_blocks_kernel, count, starts.data(), count, sums_from.data());
      cub([&](void* temporary, std::size_t& bytes) {
        return cub::DeviceScan::ExclusiveSum(temporary, bytes, sums_from.data(), sums_from.data(),
                                             static_cast<std::int64_t>(count) + 1, stream());
      });
      left = read_values(sums_from.data() + count, 1, stream()).front();
      auto sums = buffer<double>(left);
      each(add_blocks_kernel, left, values.data(), starts.data(), sums_from.data(), count, left, sums.data());
      std::swap(values, sums);
      std::swap(starts, sums_from);
    } while (left > count);
    each(write_stabilities_kernel, count, values.data(), count, clusters);
  }
};

DeviceCondensed DeviceDendrogram::condense(std::uint64_t min_cluster_size) const {
  const Condensing run(*this);
  const Dendrogram all = run.view();
  const LargeNodes large{tops_.data(), below_.data(), static_cast<std::uint32_t>(min_cluster_size)};
  const auto children = run.zeros<std::uint32_t>(edges_);
  run.each(count_large_kernel, edges_, all, large, children.data());
  const auto [begins, count] = run.find_begins(large, children.data());

  const auto memberships = run.buffer<Membership>(edges_);
  run.each(start_memberships_kernel, edges_, large, edges_, memberships.data());
  run.each(number_clusters_kernel, count, begins.data(), count, memberships.data());
  run.downwards(memberships.data(), InheritMembership{}, inherit_memberships_kernel);

  const auto clusters = run.buffer<CondensedCluster>(count);
  run.each(write_clusters_kernel, count, all, below_.data(), memberships.data(), begins.data(), count, clusters.data());
  run.measure(large, children.data(), memberships.data(), clusters.data(), count);
  DeviceCondensed found{{}, run.buffer<std::uint32_t>(size_), run.buffer<double>(size_)};
  run.each(write_leaves_kernel, size_, all, memberships.data(), found.cluster_of.data(), found.leaves_at.data());
  found.clusters = read_values(clusters.data(), count, scratch_.stream);
  return found;
}

void launch_label(const DeviceCondensed& condensed, const SelectedCluster* of_clusters, std::int32_t* labels,
                  double* probabilities, cudaStream_t stream) {
  const auto size = static_cast<std::uint32_t>(condensed.cluster_of.size());
  label_kernel<<<tree_blocks(size), tuning::kTreeThreads, 0, stream>>>(
      of_clusters, condensed.cluster_of.data(), condensed.leaves_at.data(), size, labels, probabilities);
  check_launch(stream);
}

}  // namespace epsflow::gpu
