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

/// The clusterings of one eps. The arrays of a LabelTarget are in device memory. unite() puts its work on stream() and
/// may return before it is done; label() waits. Both also throw DeviceOutOfMemory.
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
  /// Returns nothing unless the clustering uses dense-box cells.
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
  /// parts. Constructors call it last.
  void find_shared(const DirectTask& task, const DeviceShared::FindPositions& find);
  [[nodiscard]] const DeviceShared* shared() const noexcept { return shared_ ? &*shared_ : nullptr; }

 private:
  /// [device] the count of each position; needed only if the points are a part.
  [[nodiscard]] virtual std::uint32_t* counts() const { return nullptr; }
  virtual void unite_level(std::uint32_t minpts) = 0;
  virtual LabelSummary label_level(const LabelTarget& target) = 0;
  /// Returns the numbering of the last level, after all undecided pairs of its sets are decided.
  virtual Numbering settled_numbering() = 0;
  /// Returns the last level, after it is labelled.
  [[nodiscard]] virtual LabelledLevel labelled_level() const = 0;

  DeviceMemory* memory_ = nullptr;         ///< null if there are no points
  PinnedPool* pinned_ = nullptr;           ///< null if there are no points
  std::optional<DeviceClusterSets> sets_;  ///< set if clusters are requested
  std::optional<DeviceShared> shared_;     ///< set if the points are a part
  std::uint32_t least_ = 0;                ///< the smallest minpts
  std::uint32_t minpts_ = 0;               ///< minpts of the last level
};

/// Builds the index of one eps, and counts neighbours up to the largest minpts, or sums weights. Uses dense-box cells
/// if the data permit it, else clusters point by point. All that `task` refers to must outlive the result; the GPU must
/// be the current one. Memory: about 40 bytes for each point, without points and labels, and 24 more with weights.
/// grid: a grid of these points, made for this eps; may be null. With a grid, dense-box cells are not tried. Throws
/// DeviceOutOfMemory, Cancelled.
[[nodiscard]] std::unique_ptr<DeviceClustering> make_device_clustering(
    const DirectTask& task, std::shared_ptr<const DeviceGrid> grid = nullptr);

}  // namespace epsflow::gpu
