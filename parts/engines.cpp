#include <epsflow/parts/engines.hpp>

#include <algorithm>
#include <array>
#include <mutex>
#include <optional>
#include <utility>

#include <epsflow/core/error.hpp>
#include <epsflow/parts/thread_ranks.hpp>
#include <epsflow/pipeline/backends.hpp>
#include <epsflow/pipeline/workers.hpp>

namespace epsflow {

template <>
std::span<const Option<parts::DeviceOptions>> options_of<parts::DeviceOptions>() noexcept {
  static constexpr std::array kOptions{option<parts::DeviceOptions>(
      {.library = "DeviceOptions::gpus",
       .program = "gpus",
       .python = "gpus",
       .placeholder = "LIST",
       .may_be_empty = true,
       .meaning =
           "GPUs that share the sweep: all, or numbers as in 0,1; each takes some of the eps, or a part of space"},
      [](auto& options) -> auto& { return options.gpus; })};
  return kOptions;
}

}  // namespace epsflow

namespace epsflow::parts {
namespace {

std::vector<unsigned> numbers_of(const std::string& list) {
  if (list == "all") return usable_gpus();
  std::vector<unsigned> numbers;
  for (std::size_t at = 0; at <= list.size();) {
    const std::size_t end = std::min(list.find(',', at), list.size());
    const std::string word = list.substr(at, end - at);
    if (word.empty() || word.size() > 4 ||
        !std::all_of(word.begin(), word.end(), [](char c) { return c >= '0' && c <= '9'; })) {
      throw UsageError("DeviceOptions::gpus is '" + list + "': give all, or numbers of GPUs as in 0,1");
    }
    numbers.push_back(static_cast<unsigned>(std::stoul(word)));
    at = end + 1;
  }
  return numbers;
}

}  // namespace

bool on_the_host(const EngineOptions& engine) {
  return engine.backend == BackendChoice::cpu ||
         (engine.backend == BackendChoice::automatic && !engine.gpu && usable_gpus().empty());
}

std::vector<EngineOptions> engines_on(const DeviceOptions& devices, const EngineOptions& engine) {
  if (devices.gpus.empty()) return {engine};
  if (engine.gpu) throw UsageError("give either EngineOptions::gpu or DeviceOptions::gpus, not both");
  if (engine.backend == BackendChoice::cpu) {
    throw UsageError(
        "DeviceOptions::gpus names GPUs, and EngineOptions::backend = BackendChoice::cpu uses none: leave one of them "
        "out");
  }
  const std::vector<unsigned> numbers = numbers_of(devices.gpus);
  if (numbers.empty()) throw ResourceError("DeviceOptions::gpus is all, and no GPU can be used here: leave it out");
  const EngineOptions all = resolved(engine);
  std::vector<EngineOptions> engines;
  engines.reserve(numbers.size());
  for (const unsigned number : numbers) {
    EngineOptions one = all;
    one.backend = BackendChoice::gpu;
    one.gpu = number;
    check_backend(one);
    const auto sharers = static_cast<std::uint64_t>(std::count(numbers.begin(), numbers.end(), number));
    one.gpu_memory =
        sharers == 1 && all.gpu_memory == 0 ? 0 : (all.gpu_memory == 0 ? gpu_memory_of(one) : all.gpu_memory) / sharers;
    one.threads = std::max(1U, all.threads / static_cast<unsigned>(numbers.size()));
    one.memory = all.memory / numbers.size();
    engines.push_back(one);
  }
  return engines;
}

std::vector<Engine> make_engines(std::span<const EngineOptions> options, const Observer& observer) {
  if (options.size() == 1) return {Engine(options.front(), observer.on_notice)};
  std::vector<std::optional<Engine>> made(options.size());
  CancelToken stop(observer.cancel);
  std::mutex mutex;
  bool noticed = false;
  run_together(options.size(), stop, [&](std::size_t e) {
    made[e].emplace(options[e], [&](const std::string& text) {
      const std::scoped_lock lock(mutex);
      if (observer.on_notice && !std::exchange(noticed, true)) observer.on_notice(text);
    });
  });
  std::vector<Engine> engines;
  engines.reserve(made.size());
  for (std::optional<Engine>& engine : made) engines.push_back(std::move(*engine));
  return engines;
}

}  // namespace epsflow::parts
