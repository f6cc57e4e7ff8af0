#include <epsflow/clustering/cluster_matching.hpp>

#include <algorithm>
#include <utility>

namespace epsflow {
std::vector<SharedCore> SharedCoreCounter::take() && {
  std::erase_if(first_, [](const SharedCore& pair) { return pair.points == 0; });
  if (more_.empty()) return std::move(first_);
  const auto is_before = [](const SharedCore& a, const SharedCore& b) {
    return a.before != b.before ? a.before < b.before : a.after < b.after;
  };
  std::sort(more_.begin(), more_.end(), is_before);
  std::vector<SharedCore> all(first_.size() + more_.size());
  std::merge(first_.begin(), first_.end(), more_.begin(), more_.end(), all.begin(), is_before);
  std::size_t last = 0;
  for (std::size_t i = 1; i < all.size(); ++i) {
    if (all[last].before == all[i].before && all[last].after == all[i].after) {
      all[last].points += all[i].points;
    } else {
      all[++last] = all[i];
    }
  }
  all.resize(last + 1);
  return all;
}

std::vector<std::uint32_t> continued_clusters(std::span<const SharedCore> shared, std::span<const std::uint64_t> ids,
                                              std::size_t later) {
  std::vector<std::uint32_t> continued(later, kNoCluster);  // indices of pairs, and at the end of earlier clusters
  for (std::size_t i = 0; i < shared.size();) {
    std::size_t most = i;
    std::size_t end = i + 1;
    for (; end < shared.size() && shared[end].before == shared[i].before; ++end) {
      if (shared[end].points > shared[most].points) most = end;
    }
    const SharedCore& may = shared[most];
    std::uint32_t& chosen = continued[may.after];
    if (chosen == kNoCluster || may.points > shared[chosen].points ||
        (may.points == shared[chosen].points && ids[may.before] < ids[shared[chosen].before])) {
      chosen = static_cast<std::uint32_t>(most);
    }
    i = end;
  }
  for (std::uint32_t& chosen : continued) {
    if (chosen != kNoCluster) chosen = shared[chosen].before;
  }
  return continued;
}

void ClusterChanges::assign(std::span<const SharedCore> shared, std::size_t earlier, std::size_t later) {
  rows_.clear();
  members_.clear();
  rows_.reserve(std::max(earlier, later));
  members_.reserve(earlier + later);
  std::vector<std::uint32_t> sources(later, 0);  // the number of earlier clusters that each later one shares with
  for (const SharedCore& pair : shared) ++sources[pair.after];
  const auto add = [&](ClusterChange kind, std::uint32_t before, std::uint32_t after) {
    rows_.push_back({kind, members_.size() - before - after, before, after});
  };
  /// Calls f(cluster, its pairs), which follow each other.
  const auto each_earlier = [&](auto&& f) {
    std::size_t begin = 0;
    for (std::uint32_t c = 0; c < earlier; ++c) {
      std::size_t end = begin;
      while (end < shared.size() && shared[end].before == c) ++end;
      f(c, shared.subspan(begin, end - begin));
      begin = end;
    }
  };
  for (std::uint32_t c = 0; c < later; ++c) {
    if (sources[c] > 0) continue;
    members_.push_back(c);
    add(ClusterChange::born, 0, 1);
  }
  each_earlier([&](std::uint32_t c, std::span<const SharedCore> pairs) {
    if (pairs.size() != 1 || sources[pairs.front().after] != 1) return;
    members_.push_back(c);
    members_.push_back(pairs.front().after);
    add(ClusterChange::continued, 1, 1);
  });
  std::vector<SharedCore> merging;
  for (const SharedCore& pair : shared) {
    if (sources[pair.after] > 1) merging.push_back(pair);
  }
  std::stable_sort(merging.begin(), merging.end(),
                   [](const SharedCore& a, const SharedCore& b) { return a.after < b.after; });
  for (std::size_t i = 0; i < merging.size();) {
    const std::uint32_t into = merging[i].after;
    for (const std::size_t end = i + sources[into]; i < end; ++i) members_.push_back(merging[i].before);
    members_.push_back(into);
    add(ClusterChange::merged, sources[into], 1);
  }
  each_earlier([&](std::uint32_t c, std::span<const SharedCore> pairs) {
    if (pairs.size() < 2) return;
    members_.push_back(c);
    for (const SharedCore& pair : pairs) members_.push_back(pair.after);
    add(ClusterChange::split, 1, static_cast<std::uint32_t>(pairs.size()));
  });
  each_earlier([&](std::uint32_t c, std::span<const SharedCore> pairs) {
    if (!pairs.empty()) return;
    members_.push_back(c);
    add(ClusterChange::ended, 1, 0);
  });
}

ClusterChanges::Change ClusterChanges::operator[](std::size_t i) const noexcept {
  const Row& row = rows_[i];
  const std::span<const std::uint32_t> members(members_.data() + row.first, row.before + row.after);
  return {row.kind, members.first(row.before), members.subspan(row.before)};
}

}  // namespace epsflow
