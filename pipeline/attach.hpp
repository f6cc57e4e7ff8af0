// Other points join groups, with the threads and the memory of options.
#pragma once

#include <cstdint>
#include <vector>

#include <epsflow/catalog/attach.hpp>
#include <epsflow/pipeline/options.hpp>

namespace epsflow {

/// attach() on the threads of the engine options, with the observer's cancellation. Works on the CPU. Throws as it does, UsageError for
/// options of a GPU, and ResourceError where it would take more memory than the options allow.
[[nodiscard]] std::vector<std::int32_t> attach(const AttachInput& input, const EngineOptions& engine,
                                               const Observer& observer = {});

}  // namespace epsflow
