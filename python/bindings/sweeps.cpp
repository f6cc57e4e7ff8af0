// Tasks that run a sweep. They put each finished result, and at the end the lineage if requested.
#include <functional>

#include "dataset.hpp"
#include "points.hpp"
#include "relay.hpp"

#include <epsflow/core/error.hpp>
#include <epsflow/parts/machine_share.hpp>
#include <epsflow/parts/part_lineage.hpp>
#include <epsflow/parts/sweep.hpp>

namespace epsflow::python {
namespace {

/// The points of a sweep and the options of its engines.
struct SweepInput {
  PointSet points;
  std::vector<EngineOptions> engines = {};
};

/// Converts a ResourceError into an Error: a missing GPU must not become a MemoryError in Python.
template <class Find>
auto devices_of(Find&& find) {
  try {
    return find();
  } catch (const ResourceError& error) {
    throw Error(error.what());
  }
}

/// Starts a sweep. prepare: returns the input; it is called on the thread of the task. ranks: the communicator of this
/// rank, or null.
std::unique_ptr<Task> start(std::function<SweepInput(const Observer&)> prepare, Relay* ranks, const Variants& variants,
                            const nb::dict& options, bool lineage) {
  RunOptions run = options_from<RunOptions>(options);
  run.clusters = lineage;
  return std::make_unique<Task>([prepare = std::move(prepare), ranks, sweep = sweep_of(variants), run](
                                    const Observer& observer, Task::Channel& channel) {
    const auto closing = [](Relay* relay) { relay->close(); };  // Python waits for close()
    const std::unique_ptr<Relay, decltype(closing)> open(ranks, closing);
    if (ranks != nullptr) ranks->watch(observer.cancel);
    const SweepInput given = prepare(observer);
    std::optional<LineageBuilder> builder;
    if (run.clusters && ranks == nullptr) builder.emplace(sweep);
    if (run.clusters && ranks != nullptr) {
      builder.emplace(sweep, parts::core_since_of_shares(*ranks, given.points.host_rows().size()));
    }
    const auto take = [&](VariantResult&& result) {
      if (builder) builder->add(result);
      channel.put(std::move(result));
    };
    run_each(given.points, {.options = given.engines, .ranks = ranks}, sweep, run, take, observer);
    if (!builder) return;
    Lineage found = builder->finish();
    if (ranks != nullptr && ranks->rank() != 0) return;
    channel.put(giving(std::move(found), [](Lineage&& made) { return nb::cast(std::move(made)); }));
  });
}

/// Starts a sweep of points on the host with GPUs of this process or, if ranks is not null, with all ranks. devices:
/// the GPUs (with ranks, one per process of a machine), or empty for the CPU, and options of the engines.
std::unique_ptr<Task> start_shared_sweep(Relay* ranks, const PyPoints& points, const Variants& variants,
                                         const std::pair<std::string, nb::dict>& devices, const nb::dict& options,
                                         bool lineage) {
  const PointSet set{points.view(), points.metric(), span_of(points.weights)};
  const std::string gpus = devices.first;
  const auto given = options_from<EngineOptions>(devices.second);
  std::vector<EngineOptions> engines;
  if (ranks == nullptr) engines = devices_of([&] { return parts::engines_on({.gpus = gpus}, given); });
  return start(
      [=](const Observer&) {
        if (ranks == nullptr) return SweepInput{set, engines};
        const parts::MachineShare share = parts::machine_share(*ranks);
        return SweepInput{set, {devices_of([&] { return parts::share_machine(share, {.gpus = gpus}, given); })}};
      },
      ranks, variants, options, lineage);
}

}  // namespace

std::unique_ptr<Task> start_sweep(const PyDataset& data, const Variants& variants, const nb::dict& options,
                                  const Weights& weights, bool lineage) {
  return start(
      [points = TaskDataset(data, weights)](const Observer& observer) { return SweepInput{{points.get(observer)}}; },
      nullptr, variants, options, lineage);
}

void define_sweeps(nb::module_& m) {
  def_task(m, "start_shared_sweep", &start_shared_sweep, "relay"_a.none(), "points"_a, "variants"_a, "devices"_a,
           "options"_a, "lineage"_a);
}

}  // namespace epsflow::python
