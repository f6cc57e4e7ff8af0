// What each stage of a run did when, as JSON.
#pragma once

#include <string>

#include <epsflow/core/trace.hpp>

namespace epsflow::io {

/// The trace in Chrome's trace event format, for Perfetto or chrome://tracing.
[[nodiscard]] std::string trace_json(const Trace& trace);

}  // namespace epsflow::io
