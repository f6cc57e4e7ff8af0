// The interface of the part of a rank, in host or device memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <epsflow/core/backend.hpp>
#include <epsflow/core/choices.hpp>
#include <epsflow/core/labels.hpp>
#include <epsflow/core/space.hpp>
#include <epsflow/core/weights.hpp>
#include <epsflow/parts/communicator.hpp>
#include <epsflow/parts/part_reach.hpp>
#include <epsflow/parts/part_view.hpp>
#include <epsflow/parts/partition.hpp>
#include <epsflow/parts/resident_part.hpp>

namespace epsflow::parts {

class Distribution;

/// The arguments of every kind of RankPart. All that it refers to must outlive the part.
struct RankSetting {
  Communicator& communicator;
  Backend& backend;
  const Partition& cuts;
  const Space& space;                  ///< the space of the transformed points
  const std::vector<double>& reaches;  ///< reaches_of() the groups of the sweep
};

/// The part that a rank clusters: its own points, and the ghosts that it loads for a radius. Own points are in the
/// order of their ids. The share of a rank is the rows that its caller gave, which become own points of any ranks. The
/// ids of these rows follow the ids of the rows of all lower ranks.
class RankPart {
 public:
  RankPart() = default;
  RankPart(const RankPart&) = delete;
  RankPart& operator=(const RankPart&) = delete;
  virtual ~RankPart() = default;

  [[nodiscard]] virtual std::uint64_t owned() const = 0;
  /// The number of ghosts for the largest reach, or an upper bound.
  [[nodiscard]] virtual std::uint64_t ghosts() const = 0;
  /// Bytes of host memory held for the whole sweep, in addition to the coordinates of the share.
  [[nodiscard]] virtual std::uint64_t held_bytes() const = 0;
  /// An estimate of the additional bytes of host memory to cluster `levels` minpts of one eps.
  [[nodiscard]] virtual std::uint64_t clustering_bytes(std::size_t levels) const = 0;
  /// Bytes sent to other ranks that the communicator does not carry.
  [[nodiscard]] virtual std::uint64_t sent_bytes() const { return 0; }

  /// The view and points that are clustered for one radius.
  struct Loaded {
    PartView view;
    PartPoints points;
  };
  /// The distribution by which the host sent the points to their parts. Null if devices sent them. If
  /// RunOptions::clusters is set, the host always sends them.
  [[nodiscard]] virtual const Distribution* distribution() const { return nullptr; }
  /// The scale of PartView::units; null if points have no weights.
  [[nodiscard]] virtual const WeightScale* scale() const { return nullptr; }
  /// True if the next eps may be loaded while the current one is merged. load() then does not communicate.
  [[nodiscard]] virtual bool loads_alone() const = 0;
  /// Loads the part for a radius. Collective unless loads_alone(). Throws ResourceError, InputError.
  [[nodiscard]] virtual Loaded load(const PartReach& reach) = 0;

  /// Ends the use of the part. Collective. Called last, if no rank has failed.
  virtual void leave() {}
  /// points: own points, ascending. Returns their ids. Collective.
  [[nodiscard]] virtual std::vector<std::uint64_t> ids(std::span<const std::uint32_t> points) = 0;
  /// The memory space of the labels and masks of own points.
  [[nodiscard]] virtual MemorySpace labels() const = 0;
  /// Returns `count` labels of a result of this part, from point `first` on, in host memory. result: before
  /// return_labels().
  [[nodiscard]] virtual std::vector<std::int32_t> read(const VariantResult& result, std::size_t first,
                                                       std::size_t count) = 0;
  /// Sends the labels and masks of own points in `result` to the ranks whose shares have these points, and replaces
  /// them by the labels and masks of the rows of this rank's share, in host memory. numbers: [local clusters] number
  /// that replaces each label. core: whether masks are stored. Collective.
  virtual void return_labels(VariantResult& result, std::span<const std::uint32_t> numbers, bool core) = 0;
};

}  // namespace epsflow::parts
