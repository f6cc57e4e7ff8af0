// Searches nearest points on the GPU, among points in the order of a curve with a hierarchy of boxes.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include <epsflow/core/points.hpp>
#include <epsflow/gpu/grid/index_kernels.hpp>
#include <epsflow/index/curve.hpp>

namespace epsflow::gpu {

/// A leaf has kDeviceLeaf points. A node has kDeviceBranch boxes, one for each lane of a warp.
inline constexpr std::uint32_t kDeviceLeaf = 8;
inline constexpr std::uint32_t kDeviceBranch = 32;
/// The largest number of levels of boxes: of kMostGpuPoints points.
inline constexpr unsigned kMostLevels = 6;

/// A leaf is kDeviceLeaf consecutive positions. A node is kDeviceBranch consecutive leaves, or nodes of the level
/// below. All arrays are in device memory. Coordinates and boxes have the points' precision.
struct LeafView {
  const void* coordinates = nullptr;     ///< [dims × size] by position
  const std::uint32_t* order = nullptr;  ///< [size] input ids
  std::uint32_t size = 0;
  std::uint32_t dims = 1;
  Precision precision = Precision::float64;
  unsigned levels = 0;                     ///< number of levels; the last one has at most kDeviceBranch boxes
  std::uint32_t counts[kMostLevels] = {};  ///< number of boxes of each level; level 0 has the boxes of leaves
  /// [dims × 2 × count] for each level: for each dimension the lower ends, then the upper ends
  void* boxes[kMostLevels] = {};
  double scale = 1;  ///< a power of two that scales the largest extent of the points to about 1
};

/// Writes numbers[i] = the number of point i on the curve, and ids[i] = i.
void launch_curve_numbers(PointsOnDevice points, const index::Curve& curve, std::uint64_t* numbers, std::uint32_t* ids,
                          cudaStream_t stream);

/// Writes to *count, in device memory, how many points have the same number on the curve as the point 128 positions
/// after them, but other coordinates. numbers: [size] by position.
void launch_count_unresolved(const LeafView& leaves, const std::uint64_t* numbers, std::uint32_t* count,
                             cudaStream_t stream);

/// Computes the boxes of all levels.
void launch_boxes(const LeafView& leaves, cudaStream_t stream);

/// The request: for each point the ks[0]-th, ks[1]-th, … nearest other point.
struct NearestWanted {
  const std::uint32_t* ks = nullptr;  ///< [count], device memory
  std::uint32_t count = 0;
  std::uint32_t most = 0;   ///< the largest k, at most kMostDeviceK
  bool roots = false;       ///< writes distances instead of sums
  double* found = nullptr;  ///< [size × count] by input id, device memory
};
/// The largest k for which registers suffice.
inline constexpr std::uint32_t kMostDeviceK = 32;

/// Writes wanted.found, computed in float64.
void launch_nearest(const LeafView& leaves, const NearestWanted& wanted, cudaStream_t stream);

/// Writes lists[i · size + p] = the position of the (i + 1)-th nearest other point of position p, for i from 0 to
/// length − 1. length: less than size. Each kMostDeviceK elements of a list take one search.
void launch_nearest_lists(const LeafView& leaves, std::uint32_t length, std::uint32_t* lists, cudaStream_t stream);

}  // namespace epsflow::gpu
