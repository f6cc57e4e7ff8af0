#include <epsflow/parts/merge.hpp>

#include <tbb/parallel_sort.h>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include <epsflow/core/error.hpp>
#include <epsflow/core/parallel.hpp>
#include <epsflow/parts/for_all.hpp>
#include <epsflow/parts/rank_blocks.hpp>
#include <epsflow/parts/ranked_bits.hpp>

namespace epsflow::parts {
namespace {

constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();

struct NumberedValue {
  std::uint64_t number;
  std::uint64_t value;
};

bool by_ends(const NumberedValue& a, const NumberedValue& b) {
  return std::pair(a.number, a.value) < std::pair(b.number, b.value);
}

/// Sends values to the ranks of their numbers. Calls take(k, value) for values of this rank's k-th number. Collective.
template <class F>
void tell(Communicator& communicator, const RankBlocks& blocks, const std::vector<NumberedValue>& all, F&& take) {
  PerRank<NumberedValue> letters(static_cast<std::size_t>(communicator.size()));
  for (const NumberedValue& told : all) letters[blocks.rank_of(told.number)].push_back(told);
  letters = all_to_all(communicator, letters);
  for (const auto& letter : letters) {
    for (const auto& [number, value] : letter) take(number - blocks.first(), value);
  }
}

/// The clusters of this rank that have shared points, in a forest whose roots represent components.
class Components {
 public:
  Components(Communicator& communicator, const RankBlocks& blocks, std::uint64_t clusters)
      : communicator_(communicator), blocks_(blocks), member_index_(clusters, kNowhere) {}

  /// Adds a tie. mine: a cluster of this rank; other: of any rank.
  void tie(std::uint64_t mine, std::uint64_t other) {
    // Skips most repetitions: most ghosts belong to the same few clusters.
    NumberedValue& seen = seen_[(mine ^ (other * 0x9E3779B97F4A7C15U >> 40)) % seen_.size()];
    if (seen.number == mine && seen.value == other) return;
    seen = {mine, other};
    ties_.push_back(seen);
  }

  void find() {
    const auto same = [](const NumberedValue& a, const NumberedValue& b) {
      return a.number == b.number && a.value == b.value;
    };
    const auto simplify = [&] {
      tbb::parallel_sort(ties_.begin(), ties_.end(), by_ends);
      ties_.erase(std::unique(ties_.begin(), ties_.end(), same), ties_.end());
    };
    simplify();
    // Both ends of a tie store it.
    std::vector<NumberedValue> back;
    for (const auto& [mine, other] : ties_) back.push_back({other, mine});
    tell(communicator_, blocks_, back, [&](std::uint64_t k, std::uint64_t other) { tie(blocks_.first() + k, other); });
    simplify();
    for (const NumberedValue& tie : ties_) enlist(tie.number - blocks_.first());  // members become ascending
    parent_ = members_;
    grand_ = members_;
    std::uint64_t changed = 1;
    while (changed > 0) {
      changed = communicator_.sum(round() ? std::uint64_t{1} : 0);
    }
  }

  /// [members] clusters that have ties, ascending. roots() has the root of each.
  [[nodiscard]] std::span<const std::uint64_t> members() const noexcept { return members_; }
  [[nodiscard]] std::span<const std::uint64_t> roots() const noexcept { return parent_; }

 private:
  static constexpr std::uint32_t kNowhere = std::numeric_limits<std::uint32_t>::max();

  void enlist(std::uint64_t k) {
    if (member_index_[k] != kNowhere) return;
    member_index_[k] = static_cast<std::uint32_t>(members_.size());
    members_.push_back(blocks_.first() + k);
  }

  /// Runs one round of FastSV. Returns true if anything changed on this rank.
  bool round() {
    std::vector<std::uint64_t> others;
    for (const NumberedValue& tie : ties_) others.push_back(tie.value);
    const std::vector<std::uint64_t> of_others =
        ask<std::uint64_t>(communicator_, blocks_, others, [&](std::uint64_t k) { return grand_[member_index_[k]]; });
    std::vector<NumberedValue> hooks;
    std::vector<std::uint64_t> next = parent_;
    for (std::size_t i = 0; i < ties_.size(); ++i) {
      const std::size_t me = member_index_[ties_[i].number - blocks_.first()];
      if (of_others[i] < parent_[me]) hooks.push_back({parent_[me], of_others[i]});
      next[me] = std::min({next[me], of_others[i], grand_[me]});
    }
    tell(communicator_, blocks_, hooks, [&](std::uint64_t k, std::uint64_t value) {
      next[member_index_[k]] = std::min(next[member_index_[k]], value);
    });
    parent_ = std::move(next);
    std::vector<std::uint64_t> grand =
        ask<std::uint64_t>(communicator_, blocks_, parent_, [&](std::uint64_t k) { return parent_[member_index_[k]]; });
    const bool changed = grand != grand_;
    grand_ = std::move(grand);
    return changed;
  }

  Communicator& communicator_;
  const RankBlocks& blocks_;
  std::vector<std::uint32_t> member_index_;  ///< [clusters] index in members_, or kNowhere
  std::vector<NumberedValue> ties_;          ///< a cluster of this rank, and another cluster
  std::vector<NumberedValue> seen_ = std::vector<NumberedValue>(1 << 12, {kNone, kNone});  ///< a cache of recent ties
  std::vector<std::uint64_t> members_;
  std::vector<std::uint64_t> parent_;
  std::vector<std::uint64_t> grand_;  ///< parents of parents
};

/// Divides the numbers 0 to all - 1 into equal pieces, one for each rank.
class Pieces {
 public:
  Pieces(std::uint64_t all, std::size_t ranks) : size_(std::max<std::uint64_t>(1, (all + ranks - 1) / ranks)) {}

  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  [[nodiscard]] std::uint64_t first(std::size_t rank) const noexcept { return rank * size_; }
  [[nodiscard]] std::size_t rank_of(std::uint64_t number) const noexcept {
    return static_cast<std::size_t>(number / size_);
  }

 private:
  std::uint64_t size_;
};

/// The number of ids on all ranks, and for each id of this rank how many of all ids are smaller.
struct RanksOfIds {
  std::uint64_t count;
  std::vector<std::uint32_t> of_first;
  std::vector<std::uint32_t> of_second;
};

/// first, second: ids of this rank, each ascending. All ids are different and less than `limit`. Each rank marks the
/// ids of one piece of the range, one bit for each. Collective. O(ids + limit / ranks), in parallel. Throws
/// ResourceError on all ranks if there are more ids than int32 labels can number.
RanksOfIds ranks_of(Communicator& communicator, std::span<const std::uint64_t> first,
                    std::span<const std::uint64_t> second, std::uint64_t limit) {
  const auto ranks = static_cast<std::size_t>(communicator.size());
  const std::uint64_t count = communicator.sum(first.size() + second.size());
  if (count > static_cast<std::uint64_t>(std::numeric_limits<std::int32_t>::max())) {
    throw ResourceError(std::to_string(count) + " clusters do not fit int32 labels: raise eps or minpts");
  }
  const Pieces pieces(limit, ranks);
  // The ids sent to each rank: a stretch of first, followed by a stretch of second.
  struct IdStretch {
    std::span<const std::uint64_t> ids;
    std::size_t first;    ///< index of the stretch in first or second
    std::uint64_t least;  ///< the smallest id of the piece
  };
  std::vector<IdStretch> stretches;
  std::vector<std::uint64_t> counts;
  std::size_t told_of[] = {0, 0};
  for (std::size_t r = 0; r < ranks; ++r) {
    counts.push_back(0);
    for (const std::size_t run : {0, 1}) {
      const auto ids = (run == 0 ? first : second).subspan(told_of[run]);
      const auto end = std::lower_bound(ids.begin(), ids.end(), pieces.first(r + 1));
      stretches.push_back({ids.first(static_cast<std::size_t>(end - ids.begin())), told_of[run], pieces.first(r)});
      told_of[run] += stretches.back().ids.size();
      counts.back() += stretches.back().ids.size();
    }
  }
  const auto begins = begins_of(counts);
  Buffer<std::uint32_t> told(begins.back());
  std::size_t offset = 0;
  for (const IdStretch& stretch : stretches) {
    for_all(stretch.ids.size(),
            [&](std::size_t i) { told[offset + i] = static_cast<std::uint32_t>(stretch.ids[i] - stretch.least); });
    offset += stretch.ids.size();
  }
  counts = communicator.exchange_counts(counts);
  const auto requested_begins = begins_of(counts);
  Buffer<std::uint32_t> asked(requested_begins.back());
  communicator.all_to_all(told.data(), begins, asked.data(), requested_begins, sizeof(std::uint32_t));
  RankedBits marked(pieces.size());
  for_all(asked.size(), [&](std::size_t i) { marked.put(asked[i]); });
  const auto below = static_cast<std::uint32_t>(communicator.exclusive_scan(marked.count()));
  for_all(asked.size(), [&](std::size_t i) { asked[i] = below + marked.rank(asked[i]); });
  communicator.all_to_all(asked.data(), requested_begins, told.data(), begins, sizeof(std::uint32_t));
  RanksOfIds answer{count, std::vector<std::uint32_t>(first.size()), std::vector<std::uint32_t>(second.size())};
  offset = 0;
  for (std::size_t k = 0; k < stretches.size(); ++k) {
    std::uint32_t* const to = (k % 2 == 0 ? answer.of_first : answer.of_second).data() + stretches[k].first;
    for_all(stretches[k].ids.size(), [&](std::size_t i) { to[i] = told[offset + i]; });
    offset += stretches[k].ids.size();
  }
  return answer;
}

/// A cluster of this rank that is the root of a component, and the smallest core point of the component.
struct RootCluster {
  std::uint64_t cluster;
  std::uint64_t first_core;
};

/// Returns the roots of this rank, ascending by core point.
std::vector<RootCluster> root_clusters(Communicator& communicator, const RankBlocks& blocks,
                                       const Components& components, std::span<const std::uint64_t> first_cores) {
  const auto members = components.members();
  std::vector<NumberedValue> of_roots;
  for (std::size_t m = 0; m < members.size(); ++m) {
    of_roots.push_back({components.roots()[m], first_cores[members[m] - blocks.first()]});
  }
  std::vector<RootCluster> found;
  tell(communicator, blocks, of_roots, [&](std::uint64_t k, std::uint64_t id) { found.push_back({k, id}); });
  std::sort(found.begin(), found.end(), [](const RootCluster& a, const RootCluster& b) {
    return std::pair(a.cluster, a.first_core) < std::pair(b.cluster, b.first_core);
  });
  found.erase(std::unique(found.begin(), found.end(),
                          [](const RootCluster& a, const RootCluster& b) { return a.cluster == b.cluster; }),
              found.end());
  // A component without an owned core point consists of outer ghosts only. It gets no number.
  std::erase_if(found, [](const RootCluster& root) { return root.first_core == kNone; });
  std::sort(found.begin(), found.end(),
            [](const RootCluster& a, const RootCluster& b) { return a.first_core < b.first_core; });
  return found;
}

/// Calls f(position, cluster) for the clusters in [0, end) that are not members, in parallel. position: index among
/// these. members: ascending.
template <class F>
void for_others(std::size_t end, std::span<const std::uint32_t> members, F&& f) {
  parallel_ranges(end, 1 << 13, [&](std::size_t first, std::size_t last) {
    auto member = std::lower_bound(members.begin(), members.end(), first);
    std::size_t position = first - static_cast<std::size_t>(member - members.begin());
    for (std::size_t k = first; k < last; ++k) {
      if (member != members.end() && *member == k) {
        ++member;
      } else {
        f(position++, k);
      }
    }
  });
}

/// numbers: [clusters] number among the `count` clusters of all parts, or `count` if there is none. members: clusters
/// that other parts have points of, ascending. others: numbers of clusters that are not members, ascending; none of
/// them is the number of a member. The remaining clusters have no number.
MergedClusters number_locally(std::span<const std::uint32_t> numbers, std::span<const std::uint32_t> members,
                              std::span<const std::uint32_t> others, std::uint64_t count) {
  std::vector<std::uint32_t> of_members;
  for (const std::uint32_t k : members) of_members.push_back(numbers[k]);
  std::sort(of_members.begin(), of_members.end());
  of_members.erase(std::unique(of_members.begin(), of_members.end()), of_members.end());
  const bool none = numbers.size() > members.size() + others.size();
  const bool none_of_members = !of_members.empty() && of_members.back() == count;
  const std::size_t all = others.size() + of_members.size() + (none && !none_of_members ? 1 : 0);
  MergedClusters merged;
  merged.count = count;
  merged.local.count = static_cast<std::uint32_t>(all);
  merged.local.numbers.resize(numbers.size());
  merged.global.resize(all);
  merged.shared.assign(all, 0);
  if (none) merged.global.back() = static_cast<std::uint32_t>(count);
  // The local number of a cluster is the number of smaller ones of both kinds.
  const auto below = [](std::span<const std::uint32_t> ascending, std::uint32_t number) {
    return static_cast<std::size_t>(std::lower_bound(ascending.begin(), ascending.end(), number) - ascending.begin());
  };
  for_others(numbers.size(), members, [&](std::size_t position, std::size_t k) {
    const std::size_t local = position < others.size() ? position + below(of_members, numbers[k]) : all - 1;
    merged.local.numbers[k] = static_cast<std::uint32_t>(local);
    if (position < others.size()) merged.global[local] = numbers[k];
  });
  std::vector<std::uint32_t> local_of(of_members.size());
  for (std::size_t m = 0; m < of_members.size(); ++m) {
    const std::size_t local = m + below(others, of_members[m]);
    local_of[m] = static_cast<std::uint32_t>(local);
    merged.global[local] = of_members[m];
    merged.shared[local] = 1;
  }
  for (const std::uint32_t k : members) merged.local.numbers[k] = local_of[below(of_members, numbers[k])];
  return merged;
}

}  // namespace

MergedClusters merge_clusters(Communicator& communicator, std::span<const std::uint64_t> first_cores,
                              std::span<const std::uint32_t> shared, const PartView& view, std::uint64_t points) {
  const RankBlocks blocks(communicator, first_cores.size());
  // Each rank sends the clusters of the points of its send list to the ranks that have them as ghosts.
  std::vector<std::uint64_t> send_list(view.send_begins.back()), halo(view.inner_begins.back());
  for (std::size_t i = 0; i < send_list.size(); ++i) {
    send_list[i] = shared[i] == UnitedPart::kNoSet ? kNone : blocks.first() + shared[i];
  }
  communicator.all_to_all(send_list.data(), view.send_begins, halo.data(), view.inner_begins, sizeof(std::uint64_t));
  Components components(communicator, blocks, first_cores.size());
  for (std::size_t i = 0; i < halo.size(); ++i) {
    const std::uint32_t mine = shared[send_list.size() + i];
    if (mine != UnitedPart::kNoSet) components.tie(blocks.first() + mine, halo[i]);
  }
  components.find();

  std::vector<std::uint32_t> members;
  for (const std::uint64_t member : components.members()) {
    members.push_back(static_cast<std::uint32_t>(member - blocks.first()));
  }
  const std::vector<RootCluster> roots = root_clusters(communicator, blocks, components, first_cores);
  // Clusters without ties keep their own first core points; those without an own core point come last.
  const auto owned =
      static_cast<std::size_t>(std::lower_bound(first_cores.begin(), first_cores.end(), kNone) - first_cores.begin());
  const auto members_owned = std::lower_bound(members.begin(), members.end(), owned) - members.begin();
  Buffer<std::uint64_t> of_others(owned - static_cast<std::size_t>(members_owned));
  for_others(owned, members, [&](std::size_t position, std::size_t k) { of_others[position] = first_cores[k]; });
  std::vector<std::uint64_t> of_roots;
  of_roots.reserve(roots.size());
  for (const RootCluster& root : roots) of_roots.push_back(root.first_core);
  const RanksOfIds ranks = ranks_of(communicator, of_others.span(), of_roots, points);
  std::vector<std::uint32_t> numbers(first_cores.size());
  for_others(numbers.size(), members, [&](std::size_t position, std::size_t k) {
    numbers[k] = position < ranks.of_first.size() ? ranks.of_first[position] : static_cast<std::uint32_t>(ranks.count);
  });
  for (const std::uint32_t member : members) numbers[member] = static_cast<std::uint32_t>(ranks.count);
  for (std::size_t i = 0; i < roots.size(); ++i) numbers[roots[i].cluster] = ranks.of_second[i];
  const std::vector<std::uint64_t> of_members = ask<std::uint64_t>(
      communicator, blocks, components.roots(), [&](std::uint64_t k) { return std::uint64_t{numbers[k]}; });
  for (std::size_t m = 0; m < members.size(); ++m) numbers[members[m]] = static_cast<std::uint32_t>(of_members[m]);
  return number_locally(numbers, members, ranks.of_first, ranks.count);
}

std::uint64_t largest_cluster(Communicator& communicator, const MergedClusters& merged,
                              std::span<const std::uint32_t> sizes) {
  const Pieces pieces(merged.count + 1, static_cast<std::size_t>(communicator.size()));  // one more for no cluster
  PerRank<NumberedValue> letters(static_cast<std::size_t>(communicator.size()));
  std::uint64_t largest = parallel_reduce(
      sizes.size(), 1 << 14, std::uint64_t{0},
      [&](std::size_t begin, std::size_t end, std::uint64_t most) {
        for (std::size_t c = begin; c < end; ++c) {
          if (merged.shared[c] == 0) most = std::max<std::uint64_t>(most, sizes[c]);
        }
        return most;
      },
      [](std::uint64_t a, std::uint64_t b) { return std::max(a, b); });
  const auto& shared = merged.shared;
  for (auto at = std::find(shared.begin(), shared.end(), 1); at != shared.end();
       at = std::find(at + 1, shared.end(), 1)) {
    const auto c = static_cast<std::size_t>(at - shared.begin());
    if (c < sizes.size()) letters[pieces.rank_of(merged.global[c])].push_back({merged.global[c], sizes[c]});
  }
  letters = all_to_all(communicator, letters);
  std::vector<NumberedValue> all;
  for (const auto& letter : letters) all.insert(all.end(), letter.begin(), letter.end());
  std::sort(all.begin(), all.end(), [](const NumberedValue& a, const NumberedValue& b) { return a.number < b.number; });
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    sum = i > 0 && all[i].number == all[i - 1].number ? sum + all[i].value : all[i].value;
    largest = std::max(largest, sum);
  }
  return communicator.max(largest);
}

}  // namespace epsflow::parts
