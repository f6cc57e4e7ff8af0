// Points along a curve in device memory, with boxes above them, and the search of nearest points in them.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include <epsflow/core/points.hpp>
#include <epsflow/gpu/grid/index_kernels.hpp>
#include <epsflow/index/curve.hpp>

namespace epsflow::gpu {

/// Points of a leaf, and boxes of a node. A warp has a lane for each of the latter.
inline constexpr std::uint32_t kDeviceLeaf = 8;
inline constexpr std::uint32_t kDeviceBranch = 32;
/// Levels of boxes over kMostGpuPoints points.
inline constexpr unsigned kMostLevels = 6;

/// Leaves are kDeviceLeaf positions that follow each other, nodes kDeviceBranch leaves or nodes of the level below. All arrays are in
/// device memory, and of the points' precision.
struct LeafView {
  const void* coordinates = nullptr;     ///< [dims × size] by position
  const std::uint32_t* order = nullptr;  ///< [size] input ids
  std::uint32_t size = 0;
  std::uint32_t dims = 1;
  Precision precision = Precision::float64;
  unsigned levels = 0;                     ///< of boxes; the last one has at most kDeviceBranch
  std::uint32_t counts[kMostLevels] = {};  ///< boxes of each level; those of leaves are level 0
  void* boxes[kMostLevels] = {};  ///< [dims × 2 × count] of each level: lower ends, then upper ones, of each dimension
  double scale = 1;               ///< a power of two by which the largest extent of the points is about 1
};

/// numbers[i]: of point i on the curve; ids[i] = i.
void launch_curve_numbers(PointsOnDevice points, const index::Curve& curve, std::uint64_t* numbers, std::uint32_t* ids,
                          cudaStream_t stream);

/// *count: points that have the same number as another one far behind them in the order, which lies elsewhere. [device]
void launch_count_unresolved(const LeafView& leaves, const std::uint64_t* numbers, std::uint32_t* count,
                             cudaStream_t stream);

/// Fills the boxes of all levels.
void launch_boxes(const LeafView& leaves, cudaStream_t stream);

/// What is searched: of each point the ks[0]-th, … nearest other one.
struct NearestWanted {
  const std::uint32_t* ks = nullptr;  ///< [count], device memory
  std::uint32_t count = 0;
  std::uint32_t most = 0;   ///< the largest of them, at most kMostDeviceK
  bool roots = false;       ///< distances instead of sums
  double* found = nullptr;  ///< [size × count] by input id, device memory
};
/// The most that registers hold.
inline constexpr std::uint32_t kMostDeviceK = 32;

void launch_nearest(const LeafView& leaves, const NearestWanted& wanted, cudaStream_t stream);

}  // namespace epsflow::gpu
