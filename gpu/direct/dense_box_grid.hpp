// The index of the clustering by cells in device memory: points sorted by dense-box cells (index/cell_axes.hpp).
#pragma once

#include <cstdint>
#include <vector>

#include <epsflow/core/cancel.hpp>
#include <epsflow/core/ghosts.hpp>
#include <epsflow/core/points.hpp>
#include <epsflow/gpu/base/memory.hpp>
#include <epsflow/gpu/base/stream.hpp>
#include <epsflow/gpu/base/tuning.hpp>
#include <epsflow/gpu/direct/phase_marks.hpp>
#include <epsflow/gpu/direct/rank_bitmap.hpp>
#include <epsflow/gpu/grid/device_grid.hpp>
#include <epsflow/index/cell_axes.hpp>

namespace epsflow::gpu {

/// The slots of neighbours differ by at most this much along each axis.
inline constexpr int kDenseBoxWindow = 2;
/// Cells of a row that may hold neighbours. They are consecutive along the last axis.
inline constexpr unsigned kRowCells = 2 * kDenseBoxWindow + 1;
/// Number of rows of neighbouring cells in three dimensions.
inline constexpr unsigned kMostRows = kRowCells * kRowCells;

/// A row of kRowCells cells around a cell. Its cells are consecutive along the last axis.
struct DenseBoxRow {
  std::int64_t offset;      ///< the key of the first cell of the row minus the key of the cell
  std::int8_t steps[2];     ///< steps along all axes except the last
  std::uint8_t lower_near;  ///< one bit for each cell that is before the cell and adjacent to it
  std::uint8_t lower_far;   ///< one bit for each cell that is before the cell and not adjacent
};

/// The limits that decide how cells are found by their keys. If there are few enough keys, a bitmap over all keys is
/// used. Otherwise a table has the first cell of each block of 2^k keys, and the cell is searched within the block. If
/// blocks would have too many keys, the cell is searched among all cells. All three ways find the same cells.
struct LookupLimits {
  std::uint64_t keys_per_point = tuning::kMostKeysPerPoint;         ///< largest number of keys for the bitmap
  std::uint64_t blocks_per_point = tuning::kMostKeyBlocksPerPoint;  ///< less than 2^32; 0: no table
};

/// The index in the form that kernels use.
struct DenseBoxView {
  const void* points = nullptr;                 ///< [n × dims] float or double, by position, row-major
  const std::uint32_t* order = nullptr;         ///< [n] input id of each position, ascending within a cell
  const std::uint32_t* cell_of = nullptr;       ///< [n] cell of each position
  const std::uint32_t* starts = nullptr;        ///< [cells + 1] first position of each cell
  const std::uint32_t* low_keys = nullptr;      ///< [cells] lower halves of the ascending keys
  const std::uint32_t* high_keys = nullptr;     ///< [cells] upper halves of the keys, or null if none exceeds 1
  const std::uint32_t* first_high = nullptr;    ///< the first cell whose upper half is 1, or null if keys have 32 bits
  const RankWord* words = nullptr;              ///< bitmap of the keys in use, or null
  const std::uint32_t* block_starts = nullptr;  ///< [blocks + 1] first cell in or after each block of keys, or null
  std::uint32_t block_bits = 0;                 ///< a block has 2^block_bits keys
  std::uint32_t size = 0;
  Ghosts ghosts;
  std::uint32_t cells = 0;
  std::uint32_t dims = 1;
  Precision precision = Precision::float64;
  double eps_squared = 0;
  index::AxisView axes[index::kMostDenseBoxDims];
  std::uint64_t strides[index::kMostDenseBoxDims];
  SlicesView slices;
  std::uint64_t slice_stride = 0;
  std::uint32_t row_count = 1;
  DenseBoxRow rows[kMostRows];  ///< nearest first
};

/// The arrays to which the keys of cells are written: DenseBoxView::low_keys, high_keys and first_high.
struct KeyHalves {
  std::uint32_t* low;
  std::uint32_t* high;
  std::uint32_t* first_high;
};

/// Owner of the index. Its kernels run on its stream.
class DenseBoxGrid {
 public:
  /// axes: must form dense boxes. O(n) and a radix sort. See finish(). Throws DeviceOutOfMemory, Cancelled.
  DenseBoxGrid(const DevicePoints& points, double eps, const index::CellAxes& axes, DeviceMemory& memory,
               PinnedPool& pinned, const CancelToken& cancel, PhaseMarks* marks = nullptr, LookupLimits limits = {});

  [[nodiscard]] const Stream& stream() const noexcept { return stream_; }
  /// Returns the index. Its member `cells` is valid only after finish(); kernels with one thread for each point do not
  /// need it.
  [[nodiscard]] const DenseBoxView& view() const noexcept { return view_; }
  /// Replaces the ghosts of the points by others.
  void set_ghosts(const Ghosts& ghosts) noexcept { view_.ghosts = ghosts; }
  /// Waits until the number of cells is computed. Does not wait for work that was put on the stream after the
  /// constructor.
  void finish();

 private:
  template <class Key>
  void sort_points(const PointsOnDevice& points, const KeyMaker& maker, std::uint64_t key_count, LookupLimits limits,
                   PhaseMarks* marks);
  template <class Key>
  [[nodiscard]] KeyHalves make_cell_keys(std::uint64_t key_count, std::uint64_t cells);
  template <class Key>
  void make_blocks(const Key* keys, std::uint64_t key_count, LookupLimits limits);

  DeviceMemory& memory_;
  Stream stream_;
  DenseBoxView view_;
  PinnedBytes cell_count_;
  Event counted_;
  std::vector<DeviceBuffer<index::AxisStretch>> stretches_;
  DeviceBuffer<std::byte> points_;
  DeviceBuffer<std::uint32_t> order_;
  DeviceBuffer<std::uint32_t> cell_of_;
  DeviceBuffer<std::uint32_t> starts_;
  DeviceBuffer<std::uint32_t> low_keys_;
  DeviceBuffer<std::uint32_t> high_keys_;
  DeviceBuffer<std::uint32_t> first_high_;
  DeviceBuffer<RankWord> words_;
  DeviceBuffer<std::uint32_t> block_starts_;
  StreamDrain drain_{stream_};  // waits before the memory above is freed
};

/// Writes points_out[i] = the point order[i], and in `words`, unless it is null, one bit for each key in use.
template <class Key>
void launch_gather_dense_boxes(PointsOnDevice points, const std::uint32_t* order, const Key* keys, void* points_out,
                               RankWord* words, cudaStream_t stream);

/// Writes the cell of each position, and the first position [cells + 1] and the key of each cell, from the ranks of
/// keys in `words`.
template <class Key>
void launch_dense_box_cells(const Key* keys, const RankWord* words, std::uint32_t size, std::uint32_t* cell_of,
                            std::uint32_t* starts, KeyHalves cell_keys, cudaStream_t stream);

/// Writes the first position [cells + 1] and the key of each cell, from cell_of.
template <class Key>
void launch_dense_box_starts(const Key* keys, const std::uint32_t* cell_of, std::uint32_t size, std::uint32_t* starts,
                             KeyHalves cell_keys, cudaStream_t stream);

/// Writes block_starts[b] = the first cell whose key >> block_bits is at least b, or the number of cells. [blocks + 1]
template <class Key>
void launch_key_blocks(const Key* keys, const std::uint32_t* cell_of, std::uint32_t size, std::uint32_t block_bits,
                       std::uint32_t* block_starts, std::uint64_t blocks, Scratch scratch);

}  // namespace epsflow::gpu
