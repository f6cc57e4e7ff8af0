// Two labellings of the same points, side by side.
#pragma once

#include <cstdint>
#include <span>

#include <epsflow/clustering/agreement.hpp>
#include <epsflow/pipeline/options.hpp>

namespace epsflow {

/// Contingency(a, b) on the threads that the options ask for: agreement() and fates() tell the rest. Works on the CPU. Throws
/// UsageError for options of a GPU, and as Contingency does.
[[nodiscard]] Contingency compare(std::span<const std::int32_t> a, std::span<const std::int32_t> b,
                                  const EngineOptions& options = {});

}  // namespace epsflow
