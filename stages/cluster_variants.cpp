#include <epsflow/stages/cluster_variants.hpp>

#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>

#include <epsflow/clustering/dbscan.hpp>
#include <epsflow/clustering/verify.hpp>
#include <epsflow/core/error.hpp>

namespace epsflow::stages {

void ClusterVariants::operator()(const TableJob& job, const std::function<void(VariantResult&&)>& emit) const {
  const clustering::ClusterInput input{*job.table, job.search->order(), job.group.eps};
  const std::vector<std::uint32_t>& minpts = job.group.minpts;
  const double share = job.table_seconds / static_cast<double>(minpts.size());
  const auto finish = [&](VariantResult&& result) {
    if (verify) {
      const auto findings = clustering::verify(input, result.variant.minpts, result.labels);
      if (!findings.empty()) {
        throw Error("the labels of eps " + format_number(result.variant.eps) + ", minpts " +
                    std::to_string(result.variant.minpts) +
                    " are wrong, which is a defect of epsflow: please report it. " + findings.front());
      }
    }
    result.seconds += share;
    emit(std::move(result));
  };
  const std::size_t at_once = method == VariantMethod::nested ? 1 : std::min<std::size_t>(workers, minpts.size());
  const MemoryCharge memory(budget, at_once * clustering::kBytesPerPoint * job.table->size(), "clustering");
  // Isolated: a thread that waits here for its own loops must not pick up a batch of the next table instead.
  tbb::this_task_arena::isolate([&] {
    if (method == VariantMethod::nested) {
      TraceScope scope(trace, Stage::cluster_variants, job.group.eps, minpts.size());
      clustering::cluster_nested(input, minpts, cancel, finish);
      return;
    }
    // `at_once` loops that take the next variant each, so that scratch memory stays bounded.
    std::atomic<std::size_t> next{0};
    tbb::parallel_for(std::size_t{0}, at_once, [&](std::size_t) {
      for (std::size_t v = next++; v < minpts.size(); v = next++) {
        TraceScope scope(trace, Stage::cluster_variants, job.group.eps, minpts[v]);
        finish(tbb::this_task_arena::isolate([&] { return clustering::cluster(input, minpts[v], cancel); }));
      }
    });
  });
}

}  // namespace epsflow::stages
