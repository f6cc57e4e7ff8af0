#include <epsflow/pipeline/compare.hpp>

#include <epsflow/pipeline/workers.hpp>

namespace epsflow {

Contingency compare(std::span<const std::int32_t> a, std::span<const std::int32_t> b, const EngineOptions& options) {
  Workers workers(options, "compare()");
  return workers.arena.execute([&] { return Contingency(a, b); });
}

}  // namespace epsflow
