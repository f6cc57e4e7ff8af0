// DBSCAN of one eps in three phases: count, unite, label. The first two return objects by which the next goes on.
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

/// The points are a part of a data set. The owned points are followed by ghosts, which are copies of points of other parts: first the inner
/// ghosts, all points within eps of owned ones; they get labels. The outer ghosts are all points within eps of inner ones. They get no labels,
/// because the part does not have all of their neighbours.
struct SharedPoints {
  std::span<const std::uint32_t> asked;  ///< ids of the points whose clusters are requested; an id may be repeated
  std::uint32_t unlabelled = 0;          ///< number of outer ghosts, which are the last points of the index
  /// Whether such a ghost may count as core if it has enough neighbours here. A backend may leave it uncounted as well. If weights are negative,
  /// it may have less than minpts among all points, and must not count as core.
  bool unlabelled_core = true;
};

/// What the clustering of one eps is made for.
struct DirectOptions {
  std::span<const std::uint32_t> minpts;  ///< descending, at least one
  bool core_mask = false;
  MemorySpace labels = MemorySpace::host;  ///< where labels and mask are kept
  Keep keep = Keep::labels;
  bool clusters = false;  ///< fill LevelResult::clusters
  /// Null, or what is summed in place of neighbours: weights of the points of the index. They must outlive what is counted.
  const LoadedWeights* weights = nullptr;
  /// Set for Index::count_part() alone, with Keep::labels. Its span must outlive what is counted.
  const SharedPoints* shared = nullptr;
};

/// Room for the labels of one minpts, [n] each in input order, in the memory that the clustering works in.
struct LabelTarget {
  std::int32_t* labels = nullptr;  ///< null unless Keep::labels
  std::uint8_t* core = nullptr;    ///< 1 for core points, else 0; null where no mask is wanted
};

/// What is known of a level once it has labels.
struct LevelResult {
  LabelSummary summary;
  Clusters clusters = {};  ///< empty unless asked for; in a part its sizes alone
};

/// Other numbers for the clusters of a level.
struct ClusterNumbers {
  std::vector<std::uint32_t> numbers;  ///< [clusters] from 0 on; several clusters may become one
  std::uint32_t count = 0;             ///< of different numbers
};

/// A border point, and a cluster that it could be of.
struct BorderTie {
  std::uint32_t point;
  std::uint32_t cluster;
};

/// Core points in sets: clusters without their border points. Valid until the next unite() of the Counted that returned it.
class United {
 public:
  United() = default;
  United(const United&) = delete;
  United& operator=(const United&) = delete;
  virtual ~United() = default;

  /// The smallest id among the core points of each cluster, ascending: entry k is of cluster k. Of the minpts that was united last. At
  /// a smaller minpts this point is still core, so it tells which cluster the old one has become part of. May wait for the device.
  /// Throws Cancelled.
  [[nodiscard]] virtual std::vector<std::uint32_t> first_cores() = 0;
  /// Labels the levels that were united since the last call, in that order: a target and a result for each. When it returns the
  /// labels are complete. Throws Cancelled, ResourceError.
  [[nodiscard]] virtual std::vector<LevelResult> label(std::span<const LabelTarget> targets) = 0;
};

/// Core points of a part in sets.
class UnitedPart : public United {
 public:
  /// In place of a cluster: the point is not core.
  static constexpr std::uint32_t kNoSet = 0xFFFFFFFFU;

  /// Returns [asked]: for each of SharedPoints::asked the cluster that it is a core point of, at the level united last, or kNoSet.
  [[nodiscard]] virtual std::vector<std::uint32_t> shared_clusters() = 0;
  using United::label;
  /// Labels by other numbers, one numbering for each level. A border point gets the lowest of these.
  [[nodiscard]] virtual std::vector<LevelResult> label(std::span<const LabelTarget> targets,
                                                       std::span<const ClusterNumbers> numbers) = 0;
  /// Once shared_clusters() is known, and before label(): which of the first `own` points, as border points, other parts may move to another
  /// cluster. movable: [clusters] 1 where a cluster may get a lower number among those of all parts, and so come before others. For each
  /// border point and each such cluster near it, but for the lowest cluster near it, there is a tie. Nothing where the backend does not tell.
  [[nodiscard]] virtual std::optional<std::vector<BorderTie>> border_ties(std::span<const std::uint8_t> movable,
                                                                          std::uint32_t own) = 0;
};

/// For each point the number of its neighbours, or the sum of their weights, counted as far as the given minpts need. Not thread-safe.
class Counted {
 public:
  Counted() = default;
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  virtual ~Counted() = default;

  /// How many levels to unite before one label(), which is faster than one by one. At most the number of minpts given.
  [[nodiscard]] virtual std::size_t levels_at_once() const { return 1; }
  /// Unites core points of this minpts, a level, which must be smaller than that of the level before: what is united stays so.
  /// At most levels_at_once() levels are united before they are labelled. May return before a device is done. Throws Cancelled,
  /// ResourceError.
  [[nodiscard]] virtual United& unite(std::uint32_t minpts) = 0;
  /// Pairs of points that a faster test has left to float64 so far.
  [[nodiscard]] virtual std::uint64_t open_pairs() const { return 0; }
};

/// The same for the points of a part.
class CountedPart : public Counted {
 public:
  [[nodiscard]] UnitedPart& unite(std::uint32_t minpts) override = 0;
};

/// Where labels go from the memory that the clustering works in. For one clustering.
class LabelPlace {
 public:
  using Emit = std::function<void(VariantResult&&)>;

  LabelPlace() = default;
  LabelPlace(const LabelPlace&) = delete;
  LabelPlace& operator=(const LabelPlace&) = delete;
  virtual ~LabelPlace() = default;

  /// Room for one more level. Throws ResourceError.
  [[nodiscard]] virtual LabelTarget next() = 0;
  /// Takes the oldest room that is not taken yet; its labels must be complete. Puts them into the result. Emits the result now, or in
  /// the next take() or finish(), so that its copy over the bus may run meanwhile.
  virtual void take(VariantResult&& result, const Emit& emit) = 0;
  /// Emits what is left.
  virtual void finish(const Emit&) {}
};

}  // namespace epsflow
