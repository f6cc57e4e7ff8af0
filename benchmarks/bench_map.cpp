// Times the map of a sweep with its lineage, from a loaded data set to the lineage in host memory, and prints one line
// of JSON:
//
//   bench_map FILE EPS_LIST MINPTS_LIST [--repeat N] [--backend cpu|gpu] [--threads N] [--keep summary|core]
//
// load_s: of loading, without reading the file. seconds: of each repetition. clusters: the sum over all cells. stage_s:
// seconds of each stage of the last repetition.
#include <optional>

#include <epsflow/io/read_points.hpp>
#include <epsflow/pipeline/engine.hpp>
#include <epsflow/pipeline/lineage.hpp>

#include "bench.hpp"

namespace {

using namespace epsflow;

int measure(const bench::Words& words) {
  const Points points = io::read_points(words[0]);
  const Sweep sweep = words.sweep(1);
  EngineOptions options;
  words.set(options);
  const RunOptions how{.keep = choice_of<Keep>(words.text("--keep", "summary")).value()};
  const Engine engine(options);
  bench::Json json{{"backend", engine.backend()}, {"cells", sweep.size()}};
  std::optional<Dataset> data;
  json["load_s"] = bench::seconds_of([&] { data = engine.load(points); });
  for (int i = 0; i < words.repeat(1); ++i) {
    Trace trace;
    Observer observer;
    observer.trace = &trace;
    std::uint64_t clusters = 0;
    Lineage found;
    json["seconds"].push_back(bench::seconds_of([&] { found = lineage(*data, sweep, how, observer); }));
    for (const LineageCell& cell : found.cells()) clusters += cell.clusters();
    json["clusters"] = clusters;
    json["stage_s"] = bench::stage_seconds(trace);
  }
  std::cout << json.dump() << "\n";
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return epsflow::bench::run({"bench_map FILE EPS_LIST MINPTS_LIST [--OPTION VALUE …]", 3}, argc, argv, measure);
}
