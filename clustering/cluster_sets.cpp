#include <epsflow/clustering/cluster_sets.hpp>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include <epsflow/clustering/union_find.hpp>
#include <epsflow/core/error.hpp>
#include <epsflow/core/parallel.hpp>

namespace epsflow::clustering {
ClusterSets::ClusterSets(const ClusterSource& source, std::uint32_t least, bool core_since, const CancelToken& cancel)
    : source_(source), gains_(source, least, cancel), numbers_(source.nodes()) {
  std::fill(numbers_.begin(), numbers_.end(), kNoCluster);
  if (!core_since) return;
  core_since_ = Labels(source.labelled());
  std::fill_n(core_since_.data(), core_since_.size(), Clusters::kNeverCore);
}

void ClusterSets::add(std::span<std::uint32_t> parent, const CancelToken& cancel) {
  all_before_ += sets_.size();
  merge(gains(parent, cancel), parent);
  if (!core_since_.empty()) record_core_since(parent, cancel);
}

/// Returns for each block the sets of its new core points, with these points only. A set may occur more than once.
std::vector<std::vector<ClusterSets::Set>> ClusterSets::gains(std::span<std::uint32_t> parent,
                                                              const CancelToken& cancel) const {
  const auto ids = source_.order();
  const std::size_t labelled = source_.labelled();
  const UnionFind sets(parent);
  std::vector<std::vector<Set>> gains(source_.blocks().size());
  parallel_for(gains.size(), [&](std::size_t b) {
    if (cancel.cancelled()) return;
    for (const auto& [position, node] : gained(b)) {
      const std::uint32_t id = ids[position];
      if (id >= labelled) continue;  // a ghost is core if its origin is
      const std::uint32_t root = sets.find(node);
      // Consecutive points are mostly in one set.
      if (gains[b].empty() || gains[b].back().root != root) {
        gains[b].push_back({root, id, 1});
      } else {
        gains[b].back().first = std::min(gains[b].back().first, id);
        ++gains[b].back().core;
      }
    }
  });
  cancel.check();
  return gains;
}

void ClusterSets::merge(const std::vector<std::vector<Set>>& gains, std::span<std::uint32_t> parent) {
  const UnionFind find(parent);
  for (const Set& set : sets_) numbers_[set.root] = kNoCluster;
  // Old sets are visited in ascending order: the first one in a new set has its smallest id.
  std::vector<Set> sets;
  joined_.resize(sets_.size());
  const auto index_of = [&](std::uint32_t root, std::uint32_t first) {
    if (numbers_[root] == kNoCluster) {
      numbers_[root] = static_cast<std::uint32_t>(sets.size());
      sets.push_back({root, first, 0});
    }
    return numbers_[root];
  };
  for (std::size_t k = 0; k < sets_.size(); ++k) {
    joined_[k] = index_of(find.find(sets_[k].root), sets_[k].first);
    sets[joined_[k]].core += sets_[k].core;
  }
  const std::size_t old = sets.size();
  for (const std::vector<Set>& block : gains) {
    for (const Set& gain : block) {
      Set& set = sets[index_of(gain.root, gain.first)];
      set.first = std::min(set.first, gain.first);
      set.core += gain.core;
      core_ += gain.core;
    }
  }
  if (sets.size() > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
    throw ResourceError(std::to_string(sets.size()) + " clusters do not fit int32 labels: raise eps or minpts");
  }
  // Few of the old sets lose their order, as few get a smaller id; these are sorted with the new ones.
  const auto by_first = [](const Set& a, const Set& b) { return a.first < b.first; };
  std::vector<Set> in_order, others;
  std::uint32_t last = 0;
  for (std::size_t k = 0; k < sets.size(); ++k) {
    const bool fits = k < old && (in_order.empty() || sets[k].first > last);
    (fits ? in_order : others).push_back(sets[k]);
    if (fits) last = sets[k].first;
  }
  std::sort(others.begin(), others.end(), by_first);
  std::vector<std::uint32_t> roots(old);
  for (std::size_t k = 0; k < old; ++k) roots[k] = sets[k].root;
  sets_.resize(sets.size());
  std::merge(in_order.begin(), in_order.end(), others.begin(), others.end(), sets_.begin(), by_first);
  for (std::size_t k = 0; k < sets_.size(); ++k) numbers_[sets_[k].root] = static_cast<std::uint32_t>(k);
  for (std::uint32_t& k : joined_) k = numbers_[roots[k]];
}

void ClusterSets::record_core_since(std::span<std::uint32_t> parent, const CancelToken& cancel) {
  require_countable(all_before_ + sets_.size());
  const auto ids = source_.order();
  const std::size_t labelled = source_.labelled();
  const UnionFind sets(parent);
  parallel_for(source_.blocks().size(), [&](std::size_t b) {
    if (cancel.cancelled()) return;
    for (const auto& [position, node] : gained(b)) {
      if (ids[position] >= labelled) continue;
      core_since_[ids[position]] = static_cast<std::int32_t>(all_before_ + numbers_[sets.find(node)]);
    }
  });
  cancel.check();
}

std::vector<std::uint32_t> ClusterSets::first_cores() const {
  std::vector<std::uint32_t> first(sets_.size());
  std::transform(sets_.begin(), sets_.end(), first.begin(), [](const Set& set) { return set.first; });
  return first;
}

std::vector<std::uint32_t> ClusterSets::core_counts() const {
  std::vector<std::uint32_t> core(sets_.size());
  std::transform(sets_.begin(), sets_.end(), core.begin(), [](const Set& set) { return set.core; });
  return core;
}

Clusters ClusterSets::take_clusters() {
  Clusters clusters;
  clusters.first_core = first_cores();
  clusters.core = core_counts();
  clusters.joined = std::exchange(joined_, {});
  return clusters;
}

}  // namespace epsflow::clustering
