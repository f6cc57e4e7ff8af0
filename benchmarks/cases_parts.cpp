// A sweep in parts and in one run.
#include <algorithm>
#include <mutex>

#include <epsflow/parts/sweep.hpp>
#include <epsflow/parts/thread_ranks.hpp>
#include <epsflow/pipeline/engine.hpp>
#include <epsflow/pipeline/sweep.hpp>

#include "cases.hpp"
#include "points.hpp"

namespace epsflow::bench {
namespace {

/// One measurement of the sweep, in one run and in parts.
struct Measurement {
  const Words& words;
  Points points = points_of<float>(words[0]);
  Sweep sweep = words.sweep(1);
  std::size_t ranks = words.number("--ranks", 4);
  int repeat = words.repeat(1);
  bool drop = words.has("--drop");
  bool alone = words.has("--alone");
  EngineOptions options = words.options<EngineOptions>({.threads = 1, .backend = BackendChoice::cpu});
  Json json = {};
  std::vector<VariantResult> whole = {};
  std::mutex mutex = {};
  bool equal = true;

  void run_whole(const Engine& engine) {
    if (alone) return;
    json["whole_s"] = seconds_of_each(repeat, [&] {
      whole.clear();
      const Dataset data = engine.load(points);
      run_each({data}, {}, sweep, {}, [&](VariantResult&& result) { keep(std::move(result), whole); });
    });
  }
  void keep(VariantResult&& result, std::vector<VariantResult>& results) const {
    if (drop) result.labels = {};
    results.push_back(std::move(result));
  }
  /// Compares the labels of rows from `first` on with the one run.
  void compare(const VariantResult& result, std::size_t first) {
    for (const VariantResult& one : whole) {
      if (one.variant != result.variant) continue;
      const auto begin = one.labels.begin() + static_cast<std::ptrdiff_t>(first);
      const bool labels = drop || std::equal(result.labels.begin(), result.labels.end(), begin);
      const std::scoped_lock lock(mutex);
      equal = equal && labels && result.summary == one.summary;
    }
  }
  void run_devices(const parts::DeviceOptions& devices) {
    const auto settings = parts::engines_on(devices, options);
    auto answer = parts::choose_sharing({points}, sweep, settings, {});
    const std::vector<Engine> engines = parts::make_engines(settings);
    if (const std::uint64_t asked = words.number("--parts"); asked > 0) {
      answer = {parts::Sharing::parts, "asked for", asked};
    }
    json["sharing"] = {{"engines", engines.size()}, {"parts", answer.parts}, {"because", answer.reason}};
    for (int i = 0; i < repeat; ++i) {
      std::vector<VariantResult> results;
      json["parts_s"].push_back(seconds_of([&] {
        run_each({points}, {.engines = engines, .sharing = &answer}, sweep, {},
                 [&](VariantResult&& result) { keep(std::move(result), results); });
      }));
      if (!results.empty()) json["clusters"] = results.front().summary.clusters;
      equal = equal && (alone || results.size() == whole.size());
      for (const VariantResult& result : results) compare(result, 0);
    }
  }
  void run_ranks() {
    std::vector<PartFigures> figures(ranks);
    json["parts_s"] = seconds_of_each(repeat, [&] {
      parts::run_ranks(static_cast<int>(ranks), [&](parts::Communicator& communicator) {
        const auto r = static_cast<std::size_t>(communicator.rank());
        EngineOptions own = options;
        if (words.has("--gpu-each")) own.gpu = communicator.rank();
        const std::size_t first = points.size() * r / ranks, last = points.size() * (r + 1) / ranks;
        figures[r] = run_each({points.view().rows(first, last)}, {.options = {&own, 1}, .ranks = &communicator}, sweep,
                              {}, [&](VariantResult&& result) { compare(result, first); });
      });
    });
    double distribute = 0, cluster = 0;
    for (const PartFigures& f : figures) {
      distribute = std::max(distribute, f.distribute_seconds);
      cluster = std::max(cluster, f.cluster_seconds);
      json["part_points"].push_back(f.points);
      json["ghosts"].push_back(f.ghosts);
      json["sent_bytes"].push_back(f.sent_bytes);
    }
    json["distribute_s"] = distribute;
    json["cluster_s"] = cluster;
  }
};

}  // namespace

bool time_parts(const Words& words) {
  Measurement m{words};
  m.json = {{"points", m.points.size()}, {"ranks", m.ranks}, {"threads", m.options.threads}};
  EngineOptions all = m.options;
  all.threads *= static_cast<unsigned>(m.ranks);
  all.gpu_memory = 0;
  m.run_whole(Engine(all));
  const parts::DeviceOptions devices{.gpus = words.text("--gpus")};
  if (!devices.gpus.empty() || m.options.gpu_memory != 0) {
    m.options.threads = all.threads;
    m.run_devices(devices);
  } else {
    m.run_ranks();
  }
  if (!m.alone) m.json["equal"] = m.equal;
  return print(m.json);
}

}  // namespace epsflow::bench
