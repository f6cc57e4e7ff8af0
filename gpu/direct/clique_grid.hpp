// The index of the clustering by cells, in device memory: points sorted by cells that are cliques (index/cell_axes.hpp).
#pragma once

#include <cstdint>
#include <vector>

#include <epsflow/core/cancel.hpp>
#include <epsflow/core/points.hpp>
#include <epsflow/gpu/device_grid.hpp>
#include <epsflow/gpu/direct/phase_marks.hpp>
#include <epsflow/gpu/direct/rank_bitmap.hpp>
#include <epsflow/gpu/memory.hpp>
#include <epsflow/gpu/stream.hpp>
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

/// The index as kernels see it.
struct CliqueView {
  const void* points = nullptr;                ///< [n × dims] float or double, by position, row-major
  const std::uint32_t* order = nullptr;        ///< [n] input id of each position, ascending within a cell
  const std::uint32_t* cell_of = nullptr;      ///< [n] cell of each position
  const std::uint32_t* starts = nullptr;       ///< [cells + 1] first position of each cell
  const std::uint32_t* narrow_keys = nullptr;  ///< [cells] ascending, or null where keys need 64 bits
  const std::uint64_t* wide_keys = nullptr;    ///< [cells] or null
  const RankWord* words = nullptr;             ///< bitmap of the keys in use, or null where there are too many keys
  std::uint32_t size = 0;
  std::uint32_t cells = 0;
  std::uint32_t dims = 1;
  Precision precision = Precision::float64;
  double eps_squared = 0;
  index::AxisView axes[index::kMostCliqueDims];
  std::uint64_t strides[index::kMostCliqueDims];
  std::uint32_t row_count = 1;
  CliqueRow rows[kMostRows];  ///< the nearest first
};

/// Owner of the index. Its kernels run on its stream.
class CliqueGrid {
 public:
  /// `axes`: with cliques. O(n) and a radix sort. Number of cells: see finish(). Throws DeviceOutOfMemory, Cancelled.
  CliqueGrid(const DevicePoints& points, double eps, const index::CellAxes& axes, DeviceMemory& memory,
             PinnedPool& pinned, const CancelToken& cancel, PhaseMarks* marks = nullptr);

  [[nodiscard]] const Stream& stream() const noexcept { return stream_; }
  /// view().cells is valid after finish(); kernels that give each point a thread do without.
  [[nodiscard]] const CliqueView& view() const noexcept { return view_; }
  /// Waits for the number of cells, and not for what was put on the stream after the constructor.
  void finish();

 private:
  template <class Key>
  void sort_points(const PointsOnDevice& points, const KeyMaker& maker, std::uint64_t key_count, PhaseMarks* marks);

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
  DeviceBuffer<std::uint32_t> narrow_keys_;
  DeviceBuffer<std::uint64_t> wide_keys_;
  DeviceBuffer<RankWord> words_;
  StreamDrain drain_{stream_};  // before the memory above goes
};

/// points_out[i]: the point order[i]; with `words`, a bit for every key in use.
template <class Key>
void launch_gather_cliques(PointsOnDevice points, const std::uint32_t* order, const Key* keys, void* points_out,
                           RankWord* words, cudaStream_t stream);

/// Cell of each position, first position and key of each cell, from the ranks of the keys. starts: [cells + 1]
template <class Key>
void launch_clique_cells(const Key* keys, const RankWord* words, std::uint32_t size, std::uint32_t* cell_of,
                         std::uint32_t* starts, Key* cell_keys, cudaStream_t stream);

/// First position and key of each cell, from the cells. starts: [cells + 1]
template <class Key>
void launch_clique_starts(const Key* keys, const std::uint32_t* cell_of, std::uint32_t size, std::uint32_t* starts,
                          Key* cell_keys, cudaStream_t stream);

}  // namespace epsflow::gpu
