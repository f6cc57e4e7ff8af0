// Times a sweep over the processes of MPI, and prints one line of JSON:
//
//   mpirun -n R bench_ranks POINTS EPS_LIST MINPTS_LIST [--threads N] [--backend cpu|gpu] [--repeat N]
//
// threads: of each process. With one process it is a sweep without parts, as a reference. seconds: of each repetition,
// from shares in memory to their labels, with loading, until the last process is done. Engines are kept, and the first
// repetition is a warm-up. distribute_s and cluster_s: of the slowest process of the last repetition. labels: a
// checksum, the same for any number of processes.
#include <span>
#include <utility>

#include <epsflow/mpi/mpi_ranks.hpp>
#include <epsflow/parts/sweep.hpp>
#include <epsflow/pipeline/engine.hpp>
#include <epsflow/pipeline/sweep.hpp>

#include "points.hpp"

namespace {

using namespace epsflow;
using parts::Communicator;

/// Returns a checksum of labels and their rows. The sum over all processes does not depend on the shares.
std::uint64_t checksum(std::span<const std::int32_t> labels, std::size_t first) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    std::uint64_t mixed = (first + i) * 0x9E3779B97F4A7C15U + static_cast<std::uint32_t>(labels[i]);
    mixed = (mixed ^ (mixed >> 29)) * 0xBF58476D1CE4E5B9U;
    sum += mixed ^ (mixed >> 32);
  }
  return sum;
}

int measure(Communicator& communicator, const bench::Words& words) {
  const auto rank = static_cast<std::size_t>(communicator.rank()),
             ranks = static_cast<std::size_t>(communicator.size());
  const Sweep sweep = words.sweep(1);
  auto options = words.options<EngineOptions>({.threads = 1, .backend = BackendChoice::cpu});
  if (options.backend == BackendChoice::gpu) options.gpu = static_cast<unsigned>(rank);
  const Points points = bench::points_of<float>(words[0], rank, ranks);
  const std::uint64_t all = communicator.sum(points.size());
  bench::Json json{{"points", all}, {"processes", ranks}, {"threads", options.threads}, {"variants", sweep.size()}};
  std::uint64_t labels = 0;
  PartFigures figures;
  const Engine engine(options);
  for (int i = 0; i < words.repeat(3); ++i) {
    std::vector<VariantResult> results;
    (void)communicator.sum(0);
    json["seconds"].push_back(bench::seconds_of([&] {
      const std::uint64_t sent = communicator.sent_bytes();
      if (ranks == 1) {
        results = run(engine.load(points), sweep);
      } else {
        figures = run_each({points}, {.engines = {&engine, 1}, .ranks = &communicator}, sweep, {},
                           [&](VariantResult&& result) { results.push_back(std::move(result)); });
        figures.sent_bytes -= sent;
      }
      (void)communicator.sum(0);
    }));
    for (const VariantResult& result : results) {
      if (i == 0) labels += checksum(result.labels.span(), all * rank / ranks);
    }
  }
  std::vector<std::uint64_t> counts(3 * ranks, 0);
  counts[rank] = figures.points;
  counts[ranks + rank] = figures.ghosts;
  counts[2 * ranks + rank] = figures.sent_bytes;
  communicator.sum(std::span(counts));
  double slowest[] = {figures.distribute_seconds, figures.cluster_seconds};
  communicator.max(std::span(slowest));
  labels = communicator.sum(labels);
  if (rank != 0) return 0;
  for (std::size_t r = 0; ranks > 1 && r < ranks; ++r) {
    json["part_points"].push_back(counts[r]);
    json["ghosts"].push_back(counts[ranks + r]);
    json["sent_bytes"].push_back(counts[2 * ranks + r]);
  }
  json["distribute_s"] = slowest[0];
  json["cluster_s"] = slowest[1];
  json["labels"] = labels;
  bench::print(json);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return epsflow::mpi::run_world(
      &argc, &argv,
      [&](Communicator& communicator) {
        return measure(communicator,
                       epsflow::bench::Words("POINTS EPS_LIST MINPTS_LIST [--OPTION VALUE …]", argc - 1, argv + 1));
      },
      [](const std::exception&) { return 1; });
}
