// Kernels that find the parts of rows and reorder rows by part. A Scratch provides temporary memory. No function waits
// for its stream.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include <epsflow/core/device_part.hpp>
#include <epsflow/gpu/grid/index_kernels.hpp>

namespace epsflow::gpu {

/// Rows of a block. The points of a part are ranked within them.
inline constexpr std::uint32_t kCutRows = 1024;
[[nodiscard]] constexpr std::uint32_t cut_blocks(std::uint32_t rows) noexcept {
  return rows / kCutRows + (rows % kCutRows > 0 ? 1 : 0);
}

/// A tree of cuts in the form that kernels use.
struct CutsView {
  SpaceCut cuts[kMostDeviceParts - 1];
  std::uint32_t count = 0;
};

/// The results of launch_cut(), [device]. parts: [n] the part of each row. counts: [parts × blocks] rows of a block in
/// each part. ghosts: [2 × parts] added to: ghosts that each part gets, then ghosts that each part sends.
struct CutRows {
  std::uint8_t* parts;
  std::uint32_t* counts;
  unsigned long long* ghosts;
};
/// Finds the part of each row, and counts rows and ghosts. reach: the largest distance of a ghost along an axis.
void launch_cut(PointsOnDevice rows, const CutsView& cuts, double reach, const CutRows& to, cudaStream_t stream);
/// Turns the counts of blocks into the index of the first row of each part and block in the order by part, in place.
/// size: parts · blocks
void launch_starts(std::uint32_t* counts, std::uint64_t size, Scratch scratch);

/// The index of each row in the order by part, and by row within a part. All [device].
struct PartOrder {
  const std::uint8_t* parts;    ///< [rows]
  const std::uint32_t* starts;  ///< [parts × blocks]
  std::uint32_t rows;
  std::uint32_t part_count;
};
/// Rows in the order by part. The rows of one part, with indices [first, last) there, are separate. [device]
struct SeparatedRows {
  void* others;  ///< [n - (last - first), dims]
  void* owned;   ///< [last - first, dims]
  std::uint32_t first;
  std::uint32_t last;
};
/// Copies the rows in this order.
void launch_pack(PointsOnDevice rows, const PartOrder& order, const SeparatedRows& to, cudaStream_t stream);
/// Reorders values from the order by part to the order of the rows. [device] [rows] each
void launch_unpack(const std::int32_t* from, const PartOrder& order, std::int32_t* to, cudaStream_t stream);
void launch_unpack(const std::uint8_t* from, const PartOrder& order, std::uint8_t* to, cudaStream_t stream);
/// A part, and the numbers from which the caller counts its points and the rows (DevicePart::rows_of()).
struct RowsOfPart {
  std::uint32_t part;
  std::uint32_t first_point;  ///< number of the first point of the part that comes from these rows
  std::uint32_t first_row;    ///< number of the first of these rows
};
/// Replaces points of a part, which must come from these rows, by their rows. [device] [count]
void launch_find_rows(const PartOrder& order, const RowsOfPart& of, std::uint32_t* points, std::uint32_t count,
                      cudaStream_t stream);

/// A point that another part has as a ghost. Ordered by list (two for each part: inner and outer), then by point.
struct SendKey {
  static constexpr int kBits = 37;  ///< bits of a key
  __host__ __device__ static std::uint64_t make(std::uint32_t to, bool outer, std::uint32_t point) noexcept {
    return std::uint64_t{2 * to + (outer ? 1 : 0)} << 32 | point;
  }
  [[nodiscard]] __host__ __device__ static std::uint32_t point_of(std::uint64_t key) noexcept {
    return static_cast<std::uint32_t>(key);
  }
};
/// Writes the keys of points of part `part` that are ghosts of others, in any order: inner ghosts are at most `inner`
/// from the other part along each axis, outer ghosts farther, but at most `outer`. keys: [capacity]. *count: added to.
void launch_send_lists(PointsOnDevice points, const CutsView& cuts, std::uint32_t part, double inner, double outer,
                       std::uint64_t* keys, std::uint64_t capacity, unsigned long long* count, cudaStream_t stream);
/// Sorts keys into `sorted`. [device] [count]
void launch_sort_send_lists(const std::uint64_t* keys, std::uint64_t* sorted, std::uint64_t count, Scratch scratch);
/// Writes the begin of each list in the keys, then the end. [device] keys: [count], sorted; begins: [lists], with
/// lists = 2 · parts + 1.
void launch_send_list_begins(const std::uint64_t* keys, std::uint64_t count, std::uint64_t* begins, std::uint32_t lists,
                             cudaStream_t stream);
/// Writes the point of each key. [device] [count]
void launch_points_of_send_list(const std::uint64_t* keys, std::uint64_t count, std::uint32_t* points,
                                cudaStream_t stream);
/// Writes the coordinates of the points of keys. [device] [count × dims]
void launch_pack_ghosts(PointsOnDevice points, const std::uint64_t* keys, std::uint64_t count, void* to,
                        cudaStream_t stream);

/// Replaces each label that is not noise by numbers[label]. [device] [n]
void launch_renumber(std::int32_t* labels, std::uint32_t n, const std::int32_t* numbers, cudaStream_t stream);

}  // namespace epsflow::gpu
