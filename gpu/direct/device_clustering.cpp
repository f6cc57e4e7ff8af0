#include <epsflow/gpu/direct/device_clustering.hpp>

#include <utility>

#include <epsflow/gpu/base/device.hpp>
#include <epsflow/gpu/base/nvtx.hpp>
#include <epsflow/gpu/direct/dense_box_clustering.hpp>
#include <epsflow/gpu/direct/point_clustering.hpp>
#include <epsflow/index/cell_axes.hpp>

namespace epsflow::gpu {
namespace {

/// Clusters an empty data set.
class NoClustering final : public DeviceClustering {
 public:
  explicit NoClustering(bool borders) : borders_(borders) {}
  [[nodiscard]] const Stream& stream() const override { return stream_; }

 private:
  void unite_level(std::uint32_t) override {}
  LabelSummary label_level(const LabelTarget&) override { return {.borders_told = borders_}; }
  Numbering final_numbering() override { return {}; }
  [[nodiscard]] LabelledLevel labelled_level() const override { return {}; }

  bool borders_;
  Stream stream_;
};

}  // namespace

DeviceClustering::DeviceClustering(const DirectTask& task)
    : memory_(&task.memory), pinned_(&task.pinned), least_(task.minpts.least) {
  if (task.core_since != nullptr) sets_.emplace(task.memory, task.pinned, task.core_since, task.borders);
}

UnitedPart& DeviceClustering::unite(std::uint32_t minpts) {
  const DeviceScope scope(stream().device());
  const StageRange range(Stage::cluster_directly);
  unite_level(minpts);
  minpts_ = minpts;
  return *this;
}

std::vector<LevelResult> DeviceClustering::label(std::span<const LabelTarget> targets) {
  const DeviceScope scope(stream().device());
  const StageRange range(Stage::cluster_directly);
  LevelResult result{.summary = label_level(targets.front())};
  if (sets_) {
    const auto clusters = static_cast<std::uint32_t>(result.summary.clusters);
    result.clusters = sets_->take(labelled_level(), clusters, minpts_ == least_, stream().get());
  }
  std::vector<LevelResult> results;
  results.push_back(std::move(result));
  return results;
}

void DeviceClustering::find_shared(const DirectTask& task, const DeviceShared::FindPositions& find) {
  if (task.shared == nullptr) return;
  shared_.emplace(*task.shared, task.points.device().size, find, task.memory, stream().get());
  if (task.excludes_outer_ghosts()) shared_->exclude_outer_ghosts(counts(), stream().get());
}

std::vector<std::uint32_t> DeviceClustering::shared_clusters() {
  if (!shared_) return {};
  const DeviceScope scope(stream().device());
  (void)final_numbering();
  return shared_->clusters(labelled_level(), stream().get());
}

/// shared_clusters() has decided all undecided pairs of the sets, so no number changes after this.
std::vector<LevelResult> DeviceClustering::label(std::span<const LabelTarget> targets,
                                                 std::span<const ClusterNumbers> numbers) {
  const DeviceScope scope(stream().device());
  if (shared_) shared_->renumber(labelled_level(), numbers.front(), stream().get());
  std::vector<LevelResult> results = label(targets);
  const std::uint32_t count = shared_ ? numbers.front().count : 0;
  if (count > 0)
    results.front().clusters.size = read_values(labelled_level().numbering.sizes, count, stream().get(), *pinned_);
  return results;
}

std::vector<std::uint32_t> DeviceClustering::first_cores() {
  const DeviceScope scope(stream().device());
  const Numbering numbering = final_numbering();
  if (numbering.id_words == 0) return {};
  const cudaStream_t on = stream().get();
  const std::uint32_t clusters = read_values(&numbering.ids[numbering.id_words - 1].rank, 1, on).front();
  const DeviceBuffer<std::uint32_t> first(*memory_, on, clusters);
  launch_first_cores(numbering, first.data(), on);
  return read_values(first.data(), clusters, on, *pinned_);
}

std::unique_ptr<DeviceClustering> make_device_clustering(const DirectTask& task,
                                                         std::shared_ptr<const DeviceGrid> grid) {
  const DevicePoints& points = task.points;
  const PointsOnDevice device = points.device();
  if (device.size == 0) return std::make_unique<NoClustering>(task.borders);
  if (grid == nullptr && device.dims <= index::kMostDenseBoxDims) {
    const index::CellAxes axes = index::choose_axes(points.host_for(task.eps), task.eps, Cells::dense_box, task.cancel,
                                                    points.extents(), points.space());
    if (axes.dense_boxes) return std::make_unique<DenseBoxClustering>(task, axes);
  }
  if (grid == nullptr) {
    grid = std::make_shared<const DeviceGrid>(points, task.eps, task.memory, task.pinned, task.cancel);
  }
  return std::make_unique<PointClustering>(task, std::move(grid));
}

}  // namespace epsflow::gpu
