// This kernel makes the GPU unusable for this process.
#pragma once

namespace epsflow::gpu {

/// Launches it; every later CUDA call fails.
void launch_trap();

}  // namespace epsflow::gpu
