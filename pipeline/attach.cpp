#include <epsflow/pipeline/attach.hpp>

#include <epsflow/pipeline/workers.hpp>

namespace epsflow {

std::vector<std::int32_t> attach(const AttachInput& input, const EngineOptions& engine, const Observer& observer) {
  Workers workers(engine, "attach()");
  const CancelToken cancel(observer.cancel);
  const std::uint64_t n = input.others.size() == 0 ? 0 : std::uint64_t{input.linked.size()} + input.others.size();
  // Places as they were moved, and once more in the order of the grid.
  const std::uint64_t numbers = 2 * std::uint64_t{moved_dims(input.metric, input.linked.dims())} + 2;
  const MemoryCharge memory(workers.budget, n * numbers * sizeof(double), "the index of linked and other points");
  return workers.arena.execute([&] { return attach(input, cancel); });
}

}  // namespace epsflow
