#include <epsflow/stages/cluster_directly.hpp>

#include <tbb/task_arena.h>

#include <memory>
#include <utility>
#include <vector>

#include <epsflow/clustering/dbscan.hpp>
#include <epsflow/clustering/verify.hpp>
#include <epsflow/core/error.hpp>
#include <epsflow/stages/cluster_variants.hpp>

namespace epsflow::stages {

bool ClusterDirectly::operator()(EpsJob& job, bool alone, const std::function<void()>& begun,
                                 const std::function<void(VariantResult&&)>& emit) const {
  bool handing_over = false;
  const std::size_t variants = job.group.minpts.size();
  try {
    const std::uint64_t verifying = verify ? points.size() * clustering::kVerifyBytesPerPoint : 0;
    const MemoryCharge memory(budget, job.index->direct_bytes(of(job.group)) + verifying, "clustering without a table");
    // A copy, because emitted variants are removed from the group.
    const std::vector<std::uint32_t> minpts = job.group.minpts;
    DirectOptions asked = of(job.group);
    asked.minpts = minpts;
    std::unique_ptr<LabelStore> store;  // outlives `counted`, which writes to it
    // Isolated: a thread that waits here for its own loops must not pick up work of another eps instead.
    const auto counted = tbb::this_task_arena::isolate([&] { return job.index->count(asked); });
    store = job.index->label_store(asked);  // allocated while a device may still count
    const double share = job.seconds() / static_cast<double>(minpts.size());
    begun();
    tbb::this_task_arena::isolate([&] {
      clustering::cluster_levels(*counted, *store, job.group.eps, minpts, [&](VariantResult&& result) {
        result.seconds += share;
        if (verify) check_labels(points, space, whole_of(options.weights), job.group.radius, result);
        handing_over = true;
        emit(std::move(result));
        handing_over = false;
        job.group.minpts.erase(job.group.minpts.begin());
      });
    });
    if (trace != nullptr) trace->count_undecided_pairs(counted->undecided_pairs());
    return true;
  } catch (const ResourceError&) {
    // An exception of the caller is not a lack of memory here. Clusters of an eps come all or none.
    const bool begun_for_good = options.clusters && job.group.minpts.size() < variants;
    if (alone || handing_over || begun_for_good) throw;
    return false;
  }
}

}  // namespace epsflow::stages
