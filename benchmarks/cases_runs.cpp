// Runs over one data set: sweeps, maps, nearest points, hierarchies and predictions.
#include <sys/resource.h>

#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <utility>

#include <epsflow/pipeline/engine.hpp>
#include <epsflow/pipeline/hierarchy.hpp>
#include <epsflow/pipeline/k_distance.hpp>
#include <epsflow/pipeline/lineage.hpp>
#include <epsflow/pipeline/predict.hpp>
#include <epsflow/pipeline/sweep.hpp>

#include "cases.hpp"
#include "points.hpp"
#ifdef EPSFLOW_WITH_CUDA
#include "device.hpp"
#endif

namespace epsflow::bench {
namespace {

long peak_rss_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss * 1024;
}

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
  for (std::size_t i = 0; i < n; ++i) weights[i] = 0.5 + static_cast<double>(i * kScatterStep >> 11) * 0x1p-53;
  return weights;
}

}  // namespace

bool time_sweep(const Words& words) {
  const Points points = points_of(words);
  const Sweep sweep = words.sweep(1);
  const Metric metric = metric_of(words, points.dims());
  const auto engine_options = words.options<EngineOptions>();
  RunOptions options = words.options<RunOptions>();
  options.search = words.options(options.search);
  options.labels = words.choice("--labels", options.labels);
  std::vector<Sweep> runs{sweep};
  if (words.number("--separately") == 1) {
    runs.clear();
    for (const Variant& v : sweep.variants()) runs.emplace_back(std::vector{v});
  }
  std::vector<double> weights;
  if (words.number("--weighted") == 1) weights = weights_for(points.size());
  const std::string share = words.text("--share", "nothing");
  Json json;
  std::optional<Engine> engine;
  std::optional<Dataset> data;
  std::uint64_t clusters = 0;
  for (int i = 0; i < words.repeat(1); ++i) {
    clusters = 0;
    Trace trace;
    const Observer observer{.trace = &trace};
    const double made = seconds_of([&] {
      if (share != "data") data.reset();
      if (share == "nothing") engine.reset();
      if (!engine) engine.emplace(engine_options);
    });
    const double loaded = seconds_of([&] {
      if (data) return;
      data = engine->load(points, metric);
      if (!weights.empty()) data = data->weighted(weights);
    });
    const double seconds = made + loaded + seconds_of([&] {
                             for (const Sweep& one : runs) {
                               for (const auto& r : run(*data, one, options, observer)) clusters += r.summary.clusters;
                             }
                           });
    json["seconds"].push_back(seconds);
    json["engine_s"].push_back(made);
    json["load_s"].push_back(loaded);
    json["search_share"] = search_share(trace, seconds);
    json["stage_s"] = stage_seconds(trace);
  }
  json["variants"] = sweep.size();
  json["clusters"] = clusters;
  json["peak_rss_bytes"] = peak_rss_bytes();
  return print(json);
}

bool time_read(const Words& words) {
  io::ReadOptions options;
  std::istringstream columns(words.text("--columns"));
  for (std::string name; std::getline(columns, name, ',');) options.columns.push_back(name);
  std::size_t rows = 0;
  const auto seconds = seconds_of_each(
      words.repeat(5), [&] { rows = io::read_points(words[0], options).size(); }, 1);
  return print(Json{{"file", words[0]}, {"rows", rows}, {"seconds", seconds}, {"peak_rss_bytes", peak_rss_bytes()}});
}

bool time_map(const Words& words) {
  const Points points = points_of(words);
  const Sweep sweep = words.sweep(1);
  const auto options = words.options<RunOptions>({.keep = Keep::summary});
  const Engine engine(words.options<EngineOptions>());
  Json json{{"backend", engine.backend()}, {"cells", sweep.size()}};
  std::optional<Dataset> data;
  json["load_s"] = seconds_of([&] { data = engine.load(points); });
  for (int i = 0; i < words.repeat(1); ++i) {
    Trace trace;
    Lineage found;
    json["seconds"].push_back(seconds_of([&] { found = lineage(*data, sweep, options, {.trace = &trace}); }));
    std::uint64_t clusters = 0;
    for (const LineageCell& cell : found.cells()) clusters += cell.clusters();
    json["clusters"] = clusters;
    json["stage_s"] = stage_seconds(trace);
  }
  return print(json);
}

bool time_nearest(const Words& words) {
  const Points points = points_of(words);
  const std::uint32_t k = words.count(1);
  const int repeat = words.repeat(5);
  const Engine engine(words.options<EngineOptions>());
  Json json{{"points", points.size()}, {"dims", points.dims()}, {"k", k}, {"backend", engine.backend()}};
  std::optional<Dataset> data;
  json["load_s"] = seconds_of([&] { data = engine.load(points); });
  std::vector<double> distances;
  json["seconds"] = seconds_of_each(repeat, [&] { distances = k_distances(*data, k); });
  double sum = 0;
  for (const double distance : distances) sum += distance;
  json["mean"] = sum / static_cast<double>(points.size());
#ifdef EPSFLOW_WITH_CUDA
  if (engine.backend() == "gpu") add_nearest_on_device(points, k, repeat, words.has("--check"), json);
#endif
  return print(json);
}

bool time_trees(const Words& words) {
  const Points points = points_of(words);
  const std::vector<std::uint32_t> minpts = parse_minpts_list(words[1]);
  const int repeat = words.repeat(3);
  const Engine engine(words.options<EngineOptions>());
  Json json{{"points", points.size()}, {"dims", points.dims()}, {"minpts", minpts}, {"backend", engine.backend()}};
  const Dataset data = engine.load(points);
  std::vector<Hierarchy> found;
  json["seconds"] = seconds_of_each(repeat, [&] {
    found.clear();
    found = hierarchy(data, minpts);
  });
  const std::uint64_t size = words.number("--size", 100);
  const std::span<const std::uint64_t> sizes(&size, 1);
  for (const Hierarchy& tree : found) {
    json["labels_s"].push_back(
        seconds_of([&] { json["clusters"].push_back(CondensedTree(tree, size).select().nodes.size()); }));
  }
  found.clear();
  json["condensed_s"] = seconds_of_each(repeat, [&] {
    for (const CondensedTree& tree : condensed_trees(data, minpts, sizes)) (void)tree.select();
  });
  json["hdbscan_s"] =
      seconds_of_each(repeat, [&] { (void)hdbscan(data, minpts, sizes, {.labels = MemorySpace::device}); });
#ifdef EPSFLOW_WITH_CUDA
  if (engine.backend() == "gpu") add_trees_on_device(points, minpts, size, repeat, json);
#endif
  return print(json);
}

bool time_predict(const Words& words) {
  const Points points = points_of(words);
  const double eps = words.eps(1);
  const auto options = words.options<EngineOptions>();
  const std::size_t d = points.dims();
  if (points.size() == 0) throw InputError("no points");
  std::vector<double> values;
  points.view().visit([&](auto all) { values.assign(all.begin(), all.end()); });

  const auto clustered = run(Engine(options).load(points), Sweep({{eps, words.count(2)}}), {.core_mask = true});
  std::vector<double> core;
  std::vector<std::int32_t> labels;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (clustered[0].core[i] == 0) continue;
    for (std::size_t k = 0; k < d; ++k) core.push_back(values[i * d + k]);
    labels.push_back(clustered[0].labels[i]);
  }
  const std::size_t count = words.number("--new", 1'000'000);
  std::vector<double> fresh(count * d);
  std::uint64_t drawn = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto from = static_cast<std::size_t>(random_number(drawn++) * static_cast<double>(points.size()));
    for (std::size_t k = 0; k < d; ++k) {
      fresh[i * d + k] = values[from * d + k] + eps * (2 * random_number(drawn++) - 1);
    }
  }

  Json json{{"core", labels.size()}, {"new", count}};
  std::optional<Predictor> predictor;
  json["make_s"] = seconds_of([&] { predictor.emplace(CoreView{PointsView(core, d), labels, eps}, options); });
  const PointsView all(fresh, d);
  Labels found;
  json["seconds"] = seconds_of_each(words.repeat(5), [&] { found = predictor->predict(all); });
  std::size_t i = 0;
  json["one_s"] = median(seconds_of_each(static_cast<int>(std::min<std::size_t>(100, count)), [&] {
    (void)predictor->predict(all.rows(i, i + 1));
    ++i;
  }));
  json["assigned"] = std::count_if(found.begin(), found.end(), [](auto label) { return label >= 0; });
  return print(json);
}

}  // namespace epsflow::bench
