#include <epsflow/pipeline/lineage.hpp>

#include <epsflow/pipeline/run_dataset.hpp>
#include <epsflow/pipeline/sweep.hpp>

namespace epsflow {

Lineage lineage(const Dataset& data, const Sweep& sweep, const RunOptions& options, const Observer& observer) {
  RunOptions run = options;
  if (keeps_labels(run.keep)) run.keep = Keep::summary;
  run.clusters = true;
  run.labels = MemorySpace::host;
  run.core_mask = false;
  LineageBuilder builder(sweep);
  run_dataset(
      data, sweep, [&](VariantResult&& result) { builder.add(result); }, run, observer);
  return builder.finish();
}

}  // namespace epsflow
