#include "bench_direct_points.hpp"

#include <epsflow/gpu/base/error.hpp>

namespace epsflow::bench {
namespace {

constexpr unsigned kThreads = 256;

/// SplitMix64 (Steele, Lea & Flood, OOPSLA 2014): a counter whose bits are mixed.
__global__ void uniform_kernel(double* values, std::uint64_t count, std::uint64_t seed) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= count) return;
  std::uint64_t z = (i + 1 + (seed << 40)) * 0x9E3779B97F4A7C15ULL;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  z ^= z >> 31;
  values[i] = static_cast<double>(z >> 11) * 0x1p-53;
}

}  // namespace

void launch_uniform(double* values, std::uint64_t count, std::uint64_t seed, cudaStream_t stream) {
  if (count == 0) return;
  uniform_kernel<<<static_cast<unsigned>((count + kThreads - 1) / kThreads), kThreads, 0, stream>>>(values, count,
                                                                                                    seed);
  gpu::check_launch(stream);
}

}  // namespace epsflow::bench
