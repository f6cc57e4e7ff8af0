// Making the backend that the options choose.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <epsflow/core/backend.hpp>
#include <epsflow/pipeline/options.hpp>

namespace epsflow {

/// The backend that the options ask for; memory and threads must have numbers. Where the choice is automatic and no GPU
/// can be used it is the CPU's; `notice` is called with the reason where the machine has a GPU. Throws UsageError,
/// ResourceError.
[[nodiscard]] std::unique_ptr<Backend> make_backend(const EngineOptions& options,
                                                    const std::function<void(const std::string&)>& notice);

}  // namespace epsflow
