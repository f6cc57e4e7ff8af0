// Times a sweep from points in memory to labels in memory, and prints one line of JSON:
//
//   bench_sweep FILE EPS_LIST MINPTS_LIST [--repeat N] [--share nothing|engine|data] [--separately 1] [--box LENGTH]
//               [--metric euclidean|greatcircle] [--weighted 1] [--labels host|device] and the options of `epsflow sweep`
//               that say what to use of the machine, how to run and how to search; sizes are bytes
//
// share: what the repetitions share; the first one makes it. engine: device, pools and threads; data: the data set where
// the backend works on it, too. seconds: each repetition; engine_s, load_s: what of these went into making an engine and
// loading. Pairs and the bytes of tables are not known here, see bench_stages. search_share: of the last one, the share
// of time in which some lane searched or sorted: on a GPU, in which it was busy; stage_s: seconds of each stage.
// weighted: by weights between 0.5 and 1.5. labels: where they are kept, all of a run until it ends. separately: a run
// per variant. box: of a periodic one, from 0 on.
// peak_rss_bytes: of the process, the points included.
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

/// Sets the options of Owner that are given, by the program's words for them.
template <class Owner>
void take(int argc, char** argv, Owner& owner) {
  for (const epsflow::Option<Owner>& known : epsflow::options_of<Owner>()) {
    const std::string name = "--" + std::string(known.program);
    const char* const value = option(argc, argv, name.c_str(), nullptr);
    if (value == nullptr || known.set == nullptr) continue;
    if (known.kind == epsflow::OptionKind::choice) {
      if (std::ranges::find(known.words, value) == known.words.end()) throw epsflow::UsageError(name + " " + value);
      known.set(owner, std::string_view(value));
    } else {
      known.set(owner, std::uint64_t{std::strtoull(value, nullptr, 10)});
    }
  }
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

/// Between 0.5 and 1.5, as good as random.
std::vector<double> weights_for(std::size_t n) {
  std::vector<double> weights(n);
  for (std::size_t i = 0; i < n; ++i) {
    weights[i] = 0.5 + static_cast<double>(i * 0x9E3779B97F4A7C15ULL >> 11) * 0x1p-53;
  }
  return weights;
}

void measure(int argc, char** argv) {
  const epsflow::Points points = epsflow::io::read_points(argv[1]);
  const epsflow::Sweep sweep = epsflow::grid(epsflow::parse_eps_list(argv[2]), epsflow::parse_minpts_list(argv[3]));
  epsflow::EngineOptions engine_options;
  epsflow::RunOptions run_options;
  take(argc, argv, engine_options);
  take(argc, argv, run_options);
  take(argc, argv, run_options.search);
  const epsflow::Metric metric = metric_of(argc, argv, points.dims());
  if (std::string(option(argc, argv, "--labels", "host")) == "device")
    run_options.labels = epsflow::MemorySpace::device;
  const bool separately = std::string(option(argc, argv, "--separately", "0")) == "1";
  std::vector<epsflow::Sweep> runs;
  for (const epsflow::Variant& v : sweep.variants()) {
    if (separately) runs.emplace_back(std::vector{v});
  }
  if (!separately) runs.push_back(sweep);
  std::vector<double> weights;
  if (std::string(option(argc, argv, "--weighted", "0")) == "1") weights = weights_for(points.size());
  const std::string share = option(argc, argv, "--share", "nothing");
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
    if (share != "data") data.reset();
    if (share == "nothing") engine.reset();
    if (!engine) engine.emplace(engine_options);
    const double made = passed();
    if (!data) {
      data = engine->load(points, metric);
      if (!weights.empty()) data = data->weighted(weights);
    }
    const double loaded = passed();
    for (const epsflow::Sweep& one : runs) {
      for (const auto& r : epsflow::run(*data, one, run_options, observer)) clusters += r.summary.clusters;
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
