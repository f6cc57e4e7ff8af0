// The CPU backend: grid index, vectorised row tests, batches on the lanes' own buffers.
#pragma once

#include <memory>

#include <epsflow/core/backend.hpp>

namespace epsflow::index {

/// `threads`: how many work at the same time; a lane more keeps them busy while rows move into the table.
[[nodiscard]] std::unique_ptr<Backend> make_cpu_backend(unsigned threads);

}  // namespace epsflow::index
