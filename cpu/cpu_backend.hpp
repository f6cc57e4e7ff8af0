// The CPU backend: a grid, tiles or a list of pairs as index, with vector instructions and oneTBB.
#pragma once

#include <memory>

#include <epsflow/core/backend.hpp>

namespace epsflow::cpu {

/// threads: number of threads that work at a time. Backend::lanes() is one more, so that no thread waits while the rows
/// of a lane move into the table.
[[nodiscard]] std::unique_ptr<Backend> make_cpu_backend(unsigned threads);

}  // namespace epsflow::cpu
