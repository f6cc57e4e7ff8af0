// Numbers that ranks have in consecutive blocks, such as the ids of rows, and their values.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include <epsflow/parts/communicator.hpp>

namespace epsflow::parts {

/// A block of numbers for each rank, from 0 on. The numbers of a rank follow the numbers of lower ranks.
class RankBlocks {
 public:
  RankBlocks() = default;
  /// mine: how many numbers this rank has. Collective.
  RankBlocks(Communicator& communicator, std::uint64_t mine)
      : begins_(static_cast<std::size_t>(communicator.size()) + 1), me_(static_cast<std::size_t>(communicator.rank())) {
    begins_[me_ + 1] = mine;
    communicator.sum(std::span(begins_));
    std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
  }

  /// Returns the first number of a rank.
  [[nodiscard]] std::uint64_t first(std::size_t rank) const noexcept { return begins_[rank]; }
  /// Returns the first number of this rank.
  [[nodiscard]] std::uint64_t first() const noexcept { return begins_[me_]; }
  /// Returns the rank that has a number. O(log ranks).
  [[nodiscard]] std::size_t rank_of(std::uint64_t number) const noexcept {
    return static_cast<std::size_t>(std::upper_bound(begins_.begin(), begins_.end(), number) - begins_.begin()) - 1;
  }

 private:
  std::vector<std::uint64_t> begins_;  ///< [ranks + 1]
  std::size_t me_ = 0;
};

/// Requests the values of numbers from the ranks that have them. value_of(k): returns the value of the k-th number of
/// this rank, from 0 on. Returns the values in the order of `numbers`, which may repeat. Collective.
template <class Value, class Numbers, class F>
[[nodiscard]] std::vector<Value> ask(Communicator& communicator, const RankBlocks& blocks, const Numbers& numbers,
                                     F&& value_of) {
  PerRank<typename Numbers::value_type> asked(static_cast<std::size_t>(communicator.size()));
  std::vector<std::uint32_t> rank_of(numbers.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    rank_of[i] = static_cast<std::uint32_t>(blocks.rank_of(numbers[i]));
    asked[rank_of[i]].push_back(numbers[i]);
  }
  asked = all_to_all(communicator, asked);
  PerRank<Value> values(asked.size());
  for (std::size_t r = 0; r < asked.size(); ++r) {
    for (const auto number : asked[r]) values[r].push_back(value_of(number - blocks.first()));
    asked[r] = {};
  }
  values = all_to_all(communicator, values);
  std::vector<std::size_t> next(values.size(), 0);
  std::vector<Value> answers(numbers.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) answers[i] = values[rank_of[i]][next[rank_of[i]]++];
  return answers;
}

}  // namespace epsflow::parts
