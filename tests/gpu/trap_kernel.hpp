// A kernel that takes the GPU away from this process.
#pragma once

namespace epsflow::gpu {

/// Starts it; every later CUDA call fails.
void launch_trap();

}  // namespace epsflow::gpu
