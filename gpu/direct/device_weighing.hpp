// Weights that kernels sum in place of counting neighbours.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include <epsflow/core/ghosts.hpp>
#include <epsflow/core/weights.hpp>
#include <epsflow/gpu/base/memory.hpp>

namespace epsflow::gpu {

struct CliqueView;

/// Weights of a data set, and the minpts of a clustering that sums them.
struct WeightTask {
  const LoadedWeights& loaded;
  WeightLevels levels;
};

/// The weights as kernels see them.
struct WeighingView {
  const std::int64_t* units = nullptr;            ///< [n] by position
  const WholeWeights::Sum* of_cells = nullptr;    ///< [cells] sums over the points of each, where there are cells
  const WholeWeights::Sum* least_sums = nullptr;  ///< [levels + 1] as WeightLevels has them
  const std::uint32_t* minpts = nullptr;          ///< [levels]
  std::uint32_t levels = 0;
  WholeWeights::Sum enough = 0;  ///< of WeightLevels
};

/// Owner of the weights by position.
class DeviceWeighing {
 public:
  /// order: [device] [size] input id of each position. ghosts: in device memory; each weighs what its origin does. Puts its work on
  /// the stream, for which alone the view is good; waits for copies of what `task` has, no more.
  DeviceWeighing(const WeightTask& task, const std::uint32_t* order, std::uint32_t size, const Ghosts& ghosts,
                 DeviceMemory& memory, cudaStream_t stream);

  /// Sums up the cells, as far as it takes to know that their points are core. O(n).
  void sum_cells(const CliqueView& cells, DeviceMemory& memory, cudaStream_t stream);

  [[nodiscard]] const WeighingView& view() const noexcept { return view_; }

 private:
  WeighingView view_;
  DeviceBuffer<std::int64_t> units_;
  DeviceBuffer<WholeWeights::Sum> of_cells_;
  DeviceBuffer<WholeWeights::Sum> least_sums_;
  DeviceBuffer<std::uint32_t> minpts_;
};

/// sums[p] = the weight of position p.
void launch_begin_sums(const WeighingView& weights, std::uint32_t size, WholeWeights::Sum* sums, cudaStream_t stream);
/// counts[p] = what the sum of position p is counted as.
void launch_count_sums(const WeighingView& weights, std::uint32_t size, const WholeWeights::Sum* sums,
                       std::uint32_t* counts, cudaStream_t stream);

}  // namespace epsflow::gpu
