#include <epsflow/parts/part_lineage.hpp>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace epsflow::parts {

LineageBuilder::CoreSinceOf core_since_of_shares(Communicator& communicator, std::size_t share) {
  std::vector<std::uint64_t> firsts(static_cast<std::size_t>(communicator.size()) + 1, 0);  // first id of each rank
  firsts[static_cast<std::size_t>(communicator.rank()) + 1] = share;
  communicator.sum(std::span(firsts));
  std::partial_sum(firsts.begin(), firsts.end(), firsts.begin());
  return [&communicator, firsts](const Labels& core_since, std::span<const std::uint32_t> ids) {
    PerRank<std::uint32_t> asked(firsts.size() - 1);
    std::vector<std::uint32_t> rank_of(ids.size());
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const auto above = std::upper_bound(firsts.begin(), firsts.end(), std::uint64_t{ids[i]});
      rank_of[i] = static_cast<std::uint32_t>(above - firsts.begin() - 1);
      asked[rank_of[i]].push_back(ids[i]);
    }
    asked = all_to_all(communicator, asked);
    const std::uint64_t first = firsts[static_cast<std::size_t>(communicator.rank())];
    PerRank<std::int32_t> told(asked.size());
    for (std::size_t r = 0; r < asked.size(); ++r) {
      for (const std::uint32_t id : asked[r]) told[r].push_back(core_since[id - first]);
    }
    told = all_to_all(communicator, told);
    std::vector<std::size_t> next(told.size(), 0);
    std::vector<std::int32_t> found(ids.size());
    for (std::size_t i = 0; i < ids.size(); ++i) found[i] = told[rank_of[i]][next[rank_of[i]]++];
    return found;
  };
}

Lineage lineage(const PointSet& points, const Devices& devices, const Sweep& sweep, const RunOptions& options,
                const Observer& observer) {
  RunOptions run = options;
  run.keep = Keep::summary;
  run.clusters = true;
  run.labels = MemorySpace::host;
  run.core_mask = false;
  LineageBuilder builder = devices.ranks != nullptr
                               ? LineageBuilder(sweep, core_since_of_shares(*devices.ranks, points.host_rows().size()))
                               : LineageBuilder(sweep);
  run_each(
      points, devices, sweep, run, [&](VariantResult&& result) { builder.add(result); }, observer);
  Lineage found = builder.finish();
  return devices.ranks == nullptr || devices.ranks->rank() == 0 ? std::move(found) : Lineage();
}

}  // namespace epsflow::parts
