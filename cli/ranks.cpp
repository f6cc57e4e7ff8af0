#include <epsflow/cli/ranks.hpp>

#include <epsflow/cli/commands.hpp>

namespace epsflow::cli {
namespace {

std::optional<CommandFailure> failure_in(const std::function<void()>& step) {
  try {
    step();
    return std::nullopt;
  } catch (...) {
    return current_failure();
  }
}

/// Throws RanksFailed on all ranks if one failed. named: whether the message names the failed rank, unless all failed.
void end_where_failed(parts::Communicator& ranks, const std::optional<CommandFailure>& failure, bool named) {
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

}  // namespace

void together(parts::Communicator& ranks, const std::function<void()>& step) {
  end_where_failed(ranks, failure_in(step), true);
}

void on_root(parts::Communicator& ranks, const std::function<void()>& step) {
  end_where_failed(ranks, ranks.rank() == 0 ? failure_in(step) : std::nullopt, false);
}

}  // namespace epsflow::cli
