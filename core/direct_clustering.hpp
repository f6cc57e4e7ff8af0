// DBSCAN of one eps without a table: the way to labels.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include <epsflow/core/choices.hpp>
#include <epsflow/core/labels.hpp>
#include <epsflow/core/weights.hpp>

namespace epsflow {

/// What a direct clustering is made for.
struct DirectOptions {
  std::span<const std::uint32_t> minpts;  ///< descending, at least one
  bool core_mask = false;
  MemorySpace labels = MemorySpace::host;  ///< where labels and mask are kept
  /// Null, or what is summed in place of neighbours; of the data set that the index is of, which it must outlive.
  const LoadedWeights* weights = nullptr;
};

/// Clusters the variants of one eps where the points are. Made for a group of minpts, used once, by one thread.
class DirectClustering {
 public:
  DirectClustering() = default;
  DirectClustering(const DirectClustering&) = delete;
  DirectClustering& operator=(const DirectClustering&) = delete;
  virtual ~DirectClustering() = default;

  /// Calls emit(result) for each variant, in descending order of minpts, from the calling thread; what emit throws is
  /// thrown from here. VariantResult::variant has the eps that was searched. Throws Cancelled, ResourceError.
  virtual void run(const std::function<void(VariantResult&&)>& emit) = 0;
  /// While a result is handed over: seconds of those that were made together with it and have yet to be handed over.
  [[nodiscard]] virtual double seconds_waiting() const { return 0; }
  /// Pairs of points that a faster test has left to float64 so far.
  [[nodiscard]] virtual std::uint64_t open_pairs() const { return 0; }
};

}  // namespace epsflow
