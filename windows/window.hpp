// A window over a stream of points: points arrive and leave in steps, and clusters keep their ids.
//
// After each step the labels equal the labels of one run over the points of the window, in the order of their arrival.
// A cluster keeps its id from step to step, by the rule of clustering/cluster_matching.hpp. No id is used twice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <epsflow/clustering/cluster_matching.hpp>
#include <epsflow/core/device_array.hpp>
#include <epsflow/core/labels.hpp>
#include <epsflow/core/metric.hpp>
#include <epsflow/core/points.hpp>
#include <epsflow/core/sweep.hpp>
#include <epsflow/pipeline/options.hpp>

namespace epsflow {

struct WindowOptions {
  Metric metric = {};
  bool weighted = false;  ///< points have weights, as in Dataset::weighted()
  bool timed = false;     ///< points have times
  /// A point leaves, or does not enter, once its time is less than the latest time minus this. At least 0; a finite
  /// value requires `timed`.
  double max_age = std::numeric_limits<double>::infinity();
  /// The points that arrived first leave if there are more than this. At least 1.
  std::uint64_t max_points = kMaxPoints;
  EngineOptions engine = {};
  /// Device: labels and core marks stay in the memory of the GPU, and are not copied to the host. This requires a GPU,
  /// and a metric without a periodic box whose transformed points have the Euclidean distance.
  MemorySpace labels = MemorySpace::host;
};

/// The input of a step. All members may be empty.
struct WindowStep {
  PointsView arriving = {};                     ///< [m × d]
  std::span<const double> times = {};           ///< [m] in any order if the window is timed, else empty
  std::span<const double> weights = {};         ///< [m] if the window is weighted, else empty
  std::span<const std::uint64_t> leaving = {};  ///< ids of points in the window, each once
  /// A time that counts as the latest one if none is later. Requires a timed window.
  std::optional<double> now = std::nullopt;
};

struct StepSummary {
  std::uint64_t first_id = 0;  ///< the id of the first point that arrived; the ids of the others follow
  std::uint64_t arrived = 0;   ///< all points that arrived, whether they entered or not
  std::uint64_t too_old = 0;   ///< the points that arrived and did not enter, as they are older than max_age
  std::uint64_t too_many = 0;  ///< the points that arrived and did not enter, as max_points later ones did
  std::uint64_t left = 0;      ///< points that were in the window before and left
  bool from_scratch = false;   ///< all points were clustered anew; else the last clustering was continued
};

struct WindowCluster {
  std::uint64_t id = 0;
  std::uint64_t points = 0;      ///< core and border points
  std::uint64_t core = 0;        ///< core points
  std::uint64_t first_core = 0;  ///< the smallest id of its core points

  friend bool operator==(const WindowCluster&, const WindowCluster&) = default;
};

/// The clusters of one variant after a step.
struct WindowResult {
  Variant variant;
  /// [n] in the order of arrival: an index in `clusters`, or kNoise. Labels and core marks are empty if
  /// WindowOptions::labels is MemorySpace::device.
  Labels labels;
  std::vector<std::uint8_t> core;  ///< [n] 1 for core points, else 0
  /// [n] The same labels and core marks on the GPU, if the points are in its memory; else empty. The caller may change
  /// them: no later step reads them.
  DeviceArray<std::int32_t> device_labels;
  DeviceArray<std::uint8_t> device_core;
  std::vector<WindowCluster> clusters;  ///< ascending by first_core
  std::vector<WindowCluster> earlier;   ///< the clusters before the step
  ClusterChanges changes;               ///< from `earlier` to `clusters`, as indices in these
  LabelSummary summary;
};

/// The contents of a window, to save and to restore it.
struct WindowState {
  std::size_t dims = 0;
  std::uint64_t next_id = 0;                    ///< the id of the next point that arrives
  std::optional<double> latest = std::nullopt;  ///< the latest time
  std::vector<std::uint64_t> ids;               ///< [n] ascending
  std::vector<double> points;                   ///< [n × dims]
  std::vector<double> times;                    ///< [n] if timed
  std::vector<double> weights;                  ///< [n] if weighted
  struct Ids {
    std::uint64_t next = 0;               ///< the id of the next new cluster
    std::vector<std::uint64_t> clusters;  ///< the ids of the clusters, in the order of their labels
  };
  std::vector<Ids> variants;  ///< in the order of the sweep
};

struct WindowParts;

/// A window is used by one thread at a time. It keeps the last step's results.
class Window {
 public:
  /// variants: at least one. Makes an engine, whose memory holds the window too: in two dimensions about 130 bytes a
  /// point, and 1.7 kB for each square of 8 × 8 cells of side eps/√2 with points; in three 150 bytes a point, and 2.3
  /// kB for each cube of 4³ cells of side eps/√3. A GPU holds the coordinates, too, twice during a step, and the labels
  /// of two steps. Throws UsageError for options that are invalid or contradict each other; ResourceError.
  Window(std::size_t dims, const Sweep& variants, const WindowOptions& options = {});
  /// Restores a window, which goes on as the window whose state() it was; it has no changes until its next step. Throws
  /// also InputError if the state does not fit the options or is damaged.
  Window(const WindowState& state, const Sweep& variants, const WindowOptions& options = {});
  Window(Window&&) noexcept;
  Window& operator=(Window&&) noexcept;
  ~Window();

  /// Takes a step. Once at most one point in 20 changes in each of several steps, a step costs the neighbourhoods of
  /// these points and a pass over cells and labels. This holds if transformed points have up to three dimensions, in
  /// plain space (core/space.hpp), without weights, on the CPU. Else a step costs a run over all points. No label
  /// depends on the way. If step() throws, the window is as before. Throws InputError for points that Engine::load()
  /// refuses, and for times and weights that are NaN or infinite; UsageError for sizes that differ, for another number
  /// of dimensions, for an id that is not in the window or given twice, and for `now` if it is not finite or the window
  /// is not timed; ResourceError; Cancelled.
  StepSummary step(const WindowStep& step, const CancelToken* cancel = nullptr);

  /// Returns the number of points.
  [[nodiscard]] std::size_t size() const noexcept;
  [[nodiscard]] std::size_t dims() const noexcept;
  /// Returns the result of each variant, in the order of the sweep; valid until the next step.
  [[nodiscard]] std::span<const WindowResult> results() const noexcept;
  /// Returns the ids of the points, in the order of the labels, ascending. [n]
  [[nodiscard]] std::vector<std::uint64_t> ids() const;
  /// Returns the points, not transformed, in the same order. [n × dims]
  [[nodiscard]] std::vector<double> points() const;
  /// Return the times and the weights, in the same order; empty if points have none. [n]
  [[nodiscard]] std::vector<double> times() const;
  [[nodiscard]] std::vector<double> weights() const;
  /// Returns the latest time so far, also of points that left or of WindowStep::now; nullopt if there was none.
  [[nodiscard]] std::optional<double> latest() const noexcept;
  /// Returns a copy of the contents, from which the second constructor restores the window.
  [[nodiscard]] WindowState state() const;
  /// Returns the options; all automatic values of the engine are set.
  [[nodiscard]] const WindowOptions& options() const noexcept;

 private:
  std::unique_ptr<WindowParts> parts_;
};

}  // namespace epsflow
