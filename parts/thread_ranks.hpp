// Ranks that are threads of this process: each may have a GPU of its own.
#pragma once

#include <functional>

#include <epsflow/core/cancel.hpp>
#include <epsflow/parts/exchange.hpp>

namespace epsflow::parts {

/// Calls body on `ranks` threads at once, each with its exchange, and waits for all. Where one throws the others are told at their next
/// exchange, and what was thrown first is thrown from here.
void run_ranks(int ranks, const std::function<void(Exchange&)>& body);

}  // namespace epsflow::parts
