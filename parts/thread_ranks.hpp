// Ranks that are threads of this process: each may have a GPU of its own.
#pragma once

#include <cstddef>
#include <functional>

#include <epsflow/core/cancel.hpp>
#include <epsflow/parts/exchange.hpp>

namespace epsflow::parts {

/// Calls body on `ranks` threads at once, each with its exchange, and waits for all. Where one throws the others are told at their next
/// exchange, and what was thrown first is thrown from here.
void run_ranks(int ranks, const std::function<void(Exchange&)>& body);

/// Calls body(0), body(1), … on a thread each, and waits for all. Where one throws it cancels `stop`, so that the others end, too; what was
/// thrown first is thrown from here, and not what the others throw because of it.
void run_together(std::size_t bodies, CancelToken& stop, const std::function<void(std::size_t)>& body);

}  // namespace epsflow::parts
