// DBSCAN of one eps in three phases: count, unite, label. Index::count() (core/backend.hpp) returns a Counted, whose
// unite() returns a United, whose label() returns the results.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include <epsflow/core/choices.hpp>
#include <epsflow/core/labels.hpp>
#include <epsflow/core/weights.hpp>

namespace epsflow {

/// The points are a part of a data set. The owned points are followed by ghosts, which are points of other parts or
/// images in a periodic box: first the inner ghosts, which include all those within eps of an owned point, and get
/// labels; then the outer ghosts, which include all others within eps of an inner ghost. Outer ghosts get no labels,
/// because the part does not have all of their neighbours.
struct SharedPoints {
  std::span<const std::uint32_t> asked;  ///< ids of the points whose clusters are requested; an id may be repeated
  std::uint32_t outer_ghosts = 0;        ///< number of outer ghosts, which are the last points of the index
  /// True: a backend may treat outer ghosts that reach minpts here as core. False: no outer ghost is core. It must be
  /// false if weights are negative, because further neighbours in other parts may lower the sum of a ghost.
  bool outer_may_be_core = true;
};

/// The options of a clustering of one eps.
struct DirectOptions {
  std::span<const std::uint32_t> minpts;   ///< descending, not empty
  bool core_mask = false;                  ///< fill LabelTarget::core; only with Keep::labels
  MemorySpace labels = MemorySpace::host;  ///< memory in which the results have labels and masks
  Keep keep = Keep::labels;
  bool clusters = false;  ///< fill LevelResult::clusters
  /// Null, or weights of the points, which are summed instead of neighbours. They must outlive the Counted.
  const LoadedWeights* weights = nullptr;
  /// Set only for Index::count_part(), with Keep::labels, and for the label_store() of a part. It and its span must
  /// outlive the CountedPart.
  const SharedPoints* shared = nullptr;
};

/// Memory for the labels of one minpts, [n] each in input order, on the side where the clustering works. In a part n
/// excludes the outer ghosts.
struct LabelTarget {
  std::int32_t* labels = nullptr;  ///< null: none are written; always null unless Keep::labels
  std::uint8_t* core = nullptr;    ///< 1 for core points, else 0; null if no mask is requested
};

/// The result of a level once it is labelled. In a part it counts inner ghosts, too.
struct LevelResult {
  LabelSummary summary;
  /// Of a whole data set: empty unless DirectOptions::clusters is set. Of a part: only `size` is valid, whether or not
  /// that is set, and only if label() was given new numbers, by which it counts.
  Clusters clusters = {};
};

/// New numbers for the clusters of a level.
struct ClusterNumbers {
  std::vector<std::uint32_t> numbers;  ///< [clusters] from 0 on; several clusters may become one
  std::uint32_t count = 0;             ///< number of different numbers
};

/// A border point, and a cluster that it may belong to.
struct BorderTie {
  std::uint32_t point;
  std::uint32_t cluster;
};

/// Sets of core points: clusters without border points. Valid until the next unite() of the Counted that returned it;
/// the one returned last labels all levels that are not labelled yet.
class United {
 public:
  United() = default;
  United(const United&) = delete;
  United& operator=(const United&) = delete;
  virtual ~United() = default;

  /// Returns, for the level united last, the smallest core point id of each cluster, ascending. At a smaller minpts
  /// this point is still core, so its cluster there contains the cluster here. May wait for the device. Throws
  /// Cancelled, ResourceError.
  [[nodiscard]] virtual std::vector<std::uint32_t> first_cores() = 0;
  /// Labels the levels that were united since the last call, in that order: a target and a result for each. The labels
  /// are complete when it returns. Throws Cancelled, ResourceError.
  [[nodiscard]] virtual std::vector<LevelResult> label(std::span<const LabelTarget> targets) = 0;
};

/// Sets of core points of a part.
class UnitedPart : public United {
 public:
  /// Stands for a cluster if the point is not core.
  static constexpr std::uint32_t kNoSet = 0xFFFFFFFFU;

  /// Returns [asked] the cluster of which each SharedPoints::asked is a core point at the level united last, or kNoSet.
  /// May wait for the device. Throws Cancelled, ResourceError.
  [[nodiscard]] virtual std::vector<std::uint32_t> shared_clusters() = 0;
  using United::label;
  /// Labels by new numbers. numbers: one for each target. A border point gets the lowest new number of the clusters
  /// that have a core point within eps of it.
  [[nodiscard]] virtual std::vector<LevelResult> label(std::span<const LabelTarget> targets,
                                                       std::span<const ClusterNumbers> numbers) = 0;
  /// Returns the ties of the level united last, in no particular order. A border point belongs to the lowest of the
  /// clusters that have a core point within eps of it; it has a tie with each other one of them that is movable,
  /// because new numbers may make that one the lowest. Only border points among the first `own` points are searched.
  /// movable: [clusters] 1 if the cluster may come before lower ones in the new numbers, else 0. Call it after
  /// shared_clusters() and before label(). Returns nullopt if the backend cannot find the ties or lacks memory for
  /// them. Throws ResourceError if the device fails.
  [[nodiscard]] virtual std::optional<std::vector<BorderTie>> border_ties(std::span<const std::uint8_t> movable,
                                                                          std::uint32_t own) = 0;
};

/// The number of neighbours of each point, or the sum of their weights, as far as the minpts need. Not thread-safe.
class Counted {
 public:
  Counted() = default;
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  virtual ~Counted() = default;

  /// Returns the number of levels that may be united before one label(), which is faster than to label each alone: at
  /// least 1, at most the number of minpts.
  [[nodiscard]] virtual std::size_t levels_at_once() const { return 1; }
  /// Unites the core points of a level. minpts: one of DirectOptions::minpts, smaller than at the call before, as
  /// united points stay united. At most levels_at_once() levels are united before they are labelled. May return before
  /// a device has finished. Throws Cancelled, ResourceError.
  [[nodiscard]] virtual United& unite(std::uint32_t minpts) = 0;
  /// Returns the number of pairs so far that a faster test left undecided, and that were tested in float64; on a GPU an
  /// upper bound.
  [[nodiscard]] virtual std::uint64_t undecided_pairs() const { return 0; }
};

/// Counts for the points of a part.
class CountedPart : public Counted {
 public:
  [[nodiscard]] UnitedPart& unite(std::uint32_t minpts) override = 0;
};

/// Moves the labels of one clustering from the memory that it works in to their results. Call next() for each level,
/// label them, then call take() for each in the same order, and finish() after the last. Not thread-safe.
class LabelStore {
 public:
  using Emit = std::function<void(VariantResult&&)>;

  LabelStore() = default;
  LabelStore(const LabelStore&) = delete;
  LabelStore& operator=(const LabelStore&) = delete;
  virtual ~LabelStore() = default;

  /// Returns memory for one more level, which the caller may use until its take() returns. At most
  /// Counted::levels_at_once() targets may wait for take(). Throws ResourceError.
  [[nodiscard]] virtual LabelTarget next() = 0;
  /// Takes the oldest target that is not yet taken, and moves its labels, which must be complete, into the result.
  /// Calls emit(result) now, or in the next take() or finish() if the labels are copied meanwhile. Throws
  /// ResourceError, and what emit() throws.
  virtual void take(VariantResult&& result, const Emit& emit) = 0;
  /// Emits the result that take() has not emitted yet, if there is one.
  virtual void finish(const Emit&) {}
};

}  // namespace epsflow
