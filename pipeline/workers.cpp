#include <epsflow/pipeline/workers.hpp>

#include <tbb/info.h>

#include <algorithm>
#include <string>

#include <epsflow/core/error.hpp>

namespace epsflow {
namespace {

EngineOptions resolved_on_cpu(const EngineOptions& options, const char* who) {
  const EngineOptions numbers = resolved(options);
  if (options.backend == BackendChoice::gpu || options.gpu || options.gpu_memory != 0) {
    throw UsageError(std::string(who) +
                     " works on the CPU: leave out EngineOptions::backend, EngineOptions::gpu and "
                     "EngineOptions::gpu_memory");
  }
  return numbers;
}

}  // namespace

EngineOptions resolved(EngineOptions options) {
  check_options(options);
  if (options.threads == 0) options.threads = static_cast<unsigned>(std::max(1, tbb::info::default_concurrency()));
  if (options.memory == 0) options.memory = std::max<std::uint64_t>(machine_memory() / 2, 1_GiB);
  return options;
}

Workers::Workers(const EngineOptions& options, const char* who) : Workers(resolved_on_cpu(options, who)) {}

Workers::Workers(const EngineOptions& numbers) : budget(numbers.memory), arena(static_cast<int>(numbers.threads)) {}

}  // namespace epsflow
