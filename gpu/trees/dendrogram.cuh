// A dendrogram on the device, and the launches over it.
#pragma once

#include <cuda_runtime.h>

#include <thrust/iterator/counting_iterator.h>
#include <cstdint>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>
#include <cuda/std/iterator>
#include <utility>

#include <epsflow/gpu/base/error.hpp>
#include <epsflow/gpu/base/tuning.hpp>
#include <epsflow/gpu/base/with_scratch.hpp>
#include <epsflow/gpu/trees/device_dendrogram.hpp>
#include <epsflow/gpu/trees/tree_threads.cuh>

namespace epsflow::gpu {

/// The input. [device]
struct SortedTree {
  std::uint32_t size = 0;                ///< number of points
  const Edge* edges = nullptr;           ///< [size − 1] with positions
  const std::uint32_t* order = nullptr;  ///< [size] ids
};

/// Arrays of all points of all levels.
struct LevelPoints {
  std::uint32_t* lowest;  ///< the lowest edge of a point; kNoNode on the last level
  std::uint32_t* within;  ///< the number of the contracted point on the next level
};

/// The dendrogram. Its elements are the edges, in the order of chains, and lowest first in each.
struct Dendrogram {
  SortedTree tree;
  std::uint32_t edges;  ///< number of edges
  LevelPoints points;
  const std::uint32_t* chains;      ///< [edges] the chain of each element
  const std::uint32_t* edge_of;     ///< [edges] the number of the edge of each element
  const std::uint32_t* element_of;  ///< [edges] the inverse
};

__device__ inline double height_of(const Dendrogram& all, std::uint32_t element) {
  return all.tree.edges[all.edge_of[element]].height;
}
/// Returns true if an element is the highest of its chain.
__device__ inline bool ends_chain(const Dendrogram& all, std::uint32_t element) {
  return element + 1 == all.edges || all.chains[element + 1] != all.chains[element];
}
/// Returns the parent of an element, kNoNode for the root.
__device__ inline std::uint32_t parent_of(const Dendrogram& all, std::uint32_t element) {
  if (!ends_chain(all, element)) return element + 1;
  const std::uint32_t edge = all.points.lowest[all.chains[element]];
  return edge == kNoNode ? kNoNode : all.element_of[edge];
}

struct SameChain {
  __device__ bool operator()(std::uint32_t a, std::uint32_t b) const { return a == b; }
};

/// Launches kernels of trees, and makes their memory. The stream and the memory in `scratch` must outlive the object
/// and its buffers.
struct TreeLaunches {
  Scratch scratch;

  [[nodiscard]] cudaStream_t stream() const noexcept { return scratch.stream; }
  template <class T>
  [[nodiscard]] DeviceBuffer<T> buffer(std::uint64_t size) const {
    return DeviceBuffer<T>(scratch.memory, stream(), size);
  }
  template <class T>
  [[nodiscard]] DeviceBuffer<T> zeros(std::uint64_t size) const {
    DeviceBuffer<T> values = buffer<T>(size);
    check(cudaMemsetAsync(values.data(), 0, values.bytes(), stream()));
    return values;
  }
  /// Launches one thread for each of `count` items.
  template <class Kernel, class... Arguments>
  void each(Kernel kernel, std::uint64_t count, Arguments... arguments) const {
    if (count == 0) return;
    kernel<<<tree_blocks(count), tuning::kTreeThreads, 0, stream()>>>(arguments...);
    check_launch(stream());
  }
  template <class F>
  void cub(F&& call) const {
    with_scratch(scratch, call);
  }
  /// Returns the numbers of the marked items, in ascending order, and how many there are. Waits.
  [[nodiscard]] std::pair<DeviceBuffer<std::uint32_t>, std::uint32_t> marked(const char* marks,
                                                                             std::uint64_t count) const {
    auto numbers = buffer<std::uint32_t>(count);
    const auto found = buffer<std::uint32_t>(1);
    cub([&](void* temporary, std::size_t& bytes) {
      return cub::DeviceSelect::Flagged(temporary, bytes, thrust::counting_iterator<std::uint32_t>(0), marks,
                                        numbers.data(), found.data(), static_cast<std::int64_t>(count), stream());
    });
    const std::uint32_t size = read_values(found.data(), 1, stream()).front();
    return {std::move(numbers), size};
  }
  /// Sorts values by keys of `bits` bits, keeping the order of equal keys.
  template <class Key>
  void sort(DeviceBuffer<Key>& keys, DeviceBuffer<std::uint32_t>& values, std::uint64_t count, int bits) const {
    if (count == 0) return;
    auto other_keys = buffer<Key>(count);
    auto other_values = buffer<std::uint32_t>(count);
    TwoBuffers<Key> sorted_keys{keys.data(), other_keys.data()};
    TwoBuffers<std::uint32_t> sorted{values.data(), other_values.data()};
    launch_sort(sorted_keys, sorted, count, bits, scratch);
    if (sorted_keys.current != keys.data()) std::swap(keys, other_keys);
    if (sorted.current != values.data()) std::swap(values, other_values);
  }
};

/// Launches kernels over a dendrogram.
struct DendrogramRun : TreeLaunches {
  const DeviceDendrogram& of;

  explicit DendrogramRun(const DeviceDendrogram& dendrogram) : TreeLaunches{dendrogram.scratch_}, of(dendrogram) {}

  [[nodiscard]] Dendrogram view() const {
    return {{of.size_, of.edges_of_tree_, of.order_},
            of.edges_,
            {of.lowest_.data(), of.within_.data()},
            of.chains_.data(),
            of.edge_of_.data(),
            of.element_of_.data()};
  }

  /// Calls f(first, last) for each level that has elements, from low levels to high ones. The elements of the level are
  /// those from first to last − 1. The first level has none.
  template <class F>
  void upwards(F f) const {
    for (std::size_t level = 1; level < of.firsts_.size(); ++level) {
      if (of.starts_[level] < of.starts_[level + 1]) f(of.starts_[level], of.starts_[level + 1]);
    }
  }
  /// Passes values from parents to their elements, from high levels to low ones. On each level, the kernel `take` first
  /// sets the highest element of each chain, whose parent is on a higher level. Then a scan goes down the chains: it
  /// sets each other element to last_known(value of the parent, own value).
  template <class T, class Last>
  void downwards(T* values, Last last_known, void (*take)(Dendrogram, std::uint32_t, std::uint32_t, T*)) const {
    for (std::size_t level = of.firsts_.size(); level-- > 1;) {
      const std::uint32_t first = of.starts_[level], last = of.starts_[level + 1];
      if (first == last) continue;
      each(take, last - first, view(), first, last, values);
      const auto keys = ::cuda::std::make_reverse_iterator(of.chains_.data() + last);
      const auto reversed = ::cuda::std::make_reverse_iterator(values + last);
      cub([&](void* temporary, std::size_t& bytes) {
        return cub::DeviceScan::InclusiveScanByKey(temporary, bytes, keys, reversed, reversed, last_known, last - first,
                                                   SameChain{}, stream());
      });
    }
  }
};

}  // namespace epsflow::gpu
