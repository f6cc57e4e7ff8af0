// The macro that marks functions which the host and CUDA kernels share.
#pragma once

#ifdef __CUDACC__
#define EPSFLOW_HOST_DEVICE __host__ __device__
#else
#define EPSFLOW_HOST_DEVICE
#endif
