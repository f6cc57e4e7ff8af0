// Many data sets in one run: how long a data set takes, beside a loop over some of them.
//
//   bench_slices [--sets N] [--points N] [--dims D] [--backend cpu|gpu] [--threads N] [--looped N] [--repeat N]
//
// Sets of uniform points, 16 variants: eps at 4 multiples of the mean separation, 4 minpts. Host to host, labels included, best of the
// repetitions; the first run of the engine is not counted. Prints JSON: seconds in all, milliseconds for each set in one run and in a loop of one
// engine over `looped` of them, and whether labels are equal there.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <epsflow/pipeline/sweep.hpp>

namespace {

using namespace epsflow;

double seconds_of(const auto& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

int measure(std::map<std::string, std::string> words) {
  const auto number = [&](const char* name, std::uint64_t standard) {
    return words.contains(name) ? std::stoull(words.at(name)) : standard;
  };
  const std::uint64_t sets = number("--sets", 10'000);
  const std::uint64_t points = number("--points", 1000);
  const std::size_t dims = number("--dims", 2);
  const std::uint64_t looped = std::min<std::uint64_t>(sets, number("--looped", 200));
  const std::uint64_t repeat = number("--repeat", 3);
  EngineOptions options;
  options.threads = static_cast<unsigned>(number("--threads", 0));
  options.backend = words["--backend"] == "gpu" ? BackendChoice::gpu : BackendChoice::cpu;

  std::mt19937_64 random(1);
  std::vector<double> x(sets * points * dims);
  for (double& value : x) value = static_cast<double>(random() >> 11) * 0x1p-53;
  std::vector<std::uint64_t> offsets;
  for (std::uint64_t s = 0; s <= sets; ++s) offsets.push_back(s * points);
  const double separation = std::pow(1.0 / static_cast<double>(points), 1.0 / static_cast<double>(dims));
  const Sweep sweep = grid({0.5 * separation, 0.7 * separation, 0.9 * separation, 1.1 * separation}, {2, 4, 8, 16});
  const PointsView view(std::span<const double>(x), dims);
  const Engine engine(options);

  std::vector<VariantResult> together;
  double best = 1e300;
  for (std::uint64_t r = 0; r <= repeat; ++r) {
    const double took = seconds_of([&] { together = run(engine.load(view, offsets), sweep); });
    if (r > 0) best = std::min(best, took);
  }
  bool equal = true;
  double loop = 1e300;
  for (std::uint64_t r = 0; r < repeat; ++r) {
    std::vector<std::vector<VariantResult>> alone(looped);
    loop = std::min(loop, seconds_of([&] {
                      for (std::uint64_t s = 0; s < looped; ++s) {
                        alone[s] = run(engine.load(view.rows(offsets[s], offsets[s + 1])), sweep);
                      }
                    }));
    for (std::uint64_t s = 0; s < looped && r == 0; ++s) {
      for (std::size_t v = 0; v < sweep.size(); ++v) {
        equal = equal && std::equal(alone[s][v].labels.begin(), alone[s][v].labels.end(),
                                    together[v].labels.begin() + static_cast<std::ptrdiff_t>(offsets[s]));
      }
    }
  }
  const double each = 1e3 * best / static_cast<double>(sets);
  const double each_looped = 1e3 * loop / static_cast<double>(looped);
  std::cout << nlohmann::ordered_json{{"backend", engine.backend()},
                                      {"sets", sets},
                                      {"points", points},
                                      {"dims", dims},
                                      {"seconds", best},
                                      {"ms_per_set", each},
                                      {"ms_per_set_looped", each_looped},
                                      {"ratio", each_looped / each},
                                      {"equal", equal}}
                   .dump()
            << "\n";
  return equal ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    std::map<std::string, std::string> words;
    for (int i = 1; i + 1 < argc; i += 2) words[argv[i]] = argv[i + 1];
    return measure(std::move(words));
  } catch (const std::exception& e) {
    std::cerr << "bench_slices: " << e.what() << "\n";
    return 1;
  }
}
