#include <epsflow/stages/cluster_directly.hpp>

#include <algorithm>

#include <epsflow/clustering/verify.hpp>
#include <epsflow/core/error.hpp>
#include <epsflow/stages/cluster_variants.hpp>

namespace epsflow::stages {

bool ClusterDirectly::operator()(EpsJob& job, bool alone, const std::function<void()>& begun,
                                 const std::function<void(VariantResult&&)>& emit) const {
  bool handing_over = false;
  try {
    const std::uint64_t verifying = verify ? points.size() * clustering::kVerifyBytesPerPoint : 0;
    const MemoryCharge memory(budget, job.index->direct_bytes(options(job.group)) + verifying,
                              "clustering without a table");
    const auto variants = static_cast<double>(job.group.minpts.size());
    double share = -1;
    const auto direct = job.index->direct(options(job.group));
    begun();
    direct->run([&](VariantResult&& result) {
      result.variant.eps = job.group.eps;
      // What all variants share, index and counts, is over when the first is there.
      if (share < 0) share = std::max(0.0, job.seconds() - result.seconds - direct->seconds_waiting()) / variants;
      result.seconds += share;
      if (verify) check_labels(points, space, whole_of(weights), job.group.radius, result);
      handing_over = true;
      emit(std::move(result));
      handing_over = false;
      job.group.minpts.erase(job.group.minpts.begin());
    });
    if (trace != nullptr) trace->count_open_pairs(direct->open_pairs());
    return true;
  } catch (const ResourceError&) {
    if (alone || handing_over) throw;  // what the caller's code throws is no lack of memory of ours
    return false;
  }
}

}  // namespace epsflow::stages
