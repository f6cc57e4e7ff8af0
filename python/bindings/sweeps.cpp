#include "sweeps.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "metrics.hpp"
#include "relay.hpp"

#include <epsflow/core/error.hpp>
#include <epsflow/parts/machine_share.hpp>
#include <epsflow/parts/part_lineage.hpp>
#include <epsflow/parts/sweep.hpp>

namespace nb = nanobind;
using namespace nb::literals;

namespace epsflow::python {
namespace {

/// The points of a sweep and the options of its engines.
struct Input {
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

/// prepare: returns the input; called on the thread of the task. ranks: the communicator, or null.
std::unique_ptr<Task> start(std::function<Input(const Observer&)> prepare, Relay* ranks, const Variants& variants,
                            const nb::dict& options, bool lineage) {
  RunOptions run = options_from<RunOptions>(options);
  run.clusters = lineage;
  return std::make_unique<Task>([prepare = std::move(prepare), ranks, sweep = sweep_of(variants), run](
                                    const Observer& observer, Task::Channel& channel) {
    const auto closing = [](Relay* relay) { relay->close(); };  // Python waits for it
    const std::unique_ptr<Relay, decltype(closing)> open(ranks, closing);
    if (ranks != nullptr) ranks->watch(observer.cancel);
    const Input given = prepare(observer);
    std::optional<LineageBuilder> builder;
    if (run.clusters && ranks == nullptr) builder.emplace(sweep);
    if (run.clusters && ranks != nullptr) {
      builder.emplace(sweep, parts::births_of_shares(*ranks, given.points.host_rows().size()));
    }
    const auto take = [&](VariantResult&& result) {
      if (builder) builder->add(result);
      channel.put(std::move(result));
    };
    run_each(given.points, {.options = given.engines, .ranks = ranks}, sweep, run, take, observer);
    if (!builder) return;
    Lineage found = builder->finish();
    if (ranks == nullptr || ranks->rank() == 0) channel.put(std::move(found));
  });
}

/// Starts a sweep of points on the host, shared by GPUs of this process or, if ranks is not null, by all ranks. gpus: the GPUs; with ranks one for
/// each process of a machine, or empty for the CPU. engine: options of the engines.
std::unique_ptr<Task> start_shared_sweep(Relay* ranks, const HostArray& points, const MetricWords& words,
                                         const Variants& variants, const std::string& gpus, const nb::dict& engine,
                                         const nb::dict& options, const Weights& weights, bool lineage) {
  const PointSet set{view_of(points), metric_of(words, points.shape(1)),
                     weights ? span_of(*weights) : std::span<const double>()};
  const EngineOptions given = options_from<EngineOptions>(engine);
  std::vector<EngineOptions> engines;
  if (ranks == nullptr) engines = devices_of([&] { return parts::engines_on({.gpus = gpus}, given); });
  return start(
      [=](const Observer&) {
        if (ranks == nullptr) return Input{set, engines};
        const parts::MachineShare share = parts::machine_share(*ranks);
        return Input{set, {devices_of([&] { return parts::share_machine(share, {.gpus = gpus}, given); })}};
      },
      ranks, variants, options, lineage);
}

}  // namespace

std::unique_ptr<Task> start_sweep(const PyDataset& data, const Variants& variants, const nb::dict& options,
                                  const Weights& weights, bool lineage) {
  return start(
      [points = TaskDataset(data, weights)](const Observer& observer) { return Input{{points.get(observer)}}; },
      nullptr, variants, options, lineage);
}

void define_sweeps(nb::module_& m) {
  m.def("start_shared_sweep", &start_shared_sweep, "relay"_a.none(), nb::arg("points").noconvert(), "metric"_a,
        "variants"_a, "gpus"_a, "engine"_a, "options"_a, nb::arg("weights").noconvert().none(), "lineage"_a,
        nb::keep_alive<0, 1>(), nb::keep_alive<0, 2>(), nb::keep_alive<0, 8>());
}

}  // namespace epsflow::python
