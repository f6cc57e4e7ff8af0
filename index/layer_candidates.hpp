// Functions that may become layers: coordinates, and distances to pivots.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <epsflow/core/cancel.hpp>
#include <epsflow/index/layer_function.hpp>
#include <epsflow/index/layers.hpp>

namespace epsflow::index {

/// A coordinate, or the distance to a pivot where there is one.
struct LayerCandidate {
  explicit LayerCandidate(std::uint32_t coordinate) : dim(coordinate) {}
  explicit LayerCandidate(std::vector<double> at) : pivot(std::move(at)) {}

  std::uint32_t dim = 0;
  std::vector<double> pivot;
  std::vector<double> values;       ///< of the sample, in reaches
  std::vector<std::uint32_t> bins;  ///< of the sample
  LayerFunction function;           ///< without the number of its pivot
};

/// Candidates that there are at most.
inline constexpr std::size_t kMostCandidates = 38;
/// Points of a sample that rank functions by how their values spread.
inline constexpr std::size_t kRankingPoints = 256;

/// Candidates for the points of a sample, which is not empty. O(sample · dims · candidates), in parallel; the result does not
/// depend on the number of threads. Throws Cancelled.
[[nodiscard]] std::vector<LayerCandidate> make_candidates(const LayerSample& sample, double eps, LayerKind kind,
                                                          const CancelToken& cancel);
/// The most that it takes at a time.
[[nodiscard]] std::uint64_t candidate_bytes(std::uint64_t sample, std::size_t dims) noexcept;

}  // namespace epsflow::index
