// Times many data sets in one run, and a loop over some of them.
//
//   bench_slices [--sets N] [--points N] [--dims D] [--backend cpu|gpu] [--threads N] [--looped N] [--repeat N]
//
// The sets are uniform points. The sweep has 16 variants: eps at 4 multiples of the mean separation, 4 minpts. Times
// are from host to host with labels, the minimum of the repetitions after one warm-up. Prints JSON: seconds of the run,
// milliseconds for each set in the run and in a loop of one engine over `looped` sets, and whether labels are equal.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "bench.hpp"

#include <epsflow/pipeline/sweep.hpp>

namespace {

using namespace epsflow;
using bench::seconds_of;

int measure(const bench::Words& words) {
  const std::uint64_t sets = words.number("--sets", 10'000);
  const std::uint64_t points = words.number("--points", 1000);
  const std::size_t dims = words.number("--dims", 2);
  const std::uint64_t looped = std::min<std::uint64_t>(sets, words.number("--looped", 200));
  const std::uint64_t repeat = words.number("--repeat", 3);
  EngineOptions options{.backend = BackendChoice::cpu};
  words.set(options);

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
  const double best =
      1e-3 * std::ranges::min(bench::times_of(1, static_cast<int>(std::max<std::uint64_t>(1, repeat)),
                                              [&] { together = run(engine.load(view, offsets), sweep); }));
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
  std::cout << bench::Json{{"backend", engine.backend()},
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
  return epsflow::bench::run({"bench_slices [--OPTION VALUE …]"}, argc, argv, measure);
}
