// Times a sweep from points in memory to labels in memory, and prints one line of JSON:
//
//   bench_sweep FILE EPS_LIST MINPTS_LIST [--repeat N] [--share nothing|engine|data] [--separately 1] [--box LENGTH]
//               [--metric euclidean|greatcircle] [--weighted 1] [--labels host|device] and the options of `epsflow
//               sweep` for the machine, the run and the search; sizes are bytes
//
// share: objects that all repetitions share, made by the first. engine: device, pools and threads; data: also the
// loaded data set. seconds: of each repetition, of which engine_s and load_s are for making an engine and loading.
// search_share: of the last repetition, the share of time in which a lane searched or sorted (on a GPU, in which it was
// busy); stage_s: its seconds of each stage. weighted: with weights between 0.5 and 1.5. labels: memory that holds
// all labels of a run until it ends. separately: one run for each variant. box: side of a periodic box, from 0 on.
// peak_rss_bytes: of the process, with the points.
#include <sys/resource.h>

#include <optional>
#include <utility>

#include <epsflow/io/read_points.hpp>
#include <epsflow/pipeline/engine.hpp>
#include <epsflow/pipeline/sweep.hpp>

#include "bench.hpp"

namespace {

using namespace epsflow;

/// Returns the share of `seconds` in which at least one search or sort was active.
double search_share(const Trace& trace, double seconds) {
  std::vector<std::pair<std::int64_t, std::int64_t>> spans;
  for (const TraceSpan& span : trace.spans()) {
    if (span.stage == Stage::find_neighbors || span.stage == Stage::sort_pairs) {
      spans.emplace_back(span.begin_ns, span.end_ns);
    }
  }
  std::ranges::sort(spans);
  std::int64_t busy = 0;
  std::int64_t end = 0;
  for (const auto& [from, to] : spans) {
    busy += std::max<std::int64_t>(0, to - std::max(from, end));
    end = std::max(end, to);
  }
  return static_cast<double>(busy) * 1e-9 / seconds;
}

/// Returns pseudo-random weights between 0.5 and 1.5.
std::vector<double> weights_for(std::size_t n) {
  std::vector<double> weights(n);
  for (std::size_t i = 0; i < n; ++i) {
    weights[i] = 0.5 + static_cast<double>(i * 0x9E3779B97F4A7C15ULL >> 11) * 0x1p-53;
  }
  return weights;
}

int measure(const bench::Words& words) {
  const Points points = io::read_points(words[0]);
  const Sweep sweep = words.sweep(1);
  EngineOptions engine_options;
  RunOptions run_options;
  words.set(engine_options);
  words.set(run_options);
  words.set(run_options.search);
  Metric metric;
  if (words.text("--metric") == "greatcircle") metric.kind = MetricKind::greatcircle;
  if (const double length = std::stod(words.text("--box", "0")); length > 0) {
    metric.box.assign(points.dims(), {0, length});
  }
  if (words.text("--labels") == "device") run_options.labels = MemorySpace::device;
  std::vector<Sweep> runs{sweep};
  if (words.number("--separately") == 1) {
    runs.clear();
    for (const Variant& v : sweep.variants()) runs.emplace_back(std::vector{v});
  }
  std::vector<double> weights;
  if (words.number("--weighted") == 1) weights = weights_for(points.size());
  const std::string share = words.text("--share", "nothing");
  bench::Json json;
  std::optional<Engine> engine;
  std::optional<Dataset> data;
  std::uint64_t clusters = 0;
  for (int i = 0; i < words.repeat(1); ++i) {
    clusters = 0;
    Trace trace;
    Observer observer;
    observer.trace = &trace;
    const double made = bench::seconds_of([&] {
      if (share != "data") data.reset();
      if (share == "nothing") engine.reset();
      if (!engine) engine.emplace(engine_options);
    });
    const double loaded = bench::seconds_of([&] {
      if (data) return;
      data = engine->load(points, metric);
      if (!weights.empty()) data = data->weighted(weights);
    });
    const double seconds = made + loaded + bench::seconds_of([&] {
                             for (const Sweep& one : runs) {
                               for (const auto& r : run(*data, one, run_options, observer))
                                 clusters += r.summary.clusters;
                             }
                           });
    json["seconds"].push_back(seconds);
    json["engine_s"].push_back(made);
    json["load_s"].push_back(loaded);
    json["search_share"] = search_share(trace, seconds);
    json["stage_s"] = bench::stage_seconds(trace);
  }
  json["variants"] = sweep.size();
  json["clusters"] = clusters;
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  json["peak_rss_bytes"] = usage.ru_maxrss * 1024;
  std::cout << json.dump() << "\n";
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return epsflow::bench::run({"bench_sweep FILE EPS_LIST MINPTS_LIST [--OPTION VALUE …]", 3}, argc, argv, measure);
}
