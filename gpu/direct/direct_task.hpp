// The arguments of the clusterings without a table: by dense-box cells, by points of a grid, and by tiles.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include <epsflow/core/cancel.hpp>
#include <epsflow/gpu/base/memory.hpp>
#include <epsflow/gpu/direct/device_clustering.hpp>
#include <epsflow/gpu/direct/device_weighing.hpp>
#include <epsflow/gpu/direct/tally.hpp>
#include <epsflow/gpu/grid/device_grid.hpp>

namespace epsflow::gpu {

/// The arguments of a direct clustering (one without a table) of one eps.
struct DirectTask {
  const DevicePoints& points;
  double eps;
  MinptsRange minpts;  ///< the range of the minpts to cluster
  DeviceMemory& memory;
  PinnedPool& pinned;
  const CancelToken& cancel;
  PhaseMarks* marks = nullptr;  ///< null, or gets a mark at the end of each phase, to measure times
  /// The memory for Clusters::core_since; null unless DirectOptions::clusters.
  std::shared_ptr<LabelMemory> core_since = nullptr;
  bool borders = true;                                  ///< true if border points are distinguished from noise
  std::shared_ptr<const WeightTask> weights = nullptr;  ///< null if neighbours are counted
  const SharedPoints* shared = nullptr;                 ///< null unless the points are a part

  /// Returns true if outer ghosts of a part must not be core. Their counts are then set to 0.
  [[nodiscard]] bool excludes_outer_ghosts() const noexcept { return shared != nullptr && !shared->outer_may_be_core; }
  /// Returns the points that get no labels: in a part the outer ghosts, else the ghosts of the points.
  [[nodiscard]] Ghosts ghosts() const noexcept {
    if (shared == nullptr) return points.ghosts();
    return {points.device().size - shared->outer_ghosts, shared->outer_ghosts};
  }
};

/// A Nodes::minpts with which no node is core because of its number of points: for points with weights, and for core
/// points that are given.
inline constexpr std::uint32_t kNeverBySize = 0xFFFFFFFFU;

/// Arrays of the union-find over nodes, and of its numbering.
struct NodeArrays {
  NodeArrays() = default;
  NodeArrays(const DirectTask& task, cudaStream_t stream, std::uint32_t nodes, std::uint32_t points)
      : parents(task.memory, stream, nodes),
        smallest(task.memory, stream, task.core_since != nullptr ? nodes : 0),
        numbers(task.memory, stream, nodes),
        sizes(task.memory, stream, nodes <= tuning::kCountedNodes ? nodes : 0),
        ids(task.memory, stream, rank_words(points)) {}

  [[nodiscard]] Numbering numbering() const {
    std::uint32_t* const least = smallest.size() > 0 ? smallest.data() : numbers.data();
    return {parents.data(), least, numbers.data(), sizes.data(), ids.data(), ids.size()};
  }
  /// Numbers the clusters. Waits if there are more than kCountedNodes nodes.
  void number(const Nodes& nodes, Scratch scratch) {
    launch_number_roots(nodes, numbering(), scratch);
    if (nodes.count > tuning::kCountedNodes) {
      sizes = {};
      const std::uint32_t clusters = read_values(&ids.data()[ids.size() - 1].rank, 1, scratch.stream).front();
      sizes = {scratch.memory, scratch.stream, clusters};
    }
    launch_number(nodes, numbering(), sizes.size(), scratch.stream);
  }

  DeviceBuffer<std::uint32_t> parents;
  DeviceBuffer<std::uint32_t> smallest;  ///< empty unless DirectOptions::clusters
  DeviceBuffer<std::uint32_t> numbers;
  DeviceBuffer<std::uint32_t> sizes;  ///< one for each node, or for each cluster if there are many nodes
  DeviceBuffer<RankWord> ids;
};

/// A tally on the device and its copy on the host.
class TallyPair {
 public:
  TallyPair(DeviceMemory& memory, PinnedPool& pinned, cudaStream_t stream)
      : device_(memory, stream, 1), host_(pinned.acquire(sizeof(Tally))) {}

  [[nodiscard]] Tally* device() const { return device_.data(); }
  void clear(cudaStream_t stream) const { check(cudaMemsetAsync(device_.data(), 0, sizeof(Tally), stream)); }
  /// Returns the copy on the host, valid until the next call. Waits for the stream.
  [[nodiscard]] const Tally& read(cudaStream_t stream) const {
    check(cudaMemcpyAsync(host_.as<Tally>(), device_.data(), sizeof(Tally), cudaMemcpyDeviceToHost, stream));
    check(cudaStreamSynchronize(stream));
    return *host_.as<Tally>();
  }

 private:
  DeviceBuffer<Tally> device_;
  PinnedBytes host_;
};

}  // namespace epsflow::gpu
