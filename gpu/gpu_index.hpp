// The index of one eps on the GPU, and its products.
#pragma once

#include <memory>
#include <mutex>
#include <span>

#include <epsflow/core/backend.hpp>
#include <epsflow/gpu/base/gpu_resources.hpp>
#include <epsflow/gpu/direct/label_stores.hpp>
#include <epsflow/gpu/grid/device_grid.hpp>
#include <epsflow/gpu/tiles/device_tile_order.hpp>
#include <epsflow/gpu/tiles/tile_search.hpp>

namespace epsflow::gpu {

/// The source of candidates and their test. If `index` is automatic, a sample of the points decides it. If `decide` is
/// automatic, the coordinates of all points do, or a sample of the pairs if these leave it open.
struct SearchChoice {
  IndexChoice index = IndexChoice::grid;
  DecideChoice decide = DecideChoice::scalar;

  /// True for a search point by point on a grid, false for one tile by tile.
  [[nodiscard]] bool by_cells() const noexcept { return index == IndexChoice::grid && decide == DecideChoice::scalar; }
};
struct DirectTask;

/// Returns the source and the test for points in a plain space (Space::plain()) without slices, as far as the options
/// and the numbers of points and dimensions decide. The rest stays automatic. Pure.
[[nodiscard]] SearchChoice choose_search(IndexChoice index, DecideChoice decide, std::uint64_t points,
                                         std::size_t dims) noexcept;

/// Holds a grid or tiles. It holds neither if the search is not by tiles, and dense-box cells are requested and
/// possible, in which any two points are neighbours (IndexFigures::dense_boxes): then the clustering without a table
/// sorts the points itself, and table() makes a grid.
class GpuIndex final : public Index {
 public:
  /// The GPU must be the current one; the points must outlive the index. Returns after the GPU has built the index.
  /// Throws UsageError if the options request another index than a grid or another test than scalar, although the space
  /// is not plain or has slices; DeviceError, Cancelled.
  GpuIndex(const DevicePoints& points, const IndexOptions& options, const GpuResources& resources, LabelHomes labels);

  [[nodiscard]] IndexFigures figures() const override;
  [[nodiscard]] std::uint64_t bytes() const override;
  [[nodiscard]] std::unique_ptr<TableSearch> table(const TableOptions& options) const override;
  [[nodiscard]] std::uint64_t direct_bytes(const DirectOptions& options) const override;
  [[nodiscard]] std::unique_ptr<Counted> count(const DirectOptions& options) const override;
  [[nodiscard]] std::unique_ptr<CountedPart> count_part(const DirectOptions& options) const override;
  [[nodiscard]] std::unique_ptr<LabelStore> label_store(const DirectOptions& options) const override;

 private:
  void try_dense_boxes();
  [[nodiscard]] DirectTask task_of(const DirectOptions& options) const;
  [[nodiscard]] std::shared_ptr<const DeviceGrid> make_grid() const;
  [[nodiscard]] std::unique_ptr<TileSearch> make_tile_search() const;
  [[nodiscard]] std::unique_ptr<TileSearch> take_tile_search() const;

  const DevicePoints& points_;
  double eps_;
  SearchChoice choice_;
  GpuResources resources_;
  LabelHomes labels_;
  bool dense_boxes_ = false;
  std::shared_ptr<const DevicePoints>
      imaged_;  ///< with images, if these make dense-box cells possible in a periodic box
  std::shared_ptr<const DeviceGrid> grid_;
  std::shared_ptr<const DeviceTileOrder> tiles_;
  mutable std::mutex mutex_;
  mutable std::unique_ptr<TileSearch> prepared_;  ///< made to choose the test; its first user takes or frees it
};

}  // namespace epsflow::gpu
