// The index of the clustering by cells, in device memory: points sorted by cells that are cliques (index/cell_axes.hpp).
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

/// Slots of neighbours differ by at most this on every axis.
inline constexpr int kCliqueWindow = 2;
/// Cells of a row that hold neighbours: they follow each other along the last axis.
inline constexpr unsigned kRowCells = 2 * kCliqueWindow + 1;
/// Rows of neighbouring cells in three dimensions.
inline constexpr unsigned kMostRows = kRowCells * kRowCells;

/// A row of neighbouring cells, seen from a cell.
struct CliqueRow {
  std::int64_t offset;      ///< from the cell's key to that of the row's first cell
  std::int8_t steps[2];     ///< along all axes but the last
  std::uint8_t lower_near;  ///< of its cells, a bit each: those before the cell and adjacent to it
  std::uint8_t lower_far;   ///< those before the cell and not adjacent
};

/// How cells are found by their keys: by a bitmap over all keys where there are few enough; else by a table of where
/// blocks of 2^k keys begin among the cells, and a search within the block; and by a search among all cells where
/// blocks would have too many keys. The cells found are the same.
struct LookupLimits {
  std::uint64_t keys_per_point = tuning::kMostKeysPerPoint;         ///< of the bitmap
  std::uint64_t blocks_per_point = tuning::kMostKeyBlocksPerPoint;  ///< 0: no table; below 2^32
};

/// The index as kernels see it.
struct CliqueView {
  const void* points = nullptr;               ///< [n × dims] float or double, by position, row-major
  const std::uint32_t* order = nullptr;       ///< [n] input id of each position, ascending within a cell
  const std::uint32_t* cell_of = nullptr;     ///< [n] cell of each position
  const std::uint32_t* starts = nullptr;      ///< [cells + 1] first position of each cell
  const std::uint32_t* low_keys = nullptr;    ///< [cells] keys, ascending: their lower halves
  const std::uint32_t* high_keys = nullptr;   ///< [cells] upper halves, or null where none is above 1
  const std::uint32_t* first_high = nullptr;  ///< the first cell whose upper half is 1, or null where keys need 32 bits
  const RankWord* words = nullptr;            ///< bitmap of the keys in use, or null
  const std::uint32_t* block_starts = nullptr;  ///< [blocks + 1] first cell in or behind each block of keys, or null
  std::uint32_t block_bits = 0;                 ///< a block has 2^block_bits keys
  std::uint32_t size = 0;
  Ghosts ghosts;
  std::uint32_t cells = 0;
  std::uint32_t dims = 1;
  Precision precision = Precision::float64;
  double eps_squared = 0;
  index::AxisView axes[index::kMostCliqueDims];
  std::uint64_t strides[index::kMostCliqueDims];
  SlicesView slices;
  std::uint64_t slice_stride = 0;
  std::uint32_t row_count = 1;
  CliqueRow rows[kMostRows];  ///< the nearest first
};

/// Where the keys of cells go, as the view has them.
struct KeyHalves {
  std::uint32_t* low;
  std::uint32_t* high;
  std::uint32_t* first_high;
};

/// Owner of the index. Its kernels run on its stream.
class CliqueGrid {
 public:
  /// `axes`: with cliques. O(n) and a radix sort. Number of cells: see finish(). Throws DeviceOutOfMemory, Cancelled.
  CliqueGrid(const DevicePoints& points, double eps, const index::CellAxes& axes, DeviceMemory& memory,
             PinnedPool& pinned, const CancelToken& cancel, PhaseMarks* marks = nullptr, LookupLimits limits = {});

  [[nodiscard]] const Stream& stream() const noexcept { return stream_; }
  /// view().cells is valid after finish(); kernels that give each point a thread do without.
  [[nodiscard]] const CliqueView& view() const noexcept { return view_; }
  /// Other ghosts than those of the points.
  void set_ghosts(const Ghosts& ghosts) noexcept { view_.ghosts = ghosts; }
  /// Waits for the number of cells, and not for what was put on the stream after the constructor.
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
  CliqueView view_;
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
  StreamDrain drain_{stream_};  // before the memory above goes
};

/// points_out[i]: the point order[i]; with `words`, a bit for every key in use.
template <class Key>
void launch_gather_cliques(PointsOnDevice points, const std::uint32_t* order, const Key* keys, void* points_out,
                           RankWord* words, cudaStream_t stream);

/// Cell of each position, first position and key of each cell, from the ranks of the keys. starts: [cells + 1]
template <class Key>
void launch_clique_cells(const Key* keys, const RankWord* words, std::uint32_t size, std::uint32_t* cell_of,
                         std::uint32_t* starts, KeyHalves cell_keys, cudaStream_t stream);

/// First position and key of each cell, from the cells. starts: [cells + 1]
template <class Key>
void launch_clique_starts(const Key* keys, const std::uint32_t* cell_of, std::uint32_t size, std::uint32_t* starts,
                          KeyHalves cell_keys, cudaStream_t stream);

/// block_starts[b]: the first cell whose key >> block_bits is b or more; their number where there is none. [blocks + 1]
template <class Key>
void launch_key_blocks(const Key* keys, const std::uint32_t* cell_of, std::uint32_t size, std::uint32_t block_bits,
                       std::uint32_t* block_starts, std::uint64_t blocks, Scratch scratch);

}  // namespace epsflow::gpu
