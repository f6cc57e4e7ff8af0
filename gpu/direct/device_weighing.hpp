// Weights that kernels sum instead of counting neighbours.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include <epsflow/core/ghosts.hpp>
#include <epsflow/core/weights.hpp>
#include <epsflow/gpu/base/memory.hpp>

namespace epsflow::gpu {

struct DenseBoxView;

/// The weights of a data set, and the minpts of a clustering that sums them.
struct WeightTask {
  const LoadedWeights& loaded;
  WeightLevels levels;
};

/// The weights in the form that kernels use.
struct WeighingView {
  const std::int64_t* units = nullptr;    ///< [n] by position
  const WeightSum* of_cells = nullptr;    ///< [cells] sum of each cell, or a part that is `enough`; null without cells
  const WeightSum* least_sums = nullptr;  ///< [levels + 1] smallest sum that reaches each minpts, and kBeyond
  const std::uint32_t* minpts = nullptr;  ///< [levels] ascending
  std::uint32_t levels = 0;
  WeightSum enough = 0;  ///< a sum at which summing may stop; kBeyond, which no sum reaches, if weights are below 0
};

/// Owner of the weights by position.
class DeviceWeighing {
 public:
  /// order: [device] [size] input id of each position. ghosts: each has the weight of its origin, if that is here. The
  /// view is valid only for work on this stream. Waits for all earlier work on the stream, and for copies of the arrays
  /// of `task`.
  DeviceWeighing(const WeightTask& task, const std::uint32_t* order, std::uint32_t size, const Ghosts& ghosts,
                 DeviceMemory& memory, cudaStream_t stream);

  /// Sums the weights of each cell. A sum stops at WeightLevels::enough(): the points of the cell are then core at
  /// every minpts. O(n).
  void sum_cells(const DenseBoxView& cells, DeviceMemory& memory, cudaStream_t stream);

  [[nodiscard]] const WeighingView& view() const noexcept { return view_; }

 private:
  WeighingView view_;
  DeviceBuffer<std::int64_t> units_;
  DeviceBuffer<WeightSum> of_cells_;
  DeviceBuffer<WeightSum> least_sums_;
  DeviceBuffer<std::uint32_t> minpts_;
};

/// Writes sums[p] = the weight of position p.
void launch_begin_sums(const WeighingView& weights, std::uint32_t size, WeightSum* sums, cudaStream_t stream);
/// Writes counts[p] = the largest minpts that sums[p] reaches, or 0.
void launch_count_sums(const WeighingView& weights, std::uint32_t size, const WeightSum* sums, std::uint32_t* counts,
                       cudaStream_t stream);

}  // namespace epsflow::gpu
