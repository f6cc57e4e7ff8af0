// Rows of a data set told and moved apart by the part of space that they lie in. Those that take a Scratch allocate temporary memory on its
// stream; none waits.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include <epsflow/core/device_part.hpp>
#include <epsflow/gpu/grid/index_kernels.hpp>

namespace epsflow::gpu {

/// Rows that a block looks at: within them points of a part are ranked.
inline constexpr std::uint32_t kCutRows = 1024;
[[nodiscard]] constexpr std::uint32_t cut_blocks(std::uint32_t rows) noexcept {
  return rows / kCutRows + (rows % kCutRows > 0 ? 1 : 0);
}

/// A tree of cuts, for kernels.
struct CutsView {
  SpaceCut cuts[kMostDeviceParts - 1];
  std::uint32_t count = 0;
};

/// The part of each row, [n]; how many rows of a block are in each part, [parts × blocks]; how many are ghosts of each, and how many ghosts are of
/// each, [2 × parts], which is added to. All [device].
struct CutRows {
  std::uint8_t* parts;
  std::uint32_t* counts;
  unsigned long long* ghosts;
};
void launch_cut(PointsOnDevice rows, const CutsView& cuts, double reach, const CutRows& to, cudaStream_t stream);
/// From counts of blocks to where the rows of each begin among all, by part. [parts × blocks]
void launch_starts(std::uint32_t* counts, std::uint64_t size, Scratch scratch);

/// Where rows are among all of the same device, by part and in their order. All [device].
struct RowPlaces {
  const std::uint8_t* parts;    ///< [rows]
  const std::uint32_t* starts;  ///< [parts × blocks]
  std::uint32_t rows;
  std::uint32_t part_count;
};
/// Where rows go by their places: those of one part, at [first, last), apart from the others. [device]
struct PackedRows {
  void* others;  ///< [n - (last - first), dims]
  void* own;     ///< [last - first, dims]
  std::uint32_t first;
  std::uint32_t last;
};
void launch_pack(PointsOnDevice rows, const RowPlaces& places, const PackedRows& to, cudaStream_t stream);
/// What comes by part in the order of rows. [device] [rows] each
void launch_unpack(const std::int32_t* from, const RowPlaces& places, std::int32_t* to, cudaStream_t stream);
void launch_unpack(const std::uint8_t* from, const RowPlaces& places, std::uint8_t* to, cudaStream_t stream);
/// How points of a part, and rows, are counted.
struct RowsOfPart {
  std::uint32_t part;
  std::uint32_t first_point;
  std::uint32_t first_row;
};
/// In place: from points of a part to their rows. [device] [count]
void launch_find_rows(const RowPlaces& places, const RowsOfPart& of, std::uint32_t* points, std::uint32_t count,
                      cudaStream_t stream);

/// A point of a part that another part has as a ghost. Ordered by list, of which each part has two, near ones and others, then by point.
struct LentKey {
  static constexpr int kBits = 37;
  __host__ __device__ static std::uint64_t make(std::uint32_t to, bool beyond, std::uint32_t point) noexcept {
    return std::uint64_t{2 * to + (beyond ? 1 : 0)} << 32 | point;
  }
  [[nodiscard]] __host__ __device__ static std::uint32_t point_of(std::uint64_t key) noexcept {
    return static_cast<std::uint32_t>(key);
  }
};
/// Points of part `part` that others have as ghosts. keys: [room], in any order; *count: how many there are, which is added to. [device]
void launch_lend(PointsOnDevice points, const CutsView& cuts, std::uint32_t part, double near, double beyond,
                 std::uint64_t* keys, std::uint64_t room, unsigned long long* count, cudaStream_t stream);
/// Keys in their order; `sorted` gets them. [device] [count]
void launch_sort_lent(const std::uint64_t* keys, std::uint64_t* sorted, std::uint64_t count, Scratch scratch);
/// Where lists begin: of 2 · parts, and where the last ends. [device] keys: [count], in their order; begins: [lists]
void launch_lists_of_lent(const std::uint64_t* keys, std::uint64_t count, std::uint64_t* begins, std::uint32_t lists,
                          cudaStream_t stream);
/// The ids of the points of keys. [device] [count]
void launch_points_of_lent(const std::uint64_t* keys, std::uint64_t count, std::uint32_t* points, cudaStream_t stream);
/// Their coordinates. [device] [count × dims]
void launch_pack_lent(PointsOnDevice points, const std::uint64_t* keys, std::uint64_t count, void* to,
                      cudaStream_t stream);

/// numbers[label] in place of each label that is not noise. [device] [n]
void launch_renumber(std::int32_t* labels, std::uint32_t n, const std::int32_t* numbers, cudaStream_t stream);

}  // namespace epsflow::gpu
