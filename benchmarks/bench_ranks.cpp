// Times a sweep over the processes of MPI, and prints one line of JSON:
//
//   mpirun -n R bench_ranks FILE|uniform:N:DIMS EPS_LIST MINPTS_LIST [--threads N] [--backend cpu|gpu] [--repeat N]
//
// threads: of each process. With one process it is a sweep without parts, to compare with. seconds: of each repetition, from shares in
// memory to their labels, loading included, until the last process is done, by engines that stay; the first warms up. distribute_s and cluster_s: of the slowest process of the
// last repetition. labels: a checksum, the same for any number of processes.
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <utility>

#include <epsflow/core/error.hpp>
#include <epsflow/io/read_points.hpp>
#include <epsflow/mpi/mpi_ranks.hpp>
#include <epsflow/parts/sweep.hpp>
#include <epsflow/pipeline/engine.hpp>
#include <epsflow/pipeline/sweep.hpp>

namespace {

using Clock = std::chrono::steady_clock;
using epsflow::PartFigures;
using epsflow::parts::Exchange;

constexpr std::size_t kBlock = 1 << 16;

const char* option(int argc, char** argv, const char* name, const char* otherwise) {
  for (int i = 4; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], name) == 0) return argv[i + 1];
  }
  return otherwise;
}

struct Share {
  epsflow::Points points;
  std::size_t first;  ///< row of all
};

std::pair<std::size_t, std::size_t> rows_of(std::size_t points, const Exchange& exchange) {
  const auto rank = static_cast<std::size_t>(exchange.rank()), ranks = static_cast<std::size_t>(exchange.size());
  return {points * rank / ranks, points * (rank + 1) / ranks};
}

Share read(const std::string& what, const Exchange& exchange) {
  if (!what.starts_with("uniform:")) {
    const epsflow::Points all = epsflow::io::read_points(what);
    const auto [first, last] = rows_of(all.size(), exchange);
    epsflow::Points points(last - first, all.dims(), all.precision());
    const epsflow::PointsView rows = all.view().rows(first, last);
    void* const to = all.precision() == epsflow::Precision::float32 ? static_cast<void*>(points.values<float>().data())
                                                                    : points.values<double>().data();
    std::memcpy(to, rows.data(), rows.bytes());
    return {std::move(points), first};
  }
  const std::size_t colon = what.find(':', 8);
  const std::size_t dims = std::stoull(what.substr(colon + 1));
  const auto [first, last] = rows_of(std::stoull(what.substr(8, colon - 8)), exchange);
  epsflow::Points points(last - first, dims, epsflow::Precision::float32);
  float* to = points.values<float>().data();
  // Each block of rows has random numbers of its own, so that the points do not depend on the processes.
  for (std::size_t block = first / kBlock; block * kBlock < last; ++block) {
    std::mt19937_64 random(block + 1);
    for (std::size_t i = block * kBlock; i < std::min(last, (block + 1) * kBlock); ++i) {
      for (std::size_t k = 0; k < dims; ++k) {
        const auto x = static_cast<float>(static_cast<double>(random() >> 40) * 0x1p-24);
        if (i >= first) *to++ = x;
      }
    }
  }
  return {std::move(points), first};
}

/// A sum that tells labels of rows from each other, whoever has them.
std::uint64_t checksum(std::span<const std::int32_t> labels, std::size_t first) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    std::uint64_t mixed = (first + i) * 0x9E3779B97F4A7C15U + static_cast<std::uint32_t>(labels[i]);
    mixed = (mixed ^ (mixed >> 29)) * 0xBF58476D1CE4E5B9U;
    sum += mixed ^ (mixed >> 32);
  }
  return sum;
}

int bench(Exchange& exchange, int argc, char** argv) {
  if (argc < 4) throw epsflow::UsageError("bench_ranks FILE|uniform:N:DIMS EPS_LIST MINPTS_LIST [--threads N]");
  const epsflow::Sweep sweep = epsflow::grid(epsflow::parse_eps_list(argv[2]), epsflow::parse_minpts_list(argv[3]));
  epsflow::EngineOptions options;
  options.threads = static_cast<unsigned>(std::atoi(option(argc, argv, "--threads", "1")));
  options.backend = *epsflow::choice_of<epsflow::BackendChoice>(option(argc, argv, "--backend", "cpu"));
  if (options.backend == epsflow::BackendChoice::gpu) options.gpu = static_cast<unsigned>(exchange.rank());
  const Share share = read(argv[1], exchange);
  std::uint64_t labels = 0;
  const auto take = [&](const epsflow::VariantResult& result) {
    labels += checksum(result.labels.span(), share.first);
  };
  nlohmann::ordered_json json{{"points", exchange.sum(share.points.size())},
                              {"processes", exchange.size()},
                              {"threads", options.threads},
                              {"variants", sweep.size()}};
  PartFigures figures;
  const epsflow::Engine engine(options);
  const int repeat = std::atoi(option(argc, argv, "--repeat", "3"));
  for (int i = 0; i < repeat; ++i) {
    std::vector<epsflow::VariantResult> results;
    (void)exchange.sum(0);
    const auto begin = Clock::now();
    const std::uint64_t sent = exchange.sent_bytes();
    if (exchange.size() == 1) {
      results = epsflow::run(engine.load(share.points), sweep);
    } else {
      figures = epsflow::run_each({share.points}, {.engines = {&engine, 1}, .ranks = &exchange}, sweep, {},
                                  [&](epsflow::VariantResult&& result) { results.push_back(std::move(result)); });
      figures.sent_bytes -= sent;
    }
    (void)exchange.sum(0);
    json["seconds"].push_back(std::chrono::duration<double>(Clock::now() - begin).count());
    if (i == 0) {
      for (const epsflow::VariantResult& result : results) take(result);
    }
  }
  const auto rank = static_cast<std::size_t>(exchange.rank()), ranks = static_cast<std::size_t>(exchange.size());
  std::vector<std::uint64_t> counts(3 * ranks, 0);
  counts[rank] = figures.points;
  counts[ranks + rank] = figures.ghosts;
  counts[2 * ranks + rank] = figures.sent_bytes;
  exchange.sum(std::span(counts));
  double slowest[] = {figures.distribute_seconds, figures.cluster_seconds};
  exchange.max(std::span(slowest));
  labels = exchange.sum(labels);
  if (rank != 0) return EXIT_SUCCESS;
  for (std::size_t r = 0; ranks > 1 && r < ranks; ++r) {
    json["part_points"].push_back(counts[r]);
    json["ghosts"].push_back(counts[ranks + r]);
    json["sent_bytes"].push_back(counts[2 * ranks + r]);
  }
  json["distribute_s"] = slowest[0];
  json["cluster_s"] = slowest[1];
  json["labels"] = labels;
  std::cout << json.dump() << '\n';
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  return epsflow::mpi::run_world(
      &argc, &argv, [&](Exchange& exchange) { return bench(exchange, argc, argv); },
      [](const std::exception&) { return EXIT_FAILURE; });
}
