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

// An axis is cut into slots (index::CellAxis). A cell is a box of one slot of each axis; its key is a number made from
// these slots and the slice. A position is the index of a point in the order of cells.

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
  std::uint8_t lower_near;  ///< bit k is set if cell k of the row has a smaller key and is adjacent
  std::uint8_t lower_far;   ///< bit k is set if cell k of the row has a smaller key and is not adjacent
};

/// The limits that decide how cells are found by their keys. If there are few enough possible keys, a bitmap over all
/// of them is used. Otherwise a table has the first cell of each block of 2^k keys, and the cell is searched within the
/// block. If blocks would have too many keys, the cell is searched among all cells. All three ways find the same cells.
struct LookupLimits {
  std::uint64_t keys_per_point = tuning::kMostKeysPerPoint;         ///< most keys per point for a bitmap; 0: none
  std::uint64_t blocks_per_point = tuning::kMostKeyBlocksPerPoint;  ///< most blocks per point, below 2^32; 0: none
};

/// The index in the form that kernels use. Its pointers are to device memory, of the DenseBoxGrid or, in `ghosts` and
/// `slices`, of the DevicePoints. Cells are numbered by ascending keys; each has at least one point.
struct DenseBoxView {
  const void* points = nullptr;             ///< [n × dims] float or double, by position, row-major
  const std::uint32_t* order = nullptr;     ///< [n] input id of each position, ascending within a cell
  const std::uint32_t* cell_of = nullptr;   ///< [n] cell of each position
  const std::uint32_t* starts = nullptr;    ///< [cells + 1] first position of each cell
  const std::uint32_t* low_keys = nullptr;  ///< [cells] lower halves of the ascending keys
  /// [cells] upper halves of the keys; null if no possible key has an upper half above 1
  const std::uint32_t* high_keys = nullptr;
  /// [1] the first cell whose key has the upper half 1, all ones if there is none; null if keys have 32 bits or
  /// high_keys is set
  const std::uint32_t* first_high = nullptr;
  const RankWord* words = nullptr;              ///< bitmap of the keys in use; null if there are too many keys
  const std::uint32_t* block_starts = nullptr;  ///< [blocks + 1] first cell in or after each block of keys, or null
  std::uint32_t block_bits = 0;                 ///< a block has 2^block_bits keys
  std::uint32_t size = 0;                       ///< n, the number of points, ghosts included
  Ghosts ghosts;
  std::uint32_t cells = 0;  ///< 0 until it is known, see DenseBoxGrid::finish()
  std::uint32_t dims = 1;
  Precision precision = Precision::float64;
  double eps_squared = 0;
  index::AxisView axes[index::kMostDenseBoxDims];   ///< [dims]
  std::uint64_t strides[index::kMostDenseBoxDims];  ///< [dims] the number that one slot of each axis adds to a key
  SlicesView slices;
  std::uint64_t slice_stride = 0;  ///< the number that one slice adds to a key
  std::uint32_t row_count = 1;     ///< kRowCells^(dims − 1)
  DenseBoxRow rows[kMostRows];     ///< [row_count] nearest first, so the cell's own row is rows[0]
};

/// The arrays to which the keys of cells are written: DenseBoxView::low_keys, high_keys and first_high, null under the
/// same conditions. All bits of *first_high must be set before.
struct KeyHalves {
  std::uint32_t* low;
  std::uint32_t* high;
  std::uint32_t* first_high;
};

/// Owner of the index. Its kernels run on its stream.
class DenseBoxGrid {
 public:
  /// points: at least one, on the current GPU. axes: of these points and this eps, with CellAxes::dense_boxes. points,
  /// memory and pinned must outlive the object. marks: null, or the object that gets the ends of the phases. O(n) and a
  /// radix sort. May return before the work on the stream is done. Throws DeviceOutOfMemory, DeviceError, Cancelled.
  DenseBoxGrid(const DevicePoints& points, double eps, const index::CellAxes& axes, DeviceMemory& memory,
               PinnedPool& pinned, const CancelToken& cancel, PhaseMarks* marks = nullptr, LookupLimits limits = {});

  [[nodiscard]] const Stream& stream() const noexcept { return stream_; }
  /// Returns the index. Its member `cells` is valid only after finish(); kernels with one thread for each point do not
  /// need it.
  [[nodiscard]] const DenseBoxView& view() const noexcept { return view_; }
  /// Replaces the ghosts of the points by others.
  void set_ghosts(const Ghosts& ghosts) noexcept { view_.ghosts = ghosts; }
  /// Waits until the number of cells is computed, and sets it in view(). Does not wait for work that was put on the
  /// stream after the constructor.
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

// The steps of the constructor. Arrays are in device memory. keys: [n] ascending, the key of each position. Key:
// std::uint32_t or std::uint64_t. None waits.

/// Writes points_out[i] = the point order[i]. words: null without a bitmap; otherwise [rank_words(possible keys)],
/// which must be zero before: the bits of keys in use are set.
template <class Key>
void launch_gather_dense_boxes(PointsOnDevice points, const std::uint32_t* order, const Key* keys, void* points_out,
                               RankWord* words, cudaStream_t stream);

/// Writes the cell of each position, and the first position [cells + 1] and the key of each cell, by the bitmap.
/// words: with ranks (launch_rank()).
template <class Key>
void launch_dense_box_cells(const Key* keys, const RankWord* words, std::uint32_t size, std::uint32_t* cell_of,
                            std::uint32_t* starts, KeyHalves cell_keys, cudaStream_t stream);

/// Does the same without a bitmap. cell_of: [n] the cell of each position, as launch_cell_numbers() writes it.
template <class Key>
void launch_dense_box_starts(const Key* keys, const std::uint32_t* cell_of, std::uint32_t size, std::uint32_t* starts,
                             KeyHalves cell_keys, cudaStream_t stream);

/// Writes block_starts[b] = the first cell whose key >> block_bits is at least b, or the number of cells. [blocks + 1]
/// cell_of: [n]. blocks: more than any key >> block_bits.
template <class Key>
void launch_key_blocks(const Key* keys, const std::uint32_t* cell_of, std::uint32_t size, std::uint32_t block_bits,
                       std::uint32_t* block_starts, std::uint64_t blocks, Scratch scratch);

}  // namespace epsflow::gpu
