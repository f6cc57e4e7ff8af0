#include <epsflow/parts/gathered_clusters.hpp>

#include <algorithm>

#include <epsflow/core/parallel.hpp>
#include <epsflow/parts/core_counter.hpp>

namespace epsflow::parts {
namespace {

constexpr std::uint32_t kNoCore = CoreCounter::kNoCore;

}  // namespace

GatheredClusters::GatheredClusters(Communicator& communicator, const Distribution& distribution, std::uint32_t least)
    : communicator_(communicator), distribution_(distribution), least_(least), core_since_(distribution.size()) {
  std::fill(core_since_.begin(), core_since_.end(), Clusters::kNeverCore);
}

void GatheredClusters::add(std::span<const std::int32_t> labels, std::span<const std::uint8_t> core,
                           const MergedClusters& merged, std::span<const std::uint32_t> sizes) {
  const std::uint32_t clusters = merged.local.count;
  std::vector<std::uint32_t> counts(clusters, 0), first(clusters, kNoCore);
  parallel_ranges(core_since_.size(), 1 << 14, [&](std::size_t begin, std::size_t end) {
    CoreCounter counter(counts, first);
    for (std::size_t i = begin; i < end; ++i) {
      if (core[i] == 0) continue;
      const auto cluster = static_cast<std::uint32_t>(labels[i]);
      counter.add(cluster, static_cast<std::uint32_t>(i));
      // If this exceeds the range of core_since, gather() throws.
      if (core_since_[i] == Clusters::kNeverCore) {
        core_since_[i] = static_cast<std::int32_t>(all_before_ + merged.global[cluster]);
      }
    }
  });
  EpsLevel level{.count = merged.count, .known = {}, .joined = {}};
  const auto number_of = [&](std::uint32_t cluster) { return merged.global[cluster]; };
  for (const auto& [before, point] : witnesses_) {
    level.joined.push_back({before, number_of(static_cast<std::uint32_t>(labels[point]))});
  }
  witnesses_.clear();
  for (std::uint32_t k = 0; k < clusters; ++k) {
    if (first[k] != kNoCore) witnesses_.emplace_back(number_of(k), first[k]);
    if (first[k] == kNoCore && sizes[k] == 0) continue;  // a cluster that consists of ghosts only
    const std::uint64_t id = first[k] == kNoCore ? ~std::uint64_t{0} : distribution_.id(first[k]);
    level.known.push_back({merged.global[k], id, counts[k], sizes[k]});
  }
  all_before_ += merged.count;
  levels_.push_back(std::move(level));
}

Clusters GatheredClusters::gather(std::uint32_t minpts) {
  const EpsLevel level = std::move(levels_.front());
  levels_.pop_front();
  all_gathered_ += level.count;
  require_countable(all_gathered_);
  const auto ranks = static_cast<std::size_t>(communicator_.size());
  PerRank<Known> known(ranks);
  known.front() = level.known;
  known = all_to_all(communicator_, known);
  PerRank<ParentCluster> joined(ranks);
  joined.front() = level.joined;
  joined = all_to_all(communicator_, joined);
  Clusters clusters;
  if (communicator_.rank() == 0) {
    std::vector<std::uint64_t> first(level.count, ~std::uint64_t{0});
    clusters.core.resize(level.count);
    clusters.size.resize(level.count);
    for (const auto& letter : known) {
      for (const Known& of_part : letter) {
        first[of_part.number] = std::min(first[of_part.number], of_part.first);
        clusters.core[of_part.number] += of_part.core;
        clusters.size[of_part.number] += of_part.size;
      }
    }
    clusters.first_core.assign(first.begin(), first.end());
    clusters.joined.resize(before_);
    for (const auto& letter : joined) {
      for (const auto& [before, now] : letter) clusters.joined[before] = now;
    }
  }
  before_ = level.count;
  if (minpts == least_) {
    clusters.core_since = Labels(distribution_.share());
    distribution_.return_values(communicator_, core_since_.data(), clusters.core_since.data());
  }
  return clusters;
}

}  // namespace epsflow::parts
