// Times a sweep from points in memory to labels in memory, and prints one line of JSON:
//
//   bench_sweep FILE EPS_LIST MINPTS_LIST [--threads N] [--repeat N] [--format auto|csr|packed] [--method nested|each]
//               [--backend auto|cpu|gpu] [--strategy auto|table|direct] [--kernel rows|global|shared] [--tables N] [--lanes N]
//               [--keep nothing|engine|data] [--separately 1] [--box LENGTH] [--metric euclidean|greatcircle]
//
// keep: what the repetitions share; the first one makes it. engine: device, pools and threads; data: the data set where
// the backend works on it, too. seconds: each repetition; engine_s, load_s: what of these went into making an engine and
// loading. Pairs and the bytes of tables are not known here, see bench_stages. search_share: of the last one, the share
// of time in which some lane searched or sorted: on a GPU, in which it was busy; stage_s: seconds of each stage.
// separately: a run per variant. box: of a periodic one, from 0 on. peak_rss_bytes: of the process, the points included.
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <epsflow/io/read_points.hpp>
#include <epsflow/pipeline/engine.hpp>
#include <epsflow/pipeline/sweep.hpp>

namespace {

/// The word behind `name`, or `otherwise`.
const char* option(int argc, char** argv, const char* name, const char* otherwise) {
  for (int i = 4; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], name) == 0) return argv[i + 1];
  }
  return otherwise;
}

epsflow::Options options_of(int argc, char** argv) {
  epsflow::Options options;
  options.threads = static_cast<unsigned>(std::atoi(option(argc, argv, "--threads", "0")));
  const std::string format = option(argc, argv, "--format", "auto");
  if (format == "csr") options.format = epsflow::FormatChoice::csr;
  if (format == "packed") options.format = epsflow::FormatChoice::packed;
  if (std::string(option(argc, argv, "--method", "nested")) == "each") options.method = epsflow::VariantMethod::each;
  const std::string backend = option(argc, argv, "--backend", "auto");
  if (backend == "cpu") options.backend = epsflow::BackendChoice::cpu;
  if (backend == "gpu") options.backend = epsflow::BackendChoice::gpu;
  const std::string strategy = option(argc, argv, "--strategy", "auto");
  if (strategy == "table") options.strategy = epsflow::StrategyChoice::table;
  if (strategy == "direct") options.strategy = epsflow::StrategyChoice::direct;
  const std::string kernel = option(argc, argv, "--kernel", "rows");
  if (kernel == "global") options.kernel = epsflow::Kernel::global;
  if (kernel == "shared") options.kernel = epsflow::Kernel::shared;
  options.tables = static_cast<unsigned>(std::atoi(option(argc, argv, "--tables", "0")));
  options.lanes = static_cast<unsigned>(std::atoi(option(argc, argv, "--lanes", "0")));
  return options;
}

/// Share of `seconds` in which at least one search or sort was under way.
double search_share(const epsflow::Trace& trace, double seconds) {
  std::vector<std::pair<std::int64_t, std::int64_t>> spans;
  for (const epsflow::TraceSpan& span : trace.spans()) {
    if (span.stage == epsflow::Stage::find_neighbors || span.stage == epsflow::Stage::sort_pairs) {
      spans.emplace_back(span.begin_ns, span.end_ns);
    }
  }
  std::sort(spans.begin(), spans.end());
  std::int64_t busy = 0;
  std::int64_t end = 0;
  for (const auto& [from, to] : spans) {
    busy += std::max<std::int64_t>(0, to - std::max(from, end));
    end = std::max(end, to);
  }
  return static_cast<double>(busy) * 1e-9 / seconds;
}

/// Seconds of each stage, of all threads and lanes together.
nlohmann::ordered_json stage_seconds(const epsflow::Trace& trace) {
  nlohmann::ordered_json json;
  for (const epsflow::TraceSpan& span : trace.spans()) {
    auto& sum = json[std::string(epsflow::stage_name(span.stage))];
    sum = (sum.is_null() ? 0.0 : sum.get<double>()) + static_cast<double>(span.end_ns - span.begin_ns) * 1e-9;
  }
  return json;
}

epsflow::Metric metric_of(int argc, char** argv, std::size_t dims) {
  epsflow::Metric metric;
  if (std::string(option(argc, argv, "--metric", "euclidean")) == "greatcircle") {
    metric.kind = epsflow::MetricKind::greatcircle;
  }
  if (const double length = std::atof(option(argc, argv, "--box", "0")); length > 0)
    metric.box.assign(dims, {0, length});
  return metric;
}

void measure(int argc, char** argv) {
  const epsflow::Points points = epsflow::io::read_points(argv[1]);
  const epsflow::Sweep sweep = epsflow::grid(epsflow::parse_eps_list(argv[2]), epsflow::parse_minpts_list(argv[3]));
  const epsflow::Options options = options_of(argc, argv);
  const epsflow::Metric metric = metric_of(argc, argv, points.dims());
  const bool separately = std::string(option(argc, argv, "--separately", "0")) == "1";
  std::vector<epsflow::Sweep> runs;
  for (const epsflow::Variant& v : sweep.variants()) {
    if (separately) runs.emplace_back(std::vector{v});
  }
  if (!separately) runs.push_back(sweep);
  const std::string keep = option(argc, argv, "--keep", "nothing");
  nlohmann::ordered_json json{
      {"seconds", nlohmann::json::array()}, {"engine_s", nlohmann::json::array()}, {"load_s", nlohmann::json::array()}};
  std::optional<epsflow::Engine> engine;
  std::optional<epsflow::Dataset> data;
  std::uint64_t clusters = 0;
  for (int i = 0; i < std::atoi(option(argc, argv, "--repeat", "1")); ++i) {
    clusters = 0;
    epsflow::Trace trace;
    epsflow::Observer observer;
    observer.trace = &trace;
    const auto begin = std::chrono::steady_clock::now();
    const auto passed = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(); };
    if (keep != "data") data.reset();
    if (keep == "nothing") engine.reset();
    if (!engine) engine.emplace(options);
    const double made = passed();
    if (!data) data = engine->load(points, metric);
    const double loaded = passed();
    for (const epsflow::Sweep& one : runs) {
      for (const auto& r : epsflow::run(*data, one, observer)) clusters += r.summary.clusters;
    }
    const double seconds = passed();
    json["seconds"].push_back(seconds);
    json["engine_s"].push_back(made);
    json["load_s"].push_back(loaded - made);
    json["search_share"] = search_share(trace, seconds);
    json["stage_s"] = stage_seconds(trace);
  }
  json["variants"] = sweep.size();
  json["clusters"] = clusters;
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  json["peak_rss_bytes"] = usage.ru_maxrss * 1024;
  std::cout << json.dump() << "\n";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4 || argc % 2 != 0) {
    std::fprintf(stderr, "usage: bench_sweep FILE EPS_LIST MINPTS_LIST [--OPTION VALUE …]\n");
    return 2;
  }
  try {
    measure(argc, argv);
  } catch (const epsflow::Error& e) {
    std::fprintf(stderr, "bench_sweep: %s\n", e.what());
    return 1;
  }
  return 0;
}
