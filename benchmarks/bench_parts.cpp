// Times a sweep over ranks that are threads of this process beside the same sweep in one, and prints one line of JSON:
//
//   bench_parts FILE|uniform:N:DIMS|lattice:SIDE[:COUNT]|haloes:N EPS_LIST MINPTS_LIST [--ranks N] [--threads N] [--backend cpu|gpu]
//               [--repeat N] [--gpus LIST] [--gpu-memory BYTES] [--parts N] [--drop] [--alone] [--gpu-each]
//
// lattice: SIDE³ points at distance 1, in cubes of 100³ with gaps of 2 between them; COUNT of them side by side, one after the other.
// haloes: as bench_gpu direct makes them. --drop: labels are compared with nothing, and let go as they come. --alone: without the one run.
// threads: of each rank; the one run has as many as all ranks. whole_s: from points in host memory to labels there, each repetition.
// parts_s: the same in parts, from the shares to their labels; distribute_s and cluster_s: of the slowest rank of the last repetition.
// --gpu-each: rank r has GPU r to itself.
// equal: whether all labels are those of the one run.
//
// With --gpus or --gpu-memory there are no ranks: parts_s is a sweep that these GPUs share, or that goes through the memory that they are
// left, from points in host memory to labels there; `sharing` says how. The one run has a whole GPU. All engines stay from one repetition
// to the next.
#include <tbb/parallel_for.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include <epsflow/io/read_points.hpp>
#include <epsflow/parts/sweep.hpp>
#include <epsflow/parts/thread_ranks.hpp>
#include <epsflow/pipeline/engine.hpp>
#include <epsflow/pipeline/sweep.hpp>

#include "made_haloes.hpp"

namespace {

using Clock = std::chrono::steady_clock;

const char* option(int argc, char** argv, const char* name, const char* otherwise) {
  for (int i = 4; i + 1 < argc; ++i) {
    if (std::strcmp(argv[i], name) == 0) return argv[i + 1];
  }
  return otherwise;
}

epsflow::Points lattice(std::size_t side, std::size_t count) {
  epsflow::Points points(count * side * side * side, 3, epsflow::Precision::float32);
  const auto place = [](std::size_t i) { return static_cast<float>(i + i / 100); };
  const std::size_t layer = side * side;
  tbb::parallel_for(std::size_t{0}, count * side, [&](std::size_t x) {
    float* to = points.values<float>().data() + 3 * layer * x;
    const float at = place(x % side) + static_cast<float>(x / side) * (place(side - 1) + 2);
    for (std::size_t y = 0; y < side; ++y) {
      for (std::size_t z = 0; z < side; ++z, to += 3) to[0] = at, to[1] = place(y), to[2] = place(z);
    }
  });
  return points;
}

epsflow::Points haloes(std::uint64_t n) {
  epsflow::Points points(n, 3, epsflow::Precision::float32);
  const double side = epsflow::bench::side_of_haloes(n);
  const std::vector<epsflow::bench::Halo> made = epsflow::bench::make_haloes(n, side);
  float* const to = points.values<float>().data();
  tbb::parallel_for(std::uint64_t{0}, n, [&](std::uint64_t i) {
    epsflow::bench::point_of_haloes(i, side, made.data(), made.size(), to + 3 * i);
  });
  return points;
}

epsflow::Points read(const std::string& what) {
  if (what.starts_with("lattice:")) {
    const std::size_t colon = what.find(':', 8);
    return lattice(std::stoull(what.substr(8)), colon == what.npos ? 1 : std::stoull(what.substr(colon + 1)));
  }
  if (what.starts_with("haloes:")) return haloes(std::stoull(what.substr(7)));
  if (!what.starts_with("uniform:")) return epsflow::io::read_points(what);
  const std::size_t colon = what.find(':', 8);
  const auto n = static_cast<std::size_t>(std::stoull(what.substr(8, colon - 8)));
  epsflow::Points points(n, std::stoull(what.substr(colon + 1)), epsflow::Precision::float32);
  float* const to = points.values<float>().data();
  tbb::parallel_for(std::size_t{0}, points.values<float>().size(),
                    [&](std::size_t i) { to[i] = static_cast<float>(epsflow::bench::random_number(i)); });
  return points;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 4)
    throw epsflow::UsageError("bench_parts FILE|uniform:N:DIMS EPS_LIST MINPTS_LIST [--ranks N] [--threads N]");
  const auto since = [](Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
  };
  const epsflow::Points points = read(argv[1]);
  const epsflow::Sweep sweep = epsflow::grid(epsflow::parse_eps_list(argv[2]), epsflow::parse_minpts_list(argv[3]));
  const int ranks = std::atoi(option(argc, argv, "--ranks", "4"));
  const int repeat = std::atoi(option(argc, argv, "--repeat", "1"));
  epsflow::EngineOptions options;
  options.threads = static_cast<unsigned>(std::atoi(option(argc, argv, "--threads", "1")));
  options.backend = *epsflow::choice_of<epsflow::BackendChoice>(option(argc, argv, "--backend", "cpu"));
  epsflow::EngineOptions all = options;
  all.threads = options.threads * static_cast<unsigned>(ranks);
  nlohmann::ordered_json json{{"points", points.size()}, {"ranks", ranks}, {"threads", options.threads}};
  std::vector<epsflow::VariantResult> whole;
  const epsflow::Engine engine(all);
  const auto said = [&](const char* name) {
    return std::any_of(argv + 4, argv + argc, [&](const char* word) { return std::strcmp(word, name) == 0; });
  };
  const bool drop = said("--drop"), alone = said("--alone");
  for (int i = 0; i < repeat && !alone; ++i) {
    whole.clear();
    const auto begin = Clock::now();
    const epsflow::Dataset data = engine.load(points);
    epsflow::run_each({data}, {}, sweep, {}, [&](epsflow::VariantResult&& result) {
      if (drop) result.labels = {};
      whole.push_back(std::move(result));
    });
    json["whole_s"].push_back(since(begin));
  }
  bool equal = true;
  std::mutex mutex;
  const auto compare = [&](const epsflow::VariantResult& result, std::size_t first) {
    for (const epsflow::VariantResult& one : whole) {
      if (one.variant != result.variant) continue;
      const auto begin = one.labels.begin() + static_cast<std::ptrdiff_t>(first);
      const bool same =
          (drop || std::equal(result.labels.begin(), result.labels.end(), begin)) && result.summary == one.summary;
      const std::scoped_lock lock(mutex);
      equal = equal && same;
    }
  };
  const epsflow::parts::DeviceOptions devices{.gpus = option(argc, argv, "--gpus", "")};
  options.gpu_memory = std::stoull(option(argc, argv, "--gpu-memory", "0"));
  if (!devices.gpus.empty() || options.gpu_memory != 0) {
    options.threads = all.threads;
    const auto settings = epsflow::parts::engines_on(devices, options);
    auto answer = epsflow::parts::choose_sharing({points}, sweep, settings, {});
    const std::vector<epsflow::Engine> engines = epsflow::parts::make_engines(settings);
    if (const auto parts = std::stoull(option(argc, argv, "--parts", "0")); parts > 0) {
      answer = {epsflow::parts::Sharing::parts, "asked for", parts};
    }
    json["sharing"] = {{"engines", engines.size()}, {"parts", answer.parts}, {"because", answer.reason}};
    for (int i = 0; i < repeat; ++i) {
      std::vector<epsflow::VariantResult> results;
      const auto begin = Clock::now();
      const auto take = [&](epsflow::VariantResult&& result) {
        if (drop) result.labels = {};
        results.push_back(std::move(result));
      };
      epsflow::run_each({points}, {.engines = engines, .sharing = &answer}, sweep, {}, take);
      json["parts_s"].push_back(since(begin));
      if (!results.empty()) json["clusters"] = results.front().summary.clusters;
      equal = equal && (alone || results.size() == whole.size());
      for (const epsflow::VariantResult& result : results) compare(result, 0);
    }
    if (!drop && !alone) json["equal"] = equal;
    std::cout << json.dump() << '\n';
    return equal ? EXIT_SUCCESS : EXIT_FAILURE;
  }
  for (int i = 0; i < repeat; ++i) {
    std::vector<epsflow::PartFigures> figures(static_cast<std::size_t>(ranks));
    const auto begin = Clock::now();
    epsflow::parts::run_ranks(ranks, [&](epsflow::parts::Exchange& exchange) {
      const auto r = static_cast<std::size_t>(exchange.rank());
      epsflow::EngineOptions own = options;
      if (said("--gpu-each")) own.gpu = exchange.rank();
      const std::size_t first = points.size() * r / figures.size(), last = points.size() * (r + 1) / figures.size();
      figures[r] = epsflow::run_each({points.view().rows(first, last)}, {.options = {&own, 1}, .ranks = &exchange},
                                     sweep, {}, [&](epsflow::VariantResult&& result) { compare(result, first); });
    });
    json["parts_s"].push_back(since(begin));
    if (i + 1 < repeat) continue;
    double distribute = 0, cluster = 0;
    for (const auto& f : figures) {
      distribute = std::max(distribute, f.distribute_seconds);
      cluster = std::max(cluster, f.cluster_seconds);
      json["part_points"].push_back(f.points);
      json["ghosts"].push_back(f.ghosts);
      json["sent_bytes"].push_back(f.sent_bytes);
    }
    json["distribute_s"] = distribute;
    json["cluster_s"] = cluster;
  }
  if (!drop && !alone) json["equal"] = equal;
  std::cout << json.dump() << '\n';
  return equal ? EXIT_SUCCESS : EXIT_FAILURE;
} catch (const std::exception& error) {
  std::cerr << "bench_parts: " << error.what() << '\n';
  return EXIT_FAILURE;
}
