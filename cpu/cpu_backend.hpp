// The CPU backend: a grid or a tree as index, and what is made of it with vector instructions and oneTBB.
#pragma once

#include <memory>

#include <epsflow/core/backend.hpp>

namespace epsflow::cpu {

/// `threads`: how many work at the same time; a lane more keeps them busy while rows move into the table.
[[nodiscard]] std::unique_ptr<Backend> make_cpu_backend(unsigned threads);

}  // namespace epsflow::cpu
