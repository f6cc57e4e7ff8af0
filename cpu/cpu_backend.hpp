// The CPU backend: a grid or a tree as index, with vector instructions and oneTBB.
#pragma once

#include <memory>

#include <epsflow/core/backend.hpp>

namespace epsflow::cpu {

/// threads: work at a time. One more lane keeps them busy while rows move into the table.
[[nodiscard]] std::unique_ptr<Backend> make_cpu_backend(unsigned threads);

}  // namespace epsflow::cpu
