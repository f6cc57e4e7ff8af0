// DBSCAN on the device without a neighbour table. Points and labels are in device memory.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <epsflow/core/cancel.hpp>
#include <epsflow/core/phases.hpp>
#include <epsflow/gpu/base/memory.hpp>
#include <epsflow/gpu/base/stream.hpp>
#include <epsflow/gpu/direct/device_cluster_sets.hpp>
#include <epsflow/gpu/direct/device_shared.hpp>
#include <epsflow/gpu/direct/phase_marks.hpp>
#include <epsflow/gpu/direct/tally.hpp>
#include <epsflow/gpu/grid/device_grid.hpp>

namespace epsflow::gpu {

struct DirectTask;

/// The clusterings of one eps, for several minpts. The arrays of a LabelTarget are in device memory. unite() puts its
/// work on stream() and may return before the work is done; label() waits for it. The ResourceError of both is a
/// DeviceError, or a DeviceOutOfMemory if the memory of the device does not suffice.
class DeviceClustering : public CountedPart, protected UnitedPart {
 public:
  [[nodiscard]] UnitedPart& unite(std::uint32_t minpts) final;
  [[nodiscard]] virtual const Stream& stream() const = 0;

 protected:
  DeviceClustering() = default;
  explicit DeviceClustering(const DirectTask& task);

  [[nodiscard]] std::vector<std::uint32_t> first_cores() final;
  [[nodiscard]] std::vector<LevelResult> label(std::span<const LabelTarget> targets) final;
  [[nodiscard]] std::vector<std::uint32_t> shared_clusters() final;
  [[nodiscard]] std::vector<LevelResult> label(std::span<const LabelTarget> targets,
                                               std::span<const ClusterNumbers> numbers) final;
  /// Returns nullopt. Only DenseBoxClustering, which overrides it, finds ties.
  [[nodiscard]] std::optional<std::vector<BorderTie>> border_ties(std::span<const std::uint8_t>,
                                                                  std::uint32_t) override {
    return std::nullopt;
  }
  /// Frees memory that is used on stream(). Destructors must call it before the stream is destroyed.
  void release() noexcept {
    sets_.reset();
    shared_.reset();
  }
  /// If the points are one part of a divided data set (DirectTask::shared), finds the points that they share with other
  /// parts, and sets the counts of outer ghosts to 0 if these must not be core. Constructors call it last.
  void find_shared(const DirectTask& task, const DeviceShared::FindPositions& find);
  [[nodiscard]] const DeviceShared* shared() const noexcept { return shared_ ? &*shared_ : nullptr; }

 private:
  /// Returns [device] the counts of neighbours by position. Derived classes that can cluster a part override it.
  [[nodiscard]] virtual std::uint32_t* counts() const { return nullptr; }
  virtual void unite_level(std::uint32_t minpts) = 0;
  virtual LabelSummary label_level(const LabelTarget& target) = 0;
  /// Returns the final numbering of the level united last. unite_level() may leave pairs of cells undecided; this
  /// function decides them first, and numbers the clusters again if there were any.
  virtual Numbering final_numbering() = 0;
  /// Returns the level united last. Its numbers are final after final_numbering() or label_level().
  [[nodiscard]] virtual LabelledLevel labelled_level() const = 0;

  DeviceMemory* memory_ = nullptr;         ///< null if there are no points
  PinnedPool* pinned_ = nullptr;           ///< null if there are no points
  std::optional<DeviceClusterSets> sets_;  ///< set if clusters are requested
  std::optional<DeviceShared> shared_;     ///< set if the points are a part
  std::uint32_t least_ = 0;                ///< the smallest minpts
  std::uint32_t minpts_ = 0;               ///< minpts of the level united last
};

/// Builds the index of one eps, and counts neighbours up to the largest minpts, or sums weights. Uses dense-box cells
/// in up to three dimensions if the data permit it; otherwise clusters point by point. Everything that `task` refers to
/// must outlive the result; the GPU must be the current one. Memory: about 40 bytes for each point, in addition to
/// points and labels, and 24 more with weights. grid: null, or an existing grid of these points for this eps. If a grid
/// is given, the points are clustered point by point on it. Throws DeviceError, DeviceOutOfMemory, Cancelled.
[[nodiscard]] std::unique_ptr<DeviceClustering> make_device_clustering(
    const DirectTask& task, std::shared_ptr<const DeviceGrid> grid = nullptr);

}  // namespace epsflow::gpu
