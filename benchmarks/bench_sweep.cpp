// Times a sweep from points in memory to labels in memory, and prints one line of JSON:
//
//   bench_sweep FILE EPS_LIST MINPTS_LIST [--threads N] [--repeat N] [--format auto|csr|packed] [--method nested|each]
//
// seconds: each repetition; pairs and table_bytes are not known here, see bench_stages. peak_rss_bytes: of the process,
// the points included.
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <nlohmann/json.hpp>

#include <epsflow/io/read_points.hpp>
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
  return options;
}

void measure(int argc, char** argv) {
  const epsflow::Points points = epsflow::io::read_points(argv[1]);
  const epsflow::Sweep sweep = epsflow::grid(epsflow::parse_eps_list(argv[2]), epsflow::parse_minpts_list(argv[3]));
  const epsflow::Options options = options_of(argc, argv);
  nlohmann::ordered_json json{{"seconds", nlohmann::json::array()}};
  std::uint64_t clusters = 0;
  for (int i = 0; i < std::atoi(option(argc, argv, "--repeat", "1")); ++i) {
    clusters = 0;
    const auto begin = std::chrono::steady_clock::now();
    const auto results = epsflow::run(points, sweep, options);
    json["seconds"].push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    for (const auto& r : results) clusters += r.summary.clusters;
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
