// Points made on the device.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace epsflow::bench {

/// values[i]: the i-th of a sequence spread evenly over [0, 1), the same on every machine. Does not wait.
void launch_uniform(double* values, std::uint64_t count, std::uint64_t seed, cudaStream_t stream);

}  // namespace epsflow::bench
