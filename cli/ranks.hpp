// What the processes of one run do together: steps that may fail on one of them, and values that one has and all need.
#pragma once

#include <algorithm>
#include <cstdint>
#include <exception>
#include <functional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <epsflow/parts/exchange.hpp>

namespace epsflow::cli {

/// Thrown on every rank where a step has failed on one; what was wrong has been said.
struct RanksFailed {
  int code = 0;
  std::string reason;  ///< on the first rank
};

/// Takes a step on every rank. Where it throws on one, or several, the first rank says what the lowest of them has thrown, with the number
/// of that rank unless it was all of them, and RanksFailed is thrown everywhere. Collective.
void together(parts::Exchange& ranks, const std::function<void()>& step);
/// The same of a step of the first rank alone.
void on_first(parts::Exchange& ranks, const std::function<void()>& step);

/// All that the ranks have, in their order, on the first rank; nothing elsewhere. Collective.
template <class T>
[[nodiscard]] parts::Letters<T> gather(parts::Exchange& ranks, std::span<const T> values) {
  parts::Letters<T> letters(static_cast<std::size_t>(ranks.size()));
  letters.front().assign(values.begin(), values.end());
  letters = parts::all_to_all(ranks, letters);
  if (ranks.rank() != 0) letters.clear();
  return letters;
}

/// What the first rank has. Collective.
template <class T>
[[nodiscard]] std::vector<T> from_first(parts::Exchange& ranks, std::vector<T> values) {
  parts::Letters<T> letters(static_cast<std::size_t>(ranks.size()));
  if (ranks.rank() == 0) std::fill(letters.begin(), letters.end(), std::move(values));
  return std::move(parts::all_to_all(ranks, letters).front());
}

}  // namespace epsflow::cli
