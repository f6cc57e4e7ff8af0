#include <epsflow/gpu/direct/device_clustering.hpp>

#include <utility>

#include <epsflow/gpu/direct/clique_clustering.hpp>
#include <epsflow/gpu/direct/point_clustering.hpp>
#include <epsflow/index/cell_axes.hpp>

namespace epsflow::gpu {
namespace {

/// Of no points.
class NoClustering final : public DeviceClustering {
 public:
  LabelSummary cluster(std::uint32_t, std::int32_t*, std::uint8_t*) override { return {}; }
  [[nodiscard]] const Stream& stream() const override { return stream_; }

 private:
  Stream stream_;
};

}  // namespace

std::unique_ptr<DeviceClustering> make_device_clustering(const DirectTask& task,
                                                         std::shared_ptr<const DeviceGrid> grid) {
  const DevicePoints& points = task.points;
  const PointsOnDevice device = points.device();
  if (device.size == 0) return std::make_unique<NoClustering>();
  if (grid == nullptr && device.dims <= index::kMostCliqueDims) {
    const index::CellAxes axes = index::choose_axes(points.host_for(task.eps), task.eps, Cells::clique, task.cancel,
                                                    points.extents(), points.space());
    if (axes.cliques) return std::make_unique<CliqueClustering>(task, axes);
  }
  if (grid == nullptr) {
    grid = std::make_shared<const DeviceGrid>(points, task.eps, task.memory, task.pinned, task.cancel);
  }
  return std::make_unique<PointClustering>(task, std::move(grid));
}

}  // namespace epsflow::gpu
