// The common work of the ranks of a run: steps that may fail on one, exchange of values, shares of the input.
#pragma once

#include <algorithm>
#include <span>

#include <epsflow/cli/input.hpp>
#include <epsflow/parts/communicator.hpp>
#include <epsflow/parts/machine_share.hpp>

namespace epsflow::cli {

/// Thrown on every rank if a step failed on any rank. The error is already printed.
struct RanksFailed {
  int code = 0;        ///< the exit status for the error
  std::string reason;  ///< the printed text, which may be empty; only on the first rank
};

/// Takes a step on every rank. If it throws on some ranks, the first rank prints the error of the lowest rank that
/// failed, with the number of that rank unless all failed, and all ranks throw RanksFailed. Collective.
void together(parts::Communicator& ranks, const std::function<void()>& step);
/// Takes a step on the first rank alone and handles errors in the same way, without the number. Collective.
void on_root(parts::Communicator& ranks, const std::function<void()>& step);

/// Returns the values of all ranks, by rank, on the first rank; an empty list on the others. Ranks may have different
/// numbers of values. Collective.
template <class T>
[[nodiscard]] parts::PerRank<T> gather(parts::Communicator& ranks, std::span<const T> values) {
  parts::PerRank<T> letters(static_cast<std::size_t>(ranks.size()));
  letters.front().assign(values.begin(), values.end());
  letters = parts::all_to_all(ranks, letters);
  if (ranks.rank() != 0) letters.clear();
  return letters;
}

/// Returns the values of the first rank on every rank. values: ignored on the others. Collective.
template <class T>
[[nodiscard]] std::vector<T> broadcast(parts::Communicator& ranks, std::vector<T> values) {
  parts::PerRank<T> letters(static_cast<std::size_t>(ranks.size()));
  if (ranks.rank() == 0) std::fill(letters.begin(), letters.end(), std::move(values));
  return std::move(parts::all_to_all(ranks, letters).front());
}

/// Reads the share of this rank. If there are at least as many files as ranks, each rank reads whole files; otherwise
/// several ranks read the rows of one file together. Points are in the same order across the ranks as in one process.
/// All ranks get the names of the columns of the first file, and float64 if a file has it. The first rank prints a
/// description of the input unless --quiet is given, and sets `origin` to the origin of all points. Collective. Throws
/// RanksFailed, also if no point remains.
[[nodiscard]] io::FilePoints read_share(const Input& input, parts::Communicator& ranks,
                                        const parts::MachineShare& machine, io::PointsOrigin& origin);

/// Returns the description of all points on the first rank. share, origin: from read_share(). On other ranks only the
/// number, dimensions and precision of the points are valid. Collective.
[[nodiscard]] io::ResultsInput results_input(parts::Communicator& ranks, const io::FilePoints& share,
                                             io::PointsOrigin origin);

}  // namespace epsflow::cli
