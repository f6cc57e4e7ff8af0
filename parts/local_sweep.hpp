// A sweep over points in the memory of this process by parts, which engines take one after another.
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

/// Of a point and minpts: its label and whether it is core, in its part and among all.
inline constexpr std::uint64_t kBytesPerLabel = 10;
/// Parts of an engine, and of all, at most: each has ghosts of others, which are kept by pairs.
inline constexpr std::size_t kMostParts = 256;
inline constexpr std::size_t kMostPartsOfAll = 1024;
/// minpts of an eps, at most.
[[nodiscard]] std::size_t most_levels(const Sweep& sweep);
/// Whether labels are held until those of all parts are known.
[[nodiscard]] inline bool labels_kept(const RunOptions& options) noexcept {
  return options.keep != Keep::summary || options.clusters;
}

/// Parts that an engine holds at a time, so that one is brought while the other is clustered.
inline constexpr std::size_t kTogether = 2;

/// What works on parts.
struct PartWorker {
  Backend& backend;
  unsigned threads = 1;
};

struct LocalSweep {
  PointRows points;                      ///< [n × d]; not in memory only where the metric leaves them where they are
  std::span<const double> weights = {};  ///< [n] as for Dataset::weighted(), or none
  const Metric& metric;
  const Sweep& sweep;
  std::size_t parts = 1;
  const Partition* partition = nullptr;  ///< null, or where space is cut; then it has so many parts
  std::uint64_t memory = 0;              ///< bytes that the labels of several variants may take
  /// Bytes that all of it may take, the points included; 0: as many as it takes.
  std::uint64_t budget = 0;
  std::uint64_t part_bytes = 0;  ///< in host memory beside coordinates, of each point of a part that is clustered
};

/// What points in parts take is more than the budget.
class PartsBeyondBudget : public ResourceError {
 public:
  PartsBeyondBudget(const std::string& text, std::uint64_t needed) : ResourceError(text), needed_(needed) {}
  [[nodiscard]] std::uint64_t needed() const noexcept { return needed_; }

 private:
  std::uint64_t needed_;
};

/// run_each() over points in parts: the same labels, bit for bit, wherever space is cut. Clusters directly, without tables. A part is brought
/// once where each worker can hold its parts at a time, kTogether of them, or the backend tells which border points other parts may move to
/// another cluster; else once to find its clusters, and once more to label by their numbers. Variants come by descending eps and minpts, from the calling thread. Beside the points the host
/// holds 2 bytes for each, the ghosts, and labels; where that is more than the budget it throws PartsBeyondBudget. The box of a periodic metric must be more than two
/// neighbourhoods wide.
/// Throws as run_each(); UsageError for options that parts do not have (verify, Keep::core, labels on a device, tables, tiles of a GPU), and
/// for a box that is too narrow.
void run_local(const LocalSweep& what, std::span<const PartWorker> workers, const OnResult& on_result,
               const RunOptions& options, const CancelToken& cancel);

/// Throws UsageError if the options request a feature that parts lack. slices: whether the points are divided into slices.
void check_parts_have(const RunOptions& options, bool slices = false);

}  // namespace epsflow::parts
