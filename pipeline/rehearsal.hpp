// How long a run takes, from a run on some of its points.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <epsflow/core/backend.hpp>
#include <epsflow/core/buffer.hpp>
#include <epsflow/core/memory.hpp>
#include <epsflow/core/points.hpp>
#include <epsflow/core/slices.hpp>
#include <epsflow/pipeline/options.hpp>
#include <epsflow/pipeline/session.hpp>
#include <epsflow/stages/eps_job.hpp>

namespace epsflow {

/// A sample in which neighbourhoods are mostly whole: stretches of the points along a curve (index/leaf_order.hpp), or whole slices where
/// points are in slices that are small enough. A run on it is as
/// a part of the run on all points, on the same machine, threads and options.
class Rehearsal {
 public:
  /// Both must outlive it. Nothing is done yet.
  Rehearsal(Session& session, const RunOptions& options) : session_(session), options_(options) {}

  /// Seconds that the variants of the group take on all points, the index included. index, candidates: what the index of all points is
  /// built with, and its IndexFigures::candidates. Works on the threads of the calling arena. Nothing on a GPU, where time
  /// does not grow as the points do: 1.9 million took 0.84 ms, and 15 million 3.12 ms (benchmarks/results/gpu.md). Nothing
  /// either where the memory has no room for the sample. Throws Cancelled.
  [[nodiscard]] std::optional<double> seconds(const stages::EpsGroup& group, const IndexOptions& index,
                                              std::uint64_t candidates, Strategy strategy);

 private:
  /// Some of the points with their weights, or all.
  struct Sample {
    MemoryCharge memory = {};
    Points points = {};
    std::unique_ptr<const LoadedPoints> loaded = nullptr;
    std::optional<LoadedWeights> weights = std::nullopt;
  };

  [[nodiscard]] std::uint64_t sample_size(std::uint64_t candidates) const;
  /// The ids of about so many points, and the slices that they are.
  struct Chosen {
    std::vector<std::uint32_t> ids = {};
    std::shared_ptr<const Slices> slices = nullptr;
  };
  [[nodiscard]] Chosen choose(std::uint64_t size);
  [[nodiscard]] Sample sample(std::uint64_t size);
  void find_order();
  [[nodiscard]] double run(const stages::EpsGroup& group, const LoadedPoints& points, const LoadedWeights* weights,
                           Strategy strategy);

  Session& session_;
  const RunOptions& options_;
  MemoryCharge order_memory_;
  Buffer<std::uint32_t> order_;  ///< of the points along the curve; empty until it is needed
};

}  // namespace epsflow
