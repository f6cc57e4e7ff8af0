// Functions of points that are candidates for layers: coordinates, and distances to pivots.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <epsflow/core/cancel.hpp>
#include <epsflow/index/layer_function.hpp>
#include <epsflow/index/layers.hpp>

namespace epsflow::index {

/// The distance to a pivot if `pivot` is not empty, else a coordinate.
struct LayerCandidate {
  explicit LayerCandidate(std::uint32_t coordinate) : dim(coordinate) {}
  explicit LayerCandidate(std::vector<double> at) : pivot(std::move(at)) {}

  std::uint32_t dim = 0;
  std::vector<double> pivot;
  std::vector<double> values;       ///< [sample] values, in reaches
  std::vector<std::uint32_t> bins;  ///< [sample] bins
  LayerFunction function;           ///< its pivot number is not set
};

inline constexpr std::size_t kMostCandidates = 38;
/// Points of the sample that ranks functions by the spread of their values.
inline constexpr std::size_t kRankingPoints = 256;

/// Returns the candidates for a non-empty sample. O(sample · dims · candidates), in parallel; the result does not
/// depend on the number of threads. Throws Cancelled.
[[nodiscard]] std::vector<LayerCandidate> make_candidates(const LayerSample& sample, double eps, LayerKind kind,
                                                          const CancelToken& cancel);
/// Returns the peak memory of make_candidates() for a sample of this number of points, in bytes. It includes the
/// sample.
[[nodiscard]] std::uint64_t candidate_bytes(std::uint64_t sample, std::size_t dims) noexcept;

}  // namespace epsflow::index
