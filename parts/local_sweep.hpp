// A sweep of this process over points in parts of space, which workers take in turn. The points are in memory or come
// from a source.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include <epsflow/core/backend.hpp>
#include <epsflow/core/cancel.hpp>
#include <epsflow/core/error.hpp>
#include <epsflow/core/metric.hpp>
#include <epsflow/core/points.hpp>
#include <epsflow/core/sweep.hpp>
#include <epsflow/parts/partition.hpp>
#include <epsflow/pipeline/options.hpp>
#include <epsflow/pipeline/point_rows.hpp>
#include <epsflow/pipeline/sweep.hpp>

namespace epsflow::parts {

/// The bytes of a point at one minpts: its label and its core flag, both in its part and in the result.
inline constexpr std::uint64_t kBytesPerLabel = 10;
/// The largest number of parts for each worker.
inline constexpr std::size_t kMostParts = 256;
/// The largest number of parts of a sweep. It is limited because ghosts are listed by pairs of parts.
inline constexpr std::size_t kMostPartsOfAll = 1024;
/// Returns the largest number of minpts of one eps, at least 1.
[[nodiscard]] std::size_t most_levels(const Sweep& sweep);
/// Returns true if the labels of a part are retained until the labels of all parts are known.
[[nodiscard]] inline bool labels_retained(const RunOptions& options) noexcept {
  return options.keep != Keep::summary || options.clusters;
}
/// Returns true if core masks are made, for the result or to count the core points of clusters.
[[nodiscard]] inline bool masks_made(const RunOptions& options) noexcept {
  return options.clusters || (options.core_mask && options.keep != Keep::summary);
}

/// The number of parts that a worker holds at a time, so that one can be loaded while the other is clustered.
inline constexpr std::size_t kTogether = 2;

/// A backend that clusters parts, with the threads that it may use.
struct PartWorker {
  Backend& backend;
  unsigned threads = 1;
};

/// The input of run_local(). The points, weights, metric, sweep and partition must outlive the call.
struct LocalSweep {
  PointRows points;                      ///< [n × d]; if not in memory, the metric must not transform them
  std::span<const double> weights = {};  ///< [n] as for Dataset::weighted(), or none
  const Metric& metric;
  const Sweep& sweep;
  std::size_t parts = 1;                 ///< number of parts of space
  const Partition* partition = nullptr;  ///< cuts that make this number of parts, or null
  /// Bytes for the labels of the variants that are labelled together. One variant is always possible.
  std::uint64_t memory = 0;
  /// Bytes of host memory that the whole sweep may hold, the points included; 0: not limited.
  std::uint64_t budget = 0;
  std::uint64_t part_bytes = 0;  ///< host memory for each point while it is clustered, without coordinates
};

/// Thrown if points in parts need more memory than the budget.
class PartsBeyondBudget : public ResourceError {
 public:
  PartsBeyondBudget(const std::string& text, std::uint64_t needed) : ResourceError(text), needed_(needed) {}
  /// The bytes that are needed; the largest number if they are not known.
  [[nodiscard]] std::uint64_t needed() const noexcept { return needed_; }

 private:
  std::uint64_t needed_;
};

/// Implements run_each() for points in parts: the same labels, bit for bit, for any cuts. Clusters directly, without
/// tables. The minpts of an eps are processed in batches, each as large as LocalSweep::memory permits. If each worker
/// can hold all its parts at a time (kTogether), a part is loaded once for each eps. Otherwise it is loaded for each
/// batch: once if the backend reports which border points may move to clusters of other parts, or if there are no
/// border points; else at most twice, to find its clusters and to label them. Variants come by descending eps, then by
/// descending minpts, from the calling thread. If there are several workers, each a GPU with one part, the GPUs may
/// hold all points instead (DeviceSweep), and the budget is not checked.
///
/// The budget covers the points in memory, their transformed copy, 2 bytes for each point, ghosts, weights (8 bytes),
/// labels, and the parts that are being clustered.
///
/// Throws as run_each(), but an InputError may name a row within a part; PartsBeyondBudget if the budget is exceeded;
/// UsageError for options that parts lack (verify, Keep::core, labels on a device, tables, tiles of a GPU), and for a
/// periodic box with a side that is not longer than about 2·eps.
void run_local(const LocalSweep& what, std::span<const PartWorker> workers, const OnResult& on_result,
               const RunOptions& options, const CancelToken& cancel);

/// Throws UsageError if the options request a feature that parts lack. slices: true if the points have slices.
void check_parts_have(const RunOptions& options, bool slices = false);

}  // namespace epsflow::parts
