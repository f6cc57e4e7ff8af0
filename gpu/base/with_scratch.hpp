// Calls CUB.
#pragma once

#include <algorithm>
#include <cstddef>

#include <epsflow/gpu/base/error.hpp>
#include <epsflow/gpu/base/memory.hpp>
#include <epsflow/gpu/grid/index_kernels.hpp>

namespace epsflow::gpu {

/// Makes both calls of CUB: the first returns the size of the temporary memory, the second does the work.
template <class F>
void with_scratch(Scratch scratch, F&& call) {
  std::size_t bytes = 0;
  check(call(nullptr, bytes));
  const DeviceBuffer<std::byte> temporary(scratch.memory, scratch.stream, std::max<std::size_t>(bytes, 1));
  check(call(temporary.data(), bytes));
  check_launch(scratch.stream);
}

}  // namespace epsflow::gpu
