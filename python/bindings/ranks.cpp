#include "ranks.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <epsflow/parts/machine_share.hpp>
#include <epsflow/parts/part_lineage.hpp>
#include <epsflow/parts/sweep.hpp>

#include "arrays.hpp"
#include "metrics.hpp"
#include "options.hpp"
#include "relay.hpp"
#include "task.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace epsflow::python {
namespace {

/// Of one rank. At its end the lineage of all, on the first, where that is asked for. gpus: one for each process of a machine, or none.
std::unique_ptr<Task> start_rank_sweep(Relay& ranks, const HostArray& points, const MetricWords& words,
                                       const Variants& variants, const std::string& gpus, const nb::dict& engine,
                                       const nb::dict& options, const Weights& weights, bool lineage) {
  RunOptions run = options_from<RunOptions>(options);
  run.clusters = lineage;
  return std::make_unique<Task>([&ranks, view = view_of(points), metric = metric_of(words, points.shape(1)),
                                 sweep = sweep_of(variants), gpus, given = options_from<EngineOptions>(engine), run,
                                 weights = weights ? span_of(*weights) : std::span<const double>()](
                                    const Observer& observer, Task::Channel& channel) {
    const auto closing = [](Relay* relay) { relay->close(); };
    const std::unique_ptr<Relay, decltype(closing)> open(&ranks, closing);
    ranks.watch(observer.cancel);
    const parts::MachineShare share = parts::machine_share(ranks);
    EngineOptions own;
    try {
      own = parts::share_machine(share, {.gpus = gpus}, given);
    } catch (const ResourceError& error) {
      throw Error(error.what());  // memory is not what is short
    }
    std::optional<LineageBuilder> builder;
    if (run.clusters) builder.emplace(sweep, parts::births_of_shares(ranks, view.size()));
    const auto begin = std::chrono::steady_clock::now();
    Progress progress{.variants = sweep.size()};
    const auto take = [&](VariantResult&& result) {
      if (builder) builder->add(result);
      ++progress.variants_done;
      progress.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      observer.on_progress(progress);
      channel.put(std::move(result));
    };
    run_each({view, metric, weights}, {.options = {&own, 1}, .ranks = &ranks}, sweep, run, take, observer);
    if (!builder) return;
    Lineage found = builder->finish();
    if (ranks.rank() == 0) channel.put(std::move(found));
  });
}

template <class T>
using Array = nb::ndarray<T, nb::numpy, nb::ndim<1>>;

/// Arrays of bytes that look into what the relay holds until it is answered.
std::vector<Array<std::uint8_t>> bytes_of(std::span<const Buffer<std::byte>> mail, nb::handle owner) {
  std::vector<Array<std::uint8_t>> arrays;
  for (const Buffer<std::byte>& letter : mail) {
    auto* const bytes = const_cast<std::byte*>(letter.data());
    arrays.push_back(Array<std::uint8_t>(bytes, {letter.size()}, owner));
  }
  return arrays;
}

template <class T>
Array<T> values_of(std::span<T> values, nb::handle owner) {
  return Array<T>(values.data(), {values.size()}, owner);
}

std::string word_for(Relay::Asked asked) {
  switch (asked) {
    case Relay::Asked::mail:
      return "mail";
    case Relay::Asked::sum:
      return "sum";
    case Relay::Asked::max:
      return "max";
    case Relay::Asked::over:
      return "over";
    case Relay::Asked::nothing:
      break;
  }
  return "";
}

}  // namespace

void define_ranks(nb::module_& m) {
  nb::class_<Relay>(m, "Relay", "What the run of a rank asks of the others.")
      .def(nb::init<int, int>(), "rank"_a, "size"_a)
      .def(
          "wait",
          [](Relay& relay, double seconds) { return word_for(relay.wait(std::chrono::duration<double>(seconds))); },
          "seconds"_a, nb::call_guard<nb::gil_scoped_release>(),
          "Waits no longer than so many seconds; returns what is asked: mail, sum, max, over where the run has ended, "
          "or ''.")
      .def("outgoing", [](nb::handle_t<Relay> self) { return bytes_of(nb::cast<Relay&>(self).outgoing(), self); })
      .def("incoming", [](nb::handle_t<Relay> self) { return bytes_of(nb::cast<Relay&>(self).incoming(), self); })
      .def("sums", [](nb::handle_t<Relay> self) { return values_of(nb::cast<Relay&>(self).sums(), self); })
      .def("most", [](nb::handle_t<Relay> self) { return values_of(nb::cast<Relay&>(self).most(), self); })
      .def("answer", &Relay::answer);
  m.def("start_rank_sweep", &start_rank_sweep, "relay"_a, nb::arg("points").noconvert(), "metric"_a, "variants"_a,
        "gpus"_a, "engine"_a, "options"_a, nb::arg("weights").noconvert().none(), "lineage"_a, nb::keep_alive<0, 1>(),
        nb::keep_alive<0, 2>(), nb::keep_alive<0, 8>());
}

}  // namespace epsflow::python
