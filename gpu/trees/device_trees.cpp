#include <epsflow/gpu/trees/device_trees.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include <epsflow/gpu/base/retained_block.hpp>
#include <epsflow/gpu/trees/device_boruvka.hpp>
#include <epsflow/gpu/trees/device_dendrogram.hpp>

namespace epsflow::gpu {
namespace {

class GpuTree final : public HeldTree {
 public:
  /// The tree of the last DeviceBoruvka::run().
  GpuTree(const DeviceBoruvka& boruvka, std::uint32_t minpts, bool as_eps, const GpuResources& gpu,
          std::shared_ptr<DeviceMemory> memory, const Stream& stream)
      : order_(boruvka.order()),
        minpts_(minpts),
        as_eps_(as_eps),
        gpu_(gpu),
        shared_memory_(std::move(memory)),
        stream_(stream.get()),
        tree_(boruvka.sorted()) {
    if (as_eps) launch_sums_to_eps(tree_.edges.data(), tree_.core.data(), size(), stream_);
  }

  /// Makes what needs most memory.
  void prepare() {
    gpu_.cancel.check();
    if (as_eps_ && size() > 1) dendrogram_.emplace(tree_, order_, Scratch{gpu_.memory, stream_});
  }

  SpanningTree spanning_tree() override {
    SpanningTree found{minpts_, Buffer<double>(size()), Buffer<Edge>(size() - 1)};
    read(tree_.core, size(), found.core);
    const DeviceBuffer<Edge> edges(gpu_.memory, stream_, size() - 1);
    launch_name_by_id(tree_.edges.data(), order_, size() - 1, edges.data(), stream_);
    read(edges, size() - 1, found.edges);
    return found;
  }

  TreeNodes nodes() override {
    TreeNodes found{{}, Buffer<std::uint32_t>(size())};
    if (size() == 1) {
      found.parents[0] = kNoNode;
      return found;
    }
    const DeviceNodes nodes = dendrogram_->nodes();
    found.nodes = Buffer<TreeNode>(nodes.count);
    read(nodes.nodes, nodes.count, found.nodes);
    read(nodes.parents, size(), found.parents);
    return found;
  }

  SelectedClusters select(std::uint64_t min_cluster_size, const SelectClusters& select, MemorySpace labels) override {
    const DeviceCondensed condensed = dendrogram_->condense(min_cluster_size);
    gpu_.cancel.check();
    ChosenClusters chosen = select(condensed.clusters);
    SelectedClusters found{.nodes = std::move(chosen.nodes), .persistence = std::move(chosen.persistence)};
    const auto of_clusters = copy_of(std::span<const SelectedCluster>(chosen.of_clusters), gpu_.memory, stream_);
    if (labels == MemorySpace::device) {
      const std::uint64_t probability_bytes = aligned(size() * sizeof(double));
      const auto block =
          std::make_shared<RetainedBlock>(shared_memory_, probability_bytes + size() * sizeof(std::int32_t));
      auto* const probabilities = reinterpret_cast<double*>(block->data());
      auto* const numbers = reinterpret_cast<std::int32_t*>(block->data() + probability_bytes);
      launch_label(condensed, of_clusters.data(), numbers, probabilities, stream_);
      check(cudaStreamSynchronize(stream_));
      found.device_labels = {block, numbers, size(), gpu_.device};
      found.device_probabilities = {block, probabilities, size(), gpu_.device};
      return found;
    }
    const DeviceBuffer<std::int32_t> numbers(gpu_.memory, stream_, size());
    const DeviceBuffer<double> probabilities(gpu_.memory, stream_, size());
    launch_label(condensed, of_clusters.data(), numbers.data(), probabilities.data(), stream_);
    found.labels = Buffer<std::int32_t>(size());
    found.probabilities = Buffer<double>(size());
    read(numbers, size(), found.labels);
    read(probabilities, size(), found.probabilities);
    return found;
  }

  CondensedParts condense(std::uint64_t min_cluster_size) override {
    DeviceCondensed condensed = dendrogram_->condense(min_cluster_size);
    CondensedParts found{std::move(condensed.clusters), Buffer<std::uint32_t>(size()), Buffer<double>(size())};
    read(condensed.cluster_of, size(), found.cluster_of);
    read(condensed.leaves_at, size(), found.leaves_at);
    return found;
  }

 private:
  [[nodiscard]] static std::uint64_t aligned(std::uint64_t bytes) noexcept { return (bytes + 255) / 256 * 256; }
  [[nodiscard]] std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(tree_.core.size()); }
  template <class T>
  void read(const DeviceBuffer<T>& from, std::uint64_t count, Buffer<T>& to) const {
    gpu_.cancel.check();
    read_values(from.data(), count, to.data(), stream_, gpu_.pinned);
  }

  const std::uint32_t* order_;
  std::uint32_t minpts_;
  bool as_eps_;
  const GpuResources& gpu_;
  std::shared_ptr<DeviceMemory> shared_memory_;
  cudaStream_t stream_;
  DeviceTree tree_;
  std::optional<DeviceDendrogram> dendrogram_;
};

}  // namespace

bool make_trees(const DevicePoints& points, std::span<const std::uint32_t> minpts, bool as_eps, const GpuResources& gpu,
                const std::shared_ptr<DeviceMemory>& memory, const std::function<void(HeldTree&)>& take) {
  if (minpts.empty()) return true;
  gpu.cancel.check();
  const Stream stream;
  const StreamDrain drain(stream);  // waits for what reads the points
  bool taken = false;
  try {
    auto boruvka = DeviceBoruvka::of(points, *std::max_element(minpts.begin(), minpts.end()), gpu, stream);
    if (!boruvka) return false;
    for (const std::uint32_t m : minpts) {
      boruvka->run(m);
      GpuTree tree(*boruvka, m, as_eps, gpu, memory, stream);
      tree.prepare();
      taken = true;
      take(tree);
    }
  } catch (const DeviceOutOfMemory&) {
    if (taken) throw;
    return false;
  }
  return true;
}

}  // namespace epsflow::gpu
