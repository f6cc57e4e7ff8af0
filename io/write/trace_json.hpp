// Writes the times of the stages of a run as JSON.
#pragma once

#include <string>

#include <epsflow/core/trace.hpp>

namespace epsflow::io {

/// Returns the trace in Chrome's trace event format, for Perfetto or chrome://tracing.
[[nodiscard]] std::string trace_json(const Trace& trace);

}  // namespace epsflow::io
