// The choice of backend: the one place that knows which there are.
#pragma once

#include <memory>

#include <epsflow/core/backend.hpp>
#include <epsflow/pipeline/options.hpp>

namespace epsflow {

[[nodiscard]] std::unique_ptr<Backend> make_backend(BackendChoice choice, unsigned threads);

}  // namespace epsflow
