// What both kinds of direct clustering are made from.
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

struct DirectTask {
  const DevicePoints& points;
  double eps;
  MinptsRange minpts;  ///< of all variants to come
  DeviceMemory& memory;
  PinnedPool& pinned;
  const CancelToken& cancel;
  PhaseMarks* marks = nullptr;
  /// Where clusters are asked for as objects, the memory for their births; else null.
  std::shared_ptr<LabelMemory> births = nullptr;
  bool borders = true;                                  ///< whether border points are told from noise
  std::shared_ptr<const WeightTask> weights = nullptr;  ///< null: neighbours are counted
  const SharedPoints* shared = nullptr;                 ///< null, or the points are a part

  /// Whether ghosts of a part are made no core points once they are counted.
  [[nodiscard]] bool denies_ghosts() const noexcept { return shared != nullptr && !shared->unlabelled_core; }
  /// Points without labels; a part has them from other parts.
  [[nodiscard]] Ghosts ghosts() const noexcept {
    if (shared == nullptr) return points.ghosts();
    return {points.device().size - shared->unlabelled, shared->unlabelled};
  }
};

/// In place of minpts, for nodes of points with weights: none is core by the number of its points.
inline constexpr std::uint32_t kNeverBySize = 0xFFFFFFFFU;

/// Arrays of the union-find over so many nodes and of its numbering.
struct NodeArrays {
  NodeArrays() = default;
  NodeArrays(const DirectTask& task, cudaStream_t stream, std::uint32_t nodes, std::uint32_t points)
      : parents(task.memory, stream, nodes),
        smallest(task.memory, stream, task.births != nullptr ? nodes : 0),
        numbers(task.memory, stream, nodes),
        sizes(task.memory, stream, nodes <= tuning::kCountedNodes ? nodes : 0),
        ids(task.memory, stream, rank_words(points)) {}

  [[nodiscard]] Numbering numbering() const {
    std::uint32_t* const least = smallest.size() > 0 ? smallest.data() : numbers.data();
    return {parents.data(), least, numbers.data(), sizes.data(), ids.data(), ids.size()};
  }
  /// Numbers the clusters. Waits where there are many nodes.
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
  DeviceBuffer<std::uint32_t> smallest;  ///< where lineage is asked for
  DeviceBuffer<std::uint32_t> numbers;
  DeviceBuffer<std::uint32_t> sizes;  ///< of as many clusters as there are nodes, or are in fact where these are many
  DeviceBuffer<RankWord> ids;
};

/// A tally on the device and its copy on the host.
class TallyPair {
 public:
  TallyPair(DeviceMemory& memory, PinnedPool& pinned, cudaStream_t stream)
      : device_(memory, stream, 1), host_(pinned.acquire(sizeof(Tally))) {}

  [[nodiscard]] Tally* device() const { return device_.data(); }
  void clear(cudaStream_t stream) const { check(cudaMemsetAsync(device_.data(), 0, sizeof(Tally), stream)); }
  /// Waits for the stream.
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
