// The steps that build the grid index on the GPU and cut its rows into batches. Arrays are in device memory. Functions
// that take a Scratch allocate temporary memory on its stream. None waits for the device.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include <epsflow/core/slices.hpp>
#include <epsflow/gpu/base/memory.hpp>
#include <epsflow/gpu/grid/grid_view.hpp>
#include <epsflow/index/cell_axes.hpp>
#include <epsflow/index/images.hpp>

namespace epsflow::gpu {

/// The stream of the work, and the owner of its temporary memory.
struct Scratch {
  DeviceMemory& memory;
  cudaStream_t stream;
};

/// Points as the caller gave them. [device] [n × dims], row-major.
struct PointsOnDevice {
  const void* data = nullptr;
  std::uint32_t size = 0;
  std::uint32_t dims = 1;
  Precision precision = Precision::float64;
};

/// Writes extents[k] = the extent of dimension k. [dims]
void launch_extents(PointsOnDevice points, index::Extent* extents, Scratch scratch);

/// Writes the points as float64, in order, followed by their images in any order, but no images beyond `capacity`.
/// origins[i]: the point of image i. *count: the number of all images, written or not. out: [n + capacity, dims].
void launch_make_images(PointsOnDevice points, const index::Imaging& imaging, std::uint64_t capacity,
                        std::uint64_t* count, double* out, std::uint32_t* origins, cudaStream_t stream);

inline constexpr std::uint64_t kAllFinite = ~std::uint64_t{0};
/// Writes *first = the index in PointsOnDevice::data of the first coordinate that is NaN or infinite, or kAllFinite.
/// points: at least one.
void launch_first_not_finite(PointsOnDevice points, std::uint64_t* first, cudaStream_t stream);

/// The numbers from which kernels compute the key of a cell (index::CellKeys): the slices, and the indexed axes with
/// the strides by which their slots are multiplied. The constructor leaves `axes` and `strides` to the caller.
struct KeyMaker {
  KeyMaker(const index::CellKeys& keys, SlicesView slices_on_device) noexcept
      : slices(slices_on_device),
        slice_stride(keys.slice_stride),
        count(static_cast<std::uint32_t>(keys.strides.size())),
        window(keys.window) {}

  index::AxisView axes[index::kMostIndexedDims];
  std::uint64_t strides[index::kMostIndexedDims];
  SlicesView slices;
  std::uint64_t slice_stride;
  std::uint32_t count;   ///< number of axes
  std::uint32_t window;  ///< added to each slot; the number of empty slots before slot 0
};

/// Writes keys[i] = the key of the cell of point i, and ids[i] = i. Key: std::uint32_t or std::uint64_t.
template <class Key>
void launch_keys(PointsOnDevice points, const KeyMaker& maker, Key* keys, std::uint32_t* ids, cudaStream_t stream);

/// Two buffers between which a sort alternates.
template <class T>
struct TwoBuffers {
  T* current = nullptr;
  T* other = nullptr;
};

/// Sorts keys and their values by the lowest `bits` bits, keeping the order if these are equal. The input is in
/// `current`; afterwards `current` points to the results. O(n · bits / 8).
template <class Key>
void launch_sort(TwoBuffers<Key>& keys, TwoBuffers<std::uint32_t>& values, std::uint64_t size, int bits,
                 Scratch scratch);

/// Writes cell_of[i] = the number of different keys below keys[i], which is the number of the cell of position i. keys:
/// sorted. The last element of cell_of plus 1 is the number of cells.
template <class Key>
void launch_cell_numbers(const Key* keys, std::uint32_t size, std::uint32_t* cell_of, Scratch scratch);

/// Writes cell_starts[c] = the first position of cell c, and cell_keys[c] = its key. cell_starts: [cells + 1], the last
/// element is `size`. cell_keys: [cells].
template <class Key>
void launch_cell_starts(const Key* keys, const std::uint32_t* cell_of, std::uint32_t size, std::uint32_t cells,
                        std::uint32_t* cell_starts, std::uint64_t* cell_keys, cudaStream_t stream);

/// Writes coordinates[k · n + i] = coordinate k of point order[i], in the precision of the points.
void launch_gather(PointsOnDevice points, const std::uint32_t* order, void* coordinates, cudaStream_t stream);

/// The cells, ascending by key, and index::CellKeys::neighbor_offsets: the first key of each range of cells that may
/// hold neighbours, minus the key of the cell. Such a range has 2·window + 1 keys.
struct CellTable {
  const std::uint64_t* keys = nullptr;
  const std::uint32_t* starts = nullptr;  ///< [cells + 1] first position of each cell
  std::uint32_t cells = 0;
  const std::int64_t* neighbor_offsets = nullptr;
  std::uint32_t neighbor_count = 0;
  std::uint32_t window = 1;
  index::ClosedKeys closed;  ///< replaces neighbor_offsets for cells at the ends of closed axes
};

/// Writes two sums over the cells before c: range_offsets[c] = the number of their candidate ranges, and
/// cell_words[c] = the number of words of all their rows in a packed table. [cells + 1]
void launch_measure_ranges(CellTable table, std::uint64_t* range_offsets, std::uint64_t* cell_words, Scratch scratch);
/// Writes the candidate ranges of each cell c, from ranges[range_offsets[c]] on. Ranges that touch are merged.
void launch_write_ranges(CellTable table, const std::uint64_t* range_offsets, Range* ranges, cudaStream_t stream);

/// Writes offsets[i] = the sum of the counts before i. [size + 1]
void launch_offsets(const std::uint32_t* counts, std::uint32_t size, std::uint64_t* offsets, Scratch scratch);
/// Writes sums[0] = the sum and sums[1] = the largest of the counts.
void launch_sum_and_largest(const std::uint32_t* counts, std::uint64_t size, std::uint64_t* sums, Scratch scratch);

/// Cuts an ascending list at equal fractions of its last element. Writes indices[k] = the first index whose element is
/// at least k · (last element) / parts, but indices[parts] = size − 1. Writes values[k] = the element at indices[k].
/// Both have parts + 1 elements.
void launch_cut(const std::uint64_t* ascending, std::uint32_t size, std::uint32_t parts, std::uint32_t* indices,
                std::uint64_t* values, cudaStream_t stream);
/// Cuts the words of a packed table into equal parts. Writes rows[k] = the row that has the first word of part k, and
/// the number of all rows as last element. [parts + 1]
void launch_cut_words(GridView grid, std::uint32_t parts, std::uint32_t* rows, cudaStream_t stream);

/// Writes *words = the number of words of the longest row of a packed table.
void launch_longest_row(GridView grid, std::uint64_t* words, Scratch scratch);

/// Writes the different values of the sorted `keys`, how often each occurs, and *count = the number of values.
void launch_run_lengths(const std::uint32_t* keys, std::uint64_t size, std::uint32_t* values, std::uint32_t* lengths,
                        std::uint64_t* count, Scratch scratch);

}  // namespace epsflow::gpu
