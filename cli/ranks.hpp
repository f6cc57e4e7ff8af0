// What the processes of one run do together: steps that may fail on one of them, values that one has and all need, and
// the input, of which each reads its share.
#pragma once

#include <algorithm>
#include <exception>
#include <span>
#include <type_traits>

#include <epsflow/cli/input.hpp>
#include <epsflow/parts/exchange.hpp>
#include <epsflow/parts/machine_share.hpp>

namespace epsflow::cli {

/// Thrown on every rank if a step has failed on one; what was wrong has been said.
struct RanksFailed {
  int code = 0;
  std::string reason;  ///< on the first rank
};

/// Takes a step on every rank. If it throws on one, or several, the first rank says what the lowest of them has thrown,
/// with the number of that rank unless it was all of them, and RanksFailed is thrown everywhere. Collective.
void together(parts::Exchange& ranks, const std::function<void()>& step);
/// Does the same for a step of the first rank alone.
void on_first(parts::Exchange& ranks, const std::function<void()>& step);

/// Returns all that the ranks have, in their order, on the first rank; nothing elsewhere. Collective.
template <class T>
[[nodiscard]] parts::Letters<T> gather(parts::Exchange& ranks, std::span<const T> values) {
  parts::Letters<T> letters(static_cast<std::size_t>(ranks.size()));
  letters.front().assign(values.begin(), values.end());
  letters = parts::all_to_all(ranks, letters);
  if (ranks.rank() != 0) letters.clear();
  return letters;
}

/// Returns what the first rank has. Collective.
template <class T>
[[nodiscard]] std::vector<T> from_first(parts::Exchange& ranks, std::vector<T> values) {
  parts::Letters<T> letters(static_cast<std::size_t>(ranks.size()));
  if (ranks.rank() == 0) std::fill(letters.begin(), letters.end(), std::move(values));
  return std::move(parts::all_to_all(ranks, letters).front());
}

/// Reads the share of this rank. Files are at least as many as ranks: each reads whole files; else the ranks of a file
/// read its rows together. Either way points are in the order in which one process reads them, through the ranks. All
/// get the columns of the first file, and float64 if one of them has it. The first rank tells what was read. Sets
/// `origin` on the first rank: that of all points. Collective; throws RanksFailed.
[[nodiscard]] io::FilePoints read_share(const Input& input, parts::Exchange& ranks, const parts::MachineShare& machine,
                                        io::PointsOrigin& origin);

/// Returns what one process would say of all points; nothing but the number of points is set on other ranks than the
/// first. Collective.
[[nodiscard]] io::ResultsInput results_input(parts::Exchange& ranks, const io::FilePoints& share,
                                             io::PointsOrigin origin);

}  // namespace epsflow::cli
