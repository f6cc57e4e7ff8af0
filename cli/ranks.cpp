#include <epsflow/cli/ranks.hpp>

#include <fmt/format.h>

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <thread>

#include <epsflow/cli/failure.hpp>
#include <epsflow/cli/output.hpp>

namespace epsflow::cli {
namespace {

std::optional<Failure> failure_in(const std::function<void()>& step) {
  try {
    step();
    return std::nullopt;
  } catch (...) {
    return current_failure();
  }
}

/// named: whether it is said which rank has failed, where it was not all.
void end_where_failed(parts::Exchange& ranks, const std::optional<Failure>& failure, bool named) {
  const std::uint64_t failed = ranks.sum(failure ? std::uint64_t{1} : 0);
  if (failed == 0) return;
  const auto size = static_cast<std::uint64_t>(ranks.size());
  const auto rank = static_cast<std::uint64_t>(ranks.rank());
  const std::uint64_t lowest = size - ranks.max(failure ? size - rank : 0);
  const bool mine = rank == lowest;
  std::string text = mine ? failure->text : "";
  if (named && failed < size && mine && !text.empty()) text = fmt::format("rank {}: {}", lowest, text);
  const auto texts = gather(ranks, std::span<const char>(text));
  const auto code = static_cast<int>(ranks.sum(mine ? static_cast<std::uint64_t>(failure->code) : 0));
  RanksFailed end{code, {}};
  if (rank == 0) {
    const std::vector<char>& said = texts[lowest];
    end.reason.assign(said.begin(), said.end());
    if (!end.reason.empty()) say(end.reason);
  }
  throw end;
}

/// Ranks that have the same name for something as this one.
struct Alike {
  unsigned all = 0;     ///< itself included
  unsigned before = 0;  ///< of lower rank
};
Alike count_alike(parts::Exchange& ranks, const std::string& name) {
  const parts::Letters<char> mine(static_cast<std::size_t>(ranks.size()), std::vector<char>(name.begin(), name.end()));
  const parts::Letters<char> names = parts::all_to_all(ranks, mine);
  const auto me = names.begin() + ranks.rank();
  return {static_cast<unsigned>(std::count(names.begin(), names.end(), *me)),
          static_cast<unsigned>(std::count(names.begin(), me, *me))};
}

}  // namespace

void together(parts::Exchange& ranks, const std::function<void()>& step) {
  end_where_failed(ranks, failure_in(step), true);
}

void on_first(parts::Exchange& ranks, const std::function<void()>& step) {
  end_where_failed(ranks, ranks.rank() == 0 ? failure_in(step) : std::nullopt, false);
}

MachineShare machine_share(parts::Exchange& ranks) {
  std::array<char, 256> host{};
  static_cast<void>(gethostname(host.data(), host.size() - 1));
  cpu_set_t processors;
  CPU_ZERO(&processors);
  // Where that fails, as with more processors than the set has room for, all count as the same.
  const bool known = sched_getaffinity(0, sizeof(processors), &processors) == 0;
  const auto own = known ? static_cast<unsigned>(CPU_COUNT(&processors)) : std::thread::hardware_concurrency();
  const Alike on_host = count_alike(ranks, host.data());
  const std::string_view set(reinterpret_cast<const char*>(&processors), sizeof(processors));  // NOLINT: as bytes
  const Alike on_processors = count_alike(ranks, host.data() + std::string(set));
  return {on_host.all, on_host.before, std::max(1U, own / on_processors.all)};
}

}  // namespace epsflow::cli
