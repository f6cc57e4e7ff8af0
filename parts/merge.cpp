#include <epsflow/parts/merge.hpp>

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

#include <epsflow/core/error.hpp>

namespace epsflow::parts {
namespace {

constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();

/// Numbers of all ranks, in blocks that follow each other.
class Blocks {
 public:
  /// mine: how many this rank has.
  Blocks(Exchange& exchange, std::uint64_t mine) : begins_(static_cast<std::size_t>(exchange.size()) + 1) {
    begins_[static_cast<std::size_t>(exchange.rank()) + 1] = mine;
    exchange.sum(std::span(begins_));
    std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
    first_ = begins_[static_cast<std::size_t>(exchange.rank())];
  }
  /// The first of this rank.
  [[nodiscard]] std::uint64_t first() const noexcept { return first_; }
  [[nodiscard]] std::uint64_t all() const noexcept { return begins_.back(); }
  [[nodiscard]] std::size_t rank_of(std::uint64_t number) const noexcept {
    return static_cast<std::size_t>(std::upper_bound(begins_.begin(), begins_.end(), number) - begins_.begin()) - 1;
  }

 private:
  std::vector<std::uint64_t> begins_;
  std::uint64_t first_ = 0;
};

/// Asks each rank for values of its own, and answers what is asked here. value_of(k): of number k, which is this rank's. Returns
/// the answers in the order of `numbers`. Collective.
template <class F>
std::vector<std::uint64_t> ask(Exchange& exchange, const Blocks& blocks, std::span<const std::uint64_t> numbers,
                               F&& value_of) {
  Letters<std::uint64_t> letters(static_cast<std::size_t>(exchange.size()));
  std::vector<std::uint32_t> rank_of(numbers.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    rank_of[i] = static_cast<std::uint32_t>(blocks.rank_of(numbers[i]));
    letters[rank_of[i]].push_back(numbers[i]);
  }
  letters = all_to_all(exchange, letters);
  for (auto& letter : letters) {
    for (std::uint64_t& number : letter) number = value_of(number - blocks.first());
  }
  letters = all_to_all(exchange, letters);
  std::vector<std::size_t> next(letters.size(), 0);
  std::vector<std::uint64_t> answers(numbers.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) answers[i] = letters[rank_of[i]][next[rank_of[i]]++];
  return answers;
}

struct Told {
  std::uint64_t number;
  std::uint64_t value;
};

/// Tells each rank values of its numbers: calls take(k, value) for those of this rank. Collective.
template <class F>
void tell(Exchange& exchange, const Blocks& blocks, const std::vector<Told>& all, F&& take) {
  Letters<Told> letters(static_cast<std::size_t>(exchange.size()));
  for (const Told& told : all) letters[blocks.rank_of(told.number)].push_back(told);
  letters = all_to_all(exchange, letters);
  for (const auto& letter : letters) {
    for (const auto& [number, value] : letter) take(number - blocks.first(), value);
  }
}

/// Clusters of this rank that have shared points, in a forest whose roots stand for components.
class Components {
 public:
  Components(Exchange& exchange, const Blocks& blocks, std::uint64_t clusters)
      : exchange_(exchange), blocks_(blocks), place_(clusters, kNowhere) {}

  /// mine: a cluster of this rank; other: of any.
  void tie(std::uint64_t mine, std::uint64_t other) { ties_.push_back({mine, other}); }

  void find() {
    const auto by_ends = [](const Told& a, const Told& b) {
      return std::pair(a.number, a.value) < std::pair(b.number, b.value);
    };
    const auto same = [](const Told& a, const Told& b) { return a.number == b.number && a.value == b.value; };
    const auto simplify = [&] {
      std::sort(ties_.begin(), ties_.end(), by_ends);
      ties_.erase(std::unique(ties_.begin(), ties_.end(), same), ties_.end());
    };
    simplify();
    // Both ends know of a tie.
    std::vector<Told> back;
    for (const auto& [mine, other] : ties_) back.push_back({other, mine});
    tell(exchange_, blocks_, back, [&](std::uint64_t k, std::uint64_t other) { tie(blocks_.first() + k, other); });
    simplify();
    for (const Told& tie : ties_) enlist(tie.number - blocks_.first());
    parent_ = members_;
    grand_ = members_;
    std::uint64_t changed = 1;
    while (changed > 0) {
      changed = exchange_.sum(round() ? std::uint64_t{1} : 0);
    }
  }

  /// [members] clusters that have ties, and the root of each.
  [[nodiscard]] std::span<const std::uint64_t> members() const noexcept { return members_; }
  [[nodiscard]] std::span<const std::uint64_t> roots() const noexcept { return parent_; }

 private:
  static constexpr std::uint32_t kNowhere = std::numeric_limits<std::uint32_t>::max();

  void enlist(std::uint64_t k) {
    if (place_[k] != kNowhere) return;
    place_[k] = static_cast<std::uint32_t>(members_.size());
    members_.push_back(blocks_.first() + k);
  }

  /// Whether anything changed here.
  bool round() {
    std::vector<std::uint64_t> others;
    for (const Told& tie : ties_) others.push_back(tie.value);
    const std::vector<std::uint64_t> of_others =
        ask(exchange_, blocks_, others, [&](std::uint64_t k) { return grand_[place_[k]]; });
    std::vector<Told> hooks;
    std::vector<std::uint64_t> next = parent_;
    for (std::size_t i = 0; i < ties_.size(); ++i) {
      const std::size_t me = place_[ties_[i].number - blocks_.first()];
      if (of_others[i] < parent_[me]) hooks.push_back({parent_[me], of_others[i]});
      next[me] = std::min({next[me], of_others[i], grand_[me]});
    }
    tell(exchange_, blocks_, hooks,
         [&](std::uint64_t k, std::uint64_t value) { next[place_[k]] = std::min(next[place_[k]], value); });
    parent_ = std::move(next);
    std::vector<std::uint64_t> grand =
        ask(exchange_, blocks_, parent_, [&](std::uint64_t k) { return parent_[place_[k]]; });
    const bool changed = grand != grand_;
    grand_ = std::move(grand);
    return changed;
  }

  Exchange& exchange_;
  const Blocks& blocks_;
  std::vector<std::uint32_t> place_;  ///< [clusters] in members_, or kNowhere
  std::vector<Told> ties_;            ///< a cluster of this rank, and another
  std::vector<std::uint64_t> members_;
  std::vector<std::uint64_t> parent_;
  std::vector<std::uint64_t> grand_;  ///< parents of parents
};

/// Equal pieces of 0, 1, …, all - 1 for the ranks.
std::size_t piece_of(std::uint64_t number, std::uint64_t all, int ranks) {
  const auto count = static_cast<std::uint64_t>(ranks);
  const std::uint64_t piece = std::max<std::uint64_t>(1, (all + count - 1) / count);
  return static_cast<std::size_t>(number / piece);
}

/// The rank of each value among those of all ranks, which differ. Collective.
std::vector<std::uint64_t> ranks_of(Exchange& exchange, std::span<const std::uint64_t> values, std::uint64_t limit) {
  Letters<std::uint64_t> letters(static_cast<std::size_t>(exchange.size()));
  std::vector<std::uint32_t> piece(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    piece[i] = static_cast<std::uint32_t>(piece_of(values[i], limit, exchange.size()));
    letters[piece[i]].push_back(values[i]);
  }
  letters = all_to_all(exchange, letters);
  std::vector<std::uint64_t> sorted;
  for (const auto& letter : letters) sorted.insert(sorted.end(), letter.begin(), letter.end());
  std::sort(sorted.begin(), sorted.end());
  const std::uint64_t below = exchange.sum_below(sorted.size());
  for (auto& letter : letters) {
    for (std::uint64_t& value : letter) {
      value =
          below + static_cast<std::uint64_t>(std::lower_bound(sorted.begin(), sorted.end(), value) - sorted.begin());
    }
  }
  letters = all_to_all(exchange, letters);
  std::vector<std::size_t> next(letters.size(), 0);
  std::vector<std::uint64_t> ranks(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) ranks[i] = letters[piece[i]][next[piece[i]]++];
  return ranks;
}

}  // namespace

MergedClusters merge_clusters(Exchange& exchange, std::span<const std::uint64_t> first_cores,
                              std::span<const std::uint32_t> shared, const Part::View& view, std::uint64_t points) {
  const Blocks blocks(exchange, first_cores.size());
  // What lent points are of is told to those who have them as ghosts.
  Letters<std::uint64_t> lent(view.lent_to.size());
  std::size_t at = 0;
  for (std::size_t r = 0; r < lent.size(); ++r) {
    for (std::size_t i = 0; i < view.lent_to[r]; ++i, ++at) {
      lent[r].push_back(shared[at] == United::kNoSet ? kNone : blocks.first() + shared[at]);
    }
  }
  lent = all_to_all(exchange, lent);
  Components components(exchange, blocks, first_cores.size());
  for (const auto& letter : lent) {
    for (const std::uint64_t other : letter) {
      const std::uint32_t mine = shared[at++];
      if (mine != United::kNoSet) components.tie(blocks.first() + mine, other);
    }
  }
  components.find();

  std::vector<std::uint64_t> first(first_cores.begin(), first_cores.end());  // of roots, of all that is under them
  std::vector<Told> firsts;
  const auto members = components.members();
  const auto roots = components.roots();
  for (std::size_t m = 0; m < members.size(); ++m) {
    firsts.push_back({roots[m], first_cores[members[m] - blocks.first()]});
  }
  tell(exchange, blocks, firsts, [&](std::uint64_t k, std::uint64_t id) { first[k] = std::min(first[k], id); });
  std::vector<std::uint8_t> is_member(first.size(), 0), is_root(first.size(), 1);
  for (std::size_t m = 0; m < members.size(); ++m) {
    is_member[members[m] - blocks.first()] = 1;
    is_root[members[m] - blocks.first()] = roots[m] == members[m] ? 1 : 0;
  }
  // What has no core point that is anybody's own is of ghosts too far away to matter, and stays without a number.
  const auto numbered = [&](std::size_t k) { return is_root[k] != 0 && first[k] != kNone; };
  std::vector<std::uint64_t> of_roots;
  for (std::size_t k = 0; k < first.size(); ++k) {
    if (numbered(k)) of_roots.push_back(first[k]);
  }
  const std::vector<std::uint64_t> ranks = ranks_of(exchange, of_roots, points);
  MergedClusters merged;
  merged.count = exchange.sum(of_roots.size());
  std::vector<std::uint64_t> numbers(first.size(), merged.count);
  for (std::size_t k = 0, next = 0; k < first.size(); ++k) {
    if (numbered(k)) numbers[k] = ranks[next++];
  }
  const std::vector<std::uint64_t> of_members =
      ask(exchange, blocks, roots, [&](std::uint64_t k) { return numbers[k]; });
  for (std::size_t m = 0; m < members.size(); ++m) numbers[members[m] - blocks.first()] = of_members[m];

  if (merged.count > static_cast<std::uint64_t>(std::numeric_limits<std::int32_t>::max())) {
    throw ResourceError(std::to_string(merged.count) + " clusters do not fit int32 labels: raise eps or minpts");
  }
  merged.global = numbers;
  std::sort(merged.global.begin(), merged.global.end());
  merged.global.erase(std::unique(merged.global.begin(), merged.global.end()), merged.global.end());
  merged.local.count = static_cast<std::uint32_t>(merged.global.size());
  merged.shared.resize(merged.global.size());
  for (std::size_t k = 0; k < numbers.size(); ++k) {
    const auto found = std::lower_bound(merged.global.begin(), merged.global.end(), numbers[k]);
    merged.local.numbers.push_back(static_cast<std::uint32_t>(found - merged.global.begin()));
    merged.shared[merged.local.numbers.back()] |= is_member[k];
  }
  return merged;
}

std::uint64_t largest_cluster(Exchange& exchange, const MergedClusters& merged, std::span<const std::uint32_t> sizes) {
  std::uint64_t largest = 0;
  Letters<Told> letters(static_cast<std::size_t>(exchange.size()));
  for (std::size_t c = 0; c < sizes.size(); ++c) {
    if (merged.shared[c] == 0) {
      largest = std::max<std::uint64_t>(largest, sizes[c]);
    } else {
      letters[piece_of(merged.global[c], merged.count, exchange.size())].push_back({merged.global[c], sizes[c]});
    }
  }
  letters = all_to_all(exchange, letters);
  std::vector<Told> all;
  for (const auto& letter : letters) all.insert(all.end(), letter.begin(), letter.end());
  std::sort(all.begin(), all.end(), [](const Told& a, const Told& b) { return a.number < b.number; });
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    sum = i > 0 && all[i].number == all[i - 1].number ? sum + all[i].value : all[i].value;
    largest = std::max(largest, sum);
  }
  return exchange.max(largest);
}

}  // namespace epsflow::parts
