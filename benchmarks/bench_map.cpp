// Times the map of a sweep with its lineage, from a kept data set to the lineage in host memory, and prints one line of JSON:
//
//   bench_map FILE EPS_LIST MINPTS_LIST [--repeat N] [--backend cpu|gpu] [--threads N] [--keep summary|core]
//
// load_s: reading not included. seconds: each repetition. clusters: of all cells. stage_s: seconds of each stage of the last one.
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include <epsflow/io/read_points.hpp>
#include <epsflow/pipeline/engine.hpp>
#include <epsflow/pipeline/lineage.hpp>

namespace {

const char* option(int argc, char** argv, const char* name, const char* otherwise) {
  for (int i = 4; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], name) == 0) return argv[i + 1];
  }
  return otherwise;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 4)
    throw epsflow::UsageError(
        "bench_map FILE EPS_LIST MINPTS_LIST [--repeat N] [--backend cpu|gpu] [--threads N] [--keep summary|core]");
  using Clock = std::chrono::steady_clock;
  const auto since = [](Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
  };
  const epsflow::Points points = epsflow::io::read_points(argv[1]);
  const epsflow::Sweep sweep = epsflow::grid(epsflow::parse_eps_list(argv[2]), epsflow::parse_minpts_list(argv[3]));
  epsflow::EngineOptions options;
  options.threads = static_cast<unsigned>(std::atoi(option(argc, argv, "--threads", "0")));
  options.backend = *epsflow::choice_of<epsflow::BackendChoice>(option(argc, argv, "--backend", "auto"));
  const epsflow::RunOptions run{.keep = *epsflow::choice_of<epsflow::Keep>(option(argc, argv, "--keep", "summary"))};
  const epsflow::Engine engine(options);
  nlohmann::ordered_json json{
      {"backend", engine.backend()}, {"cells", sweep.size()}, {"seconds", nlohmann::json::array()}};
  const auto loading = Clock::now();
  const epsflow::Dataset data = engine.load(points);
  json["load_s"] = since(loading);
  for (int i = 0; i < std::atoi(option(argc, argv, "--repeat", "1")); ++i) {
    epsflow::Trace trace;
    epsflow::Observer observer;
    observer.trace = &trace;
    const auto begin = Clock::now();
    const epsflow::Lineage lineage = epsflow::lineage(data, sweep, run, observer);
    json["seconds"].push_back(since(begin));
    std::uint64_t clusters = 0;
    for (const epsflow::LineageCell& cell : lineage.cells()) clusters += cell.clusters();
    json["clusters"] = clusters;
    json["stage_s"] = nlohmann::ordered_json::object();
    for (const epsflow::TraceSpan& span : trace.spans()) {
      auto& sum = json["stage_s"][std::string(epsflow::stage_name(span.stage))];
      sum = (sum.is_null() ? 0.0 : sum.get<double>()) + static_cast<double>(span.end_ns - span.begin_ns) * 1e-9;
    }
  }
  std::cout << json.dump() << '\n';
  return EXIT_SUCCESS;
} catch (const std::exception& error) {
  std::cerr << "bench_map: " << error.what() << '\n';
  return EXIT_FAILURE;
}
