#include <epsflow/stages/cluster_variants.hpp>

#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>

#include <epsflow/clustering/cluster_sets.hpp>
#include <epsflow/clustering/dbscan.hpp>
#include <epsflow/clustering/table_source.hpp>
#include <epsflow/clustering/verify.hpp>
#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/core/parallel.hpp>
#include <epsflow/core/stopwatch.hpp>

namespace epsflow::stages {

void check_labels(PointsView points, const Space& space, const WholeWeights* weights, double radius,
                  const VariantResult& result) {
  constexpr std::size_t kFindings = 10;
  const auto findings =
      clustering::verify(points, {radius, result.variant.minpts}, result.labels, kFindings, space, weights);
  if (findings.empty()) return;
  throw Error("the labels of eps " + format_number(result.variant.eps) + ", minpts " +
              std::to_string(result.variant.minpts) + " are wrong, which is a defect of epsflow: please report it. " +
              findings.front());
}

std::uint64_t ClusterVariants::bytes(std::uint64_t n, std::size_t variants) const noexcept {
  const std::size_t at_once = method == VariantMethod::nested ? 1 : std::min<std::size_t>(workers, variants);
  const std::uint64_t weighing = weights != nullptr ? clustering::TableSource::weighted_bytes(n) : 0;
  const bool sets = clusters || !keeps_labels(keep);
  return weighing + (sets ? clustering::ClusterSets::bytes(n, n, clusters) : 0) +
         n * at_once * (clustering::kBytesPerPoint + (verify ? clustering::kVerifyBytesPerPoint : 0));
}

void ClusterVariants::operator()(const EpsJob& job, const std::function<void(VariantResult&&)>& emit) const {
  const std::vector<std::uint32_t>& minpts = job.group.minpts;
  double share = job.table_seconds / static_cast<double>(minpts.size());
  const auto finish = [&](VariantResult&& result) {
    if (verify) check_labels(points, space, weights, job.group.radius, result);
    result.seconds += share;
    emit(std::move(result));
  };
  // Isolated: a thread that waits here for its own loops must not pick up a batch of the next table instead.
  tbb::this_task_arena::isolate([&] {
    const Stopwatch weighing;
    clustering::TableSource source(*job.table, job.order.ids, minpts, weights, cancel);
    share += weighing.seconds() / static_cast<double>(minpts.size());
    const clustering::ClusterInput input{source, job.group.eps, core_mask, keep, clusters};
    if (method == VariantMethod::nested) {
      const TraceScope scope(trace, Stage::cluster_variants, job.group.eps, {"variants", minpts.size()});
      clustering::cluster_nested(input, minpts, cancel, finish);
      return;
    }
    // `workers` loops take one variant after the other, so that scratch memory stays bounded. Their exceptions must not
    // reach the parallel loop: oneTBB would then cancel the loops inside the other variants, which would emit partial
    // labels.
    std::atomic<std::size_t> next{0};
    std::atomic<bool> failed{false};
    std::exception_ptr first;
    std::mutex mutex;
    parallel_for(std::min<std::size_t>(workers, minpts.size()), [&](std::size_t) {
      try {
        for (std::size_t v = next++; v < minpts.size() && !failed; v = next++) {
          const TraceScope scope(trace, Stage::cluster_variants, job.group.eps, {"minpts", minpts[v]});
          finish(tbb::this_task_arena::isolate([&] { return clustering::cluster(input, minpts[v], cancel); }));
        }
      } catch (...) {
        failed = true;
        const std::scoped_lock lock(mutex);
        if (first == nullptr) first = std::current_exception();
      }
    });
    if (first != nullptr) std::rethrow_exception(first);
  });
}

}  // namespace epsflow::stages
