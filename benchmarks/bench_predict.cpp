// Times the assignment of new points to the clusters of a file, and prints one line of JSON:
//
//   bench_predict FILE EPS MINPTS [--new N] [--repeat N] [--threads N] [--backend auto|cpu|gpu]
//
// new: how many points are assigned, a million without it: points of the file, moved by up to eps along each axis. make_s: to
// keep the core points in an index. seconds: of each repetition, from points in memory to labels in memory, the model kept.
// one_s: the same of one point, the median of a hundred.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <nlohmann/json.hpp>
#include <span>
#include <string_view>
#include <vector>

#include <epsflow/core/error.hpp>
#include <epsflow/io/read_points.hpp>
#include <epsflow/pipeline/engine.hpp>
#include <epsflow/pipeline/predict.hpp>
#include <epsflow/pipeline/sweep.hpp>

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

const char* option(int argc, char** argv, const char* name, const char* otherwise) {
  for (int i = 4; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], name) == 0) return argv[i + 1];
  }
  return otherwise;
}

std::vector<double> coordinates(epsflow::PointsView points) {
  std::vector<double> all;
  points.visit([&](auto values) { all.assign(values.begin(), values.end()); });
  return all;
}

/// As good as random, the same each time.
class Numbers {
 public:
  std::uint64_t next() {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return state_ >> 11;
  }
  /// From -1 to 1.
  double balanced() { return static_cast<double>(next()) * 0x1p-52 - 1; }

 private:
  std::uint64_t state_ = 1;
};

void measure(int argc, char** argv) {
  const epsflow::Points points = epsflow::io::read_points(argv[1]);
  const double eps = std::atof(argv[2]);
  const auto minpts = static_cast<std::uint32_t>(std::atoi(argv[3]));
  epsflow::EngineOptions options;
  options.threads = static_cast<unsigned>(std::atoi(option(argc, argv, "--threads", "0")));
  const std::string_view backend = option(argc, argv, "--backend", "auto");
  if (backend == "cpu") options.backend = epsflow::BackendChoice::cpu;
  if (backend == "gpu") options.backend = epsflow::BackendChoice::gpu;
  const std::size_t d = points.dims();
  if (points.size() == 0) throw epsflow::InputError("no points");
  const std::vector<double> values = coordinates(points);

  const auto clustered =
      epsflow::run(epsflow::Engine(options).load(points), epsflow::Sweep({{eps, minpts}}), {.core_mask = true});
  std::vector<double> core;
  std::vector<std::int32_t> labels;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (clustered[0].core[i] == 0) continue;
    for (std::size_t k = 0; k < d; ++k) core.push_back(values[i * d + k]);
    labels.push_back(clustered[0].labels[i]);
  }
  Numbers numbers;
  std::vector<double> fresh(std::strtoull(option(argc, argv, "--new", "1000000"), nullptr, 10) * d);
  for (std::size_t i = 0; i < fresh.size() / d; ++i) {
    const std::size_t from = numbers.next() % points.size();
    for (std::size_t k = 0; k < d; ++k) fresh[i * d + k] = values[from * d + k] + eps * numbers.balanced();
  }

  nlohmann::ordered_json json{{"core", labels.size()}, {"new", fresh.size() / d}};
  const Clock::time_point begin = Clock::now();
  const epsflow::Predictor predictor({epsflow::PointsView(core, d), labels, eps}, options);
  json["make_s"] = seconds_since(begin);
  json["seconds"] = nlohmann::json::array();
  std::uint64_t assigned = 0;
  for (int i = 0; i < std::atoi(option(argc, argv, "--repeat", "5")); ++i) {
    const Clock::time_point start = Clock::now();
    const epsflow::Labels found = predictor.predict(epsflow::PointsView(fresh, d));
    json["seconds"].push_back(seconds_since(start));
    assigned = static_cast<std::uint64_t>(std::count_if(found.begin(), found.end(), [](auto l) { return l >= 0; }));
  }
  std::vector<double> ones;
  for (std::size_t i = 0; i < std::min<std::size_t>(100, fresh.size() / d); ++i) {
    const Clock::time_point start = Clock::now();
    (void)predictor.predict(epsflow::PointsView(std::span(fresh).subspan(i * d, d), d));
    ones.push_back(seconds_since(start));
  }
  std::sort(ones.begin(), ones.end());
  if (!ones.empty()) json["one_s"] = ones[ones.size() / 2];
  json["assigned"] = assigned;
  std::cout << json.dump() << "\n";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4 || argc % 2 != 0) {
    std::fprintf(stderr, "usage: bench_predict FILE EPS MINPTS [--OPTION VALUE …]\n");
    return 2;
  }
  try {
    measure(argc, argv);
  } catch (const epsflow::Error& e) {
    std::fprintf(stderr, "bench_predict: %s\n", e.what());
    return 1;
  }
  return 0;
}
