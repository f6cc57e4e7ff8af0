#include <epsflow/parts/part_lineage.hpp>

#include <cstdint>
#include <utility>

#include <epsflow/parts/rank_blocks.hpp>

namespace epsflow::parts {

LineageBuilder::CoreSinceOf core_since_of_shares(Communicator& communicator, std::size_t share) {
  return [&communicator, ids_of_ranks = RankBlocks(communicator, share)](const Labels& core_since,
                                                                         std::span<const std::uint32_t> ids) {
    return ask<std::int32_t>(communicator, ids_of_ranks, ids, [&](std::uint64_t k) { return core_since[k]; });
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
