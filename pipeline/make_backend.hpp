// Makes the backend that the options choose.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <epsflow/core/backend.hpp>
#include <epsflow/pipeline/options.hpp>

namespace epsflow {

/// Returns the backend that the options request; memory and threads must be set. If the choice is automatic,
/// EngineOptions::gpu is empty and no GPU can be used, it is the CPU; `notice`, unless null, is then called with the
/// reason if the machine has a GPU. Throws UsageError, ResourceError.
[[nodiscard]] std::unique_ptr<Backend> make_backend(const EngineOptions& options,
                                                    const std::function<void(const std::string&)>& notice);

}  // namespace epsflow
