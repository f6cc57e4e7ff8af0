#include <epsflow/clustering/cluster_matching.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

namespace epsflow {
namespace {

/// The lists of indices that belong to each cluster of one side.
struct Partners {
  std::vector<std::size_t> starts;  ///< [clusters + 1]
  std::vector<std::uint32_t> of;

  [[nodiscard]] std::span<const std::uint32_t> operator[](std::size_t cluster) const noexcept {
    return {of.data() + starts[cluster], starts[cluster + 1] - starts[cluster]};
  }
};

/// Lists the partners of the clusters of one side, in the order of `shared`.
Partners partners_of(std::span<const SharedCore> shared, std::size_t clusters, std::uint32_t SharedCore::*own,
                     std::uint32_t SharedCore::*other) {
  Partners found{std::vector<std::size_t>(clusters + 1, 0), std::vector<std::uint32_t>(shared.size())};
  for (const SharedCore& pair : shared) ++found.starts[pair.*own + 1];
  std::partial_sum(found.starts.begin(), found.starts.end(), found.starts.begin());
  std::vector<std::size_t> next(found.starts.begin(), found.starts.end() - 1);
  for (const SharedCore& pair : shared) found.of[next[pair.*own]++] = pair.*other;
  return found;
}

}  // namespace

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
  std::vector<std::uint32_t> continued(later, kNoCluster);
  std::vector<std::uint64_t> points(later, 0);
  for (std::size_t i = 0; i < shared.size();) {
    std::size_t most = i;
    std::size_t end = i + 1;
    for (; end < shared.size() && shared[end].before == shared[i].before; ++end) {
      if (shared[end].points > shared[most].points) most = end;
    }
    const SharedCore& may = shared[most];
    std::uint32_t& chosen = continued[may.after];
    if (chosen == kNoCluster || may.points > points[may.after] ||
        (may.points == points[may.after] && ids[may.before] < ids[chosen])) {
      chosen = may.before;
      points[may.after] = may.points;
    }
    i = end;
  }
  return continued;
}

ClusterChanges::ClusterChanges(std::span<const SharedCore> shared, std::size_t earlier, std::size_t later) {
  const Partners after = partners_of(shared, earlier, &SharedCore::before, &SharedCore::after);
  const Partners before = partners_of(shared, later, &SharedCore::after, &SharedCore::before);
  const auto add = [&](ClusterChange kind, std::span<const std::uint32_t> from, std::span<const std::uint32_t> to) {
    rows_.push_back(
        {kind, members_.size(), static_cast<std::uint32_t>(from.size()), static_cast<std::uint32_t>(to.size())});
    members_.insert(members_.end(), from.begin(), from.end());
    members_.insert(members_.end(), to.begin(), to.end());
  };
  const auto each_later = [&](ClusterChange kind, auto&& is_such) {
    for (std::uint32_t c = 0; c < later; ++c) {
      if (is_such(before[c].size())) add(kind, before[c], {&c, 1});
    }
  };
  const auto each_earlier = [&](ClusterChange kind, auto&& is_such) {
    for (std::uint32_t c = 0; c < earlier; ++c) {
      if (is_such(after[c])) add(kind, {&c, 1}, after[c]);
    }
  };
  each_later(ClusterChange::born, [](std::size_t partners) { return partners == 0; });
  each_earlier(ClusterChange::continued, [&](std::span<const std::uint32_t> partners) {
    return partners.size() == 1 && before[partners.front()].size() == 1;
  });
  each_later(ClusterChange::merged, [](std::size_t partners) { return partners > 1; });
  each_earlier(ClusterChange::split, [](std::span<const std::uint32_t> partners) { return partners.size() > 1; });
  each_earlier(ClusterChange::ended, [](std::span<const std::uint32_t> partners) { return partners.empty(); });
}

ClusterChanges::Change ClusterChanges::operator[](std::size_t i) const noexcept {
  const Row& row = rows_[i];
  const std::span<const std::uint32_t> members(members_.data() + row.first, row.before + row.after);
  return {row.kind, members.first(row.before), members.subspan(row.before)};
}

}  // namespace epsflow
