// The part of a rank, wherever its points are, and the way home of what is found of them.
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
#include <epsflow/parts/exchange.hpp>
#include <epsflow/parts/part_reach.hpp>
#include <epsflow/parts/part_view.hpp>
#include <epsflow/parts/part_visit.hpp>
#include <epsflow/parts/partition.hpp>

namespace epsflow::parts {

/// What every kind of RankPart is made of. All that it refers to must outlive the part.
struct RankSetting {
  Exchange& exchange;
  Backend& backend;
  const Partition& cuts;
  const Space& space;                  ///< of the points
  const std::vector<double>& reaches;  ///< reaches_of() the sweep
};

/// Own points are in the order of their ids, which follow each other over the ranks and the rows of their shares.
class RankPart {
 public:
  RankPart() = default;
  RankPart(const RankPart&) = delete;
  RankPart& operator=(const RankPart&) = delete;
  virtual ~RankPart() = default;

  [[nodiscard]] virtual std::uint64_t own() const = 0;
  /// For the largest reach, at most.
  [[nodiscard]] virtual std::uint64_t ghosts() const = 0;
  /// Bytes of host memory that are held all the time, beside the share.
  [[nodiscard]] virtual std::uint64_t held_bytes() const = 0;
  /// Bytes of host memory that clustering so many minpts of an eps takes, at most.
  [[nodiscard]] virtual std::uint64_t clustering_bytes(std::size_t levels) const = 0;
  /// Bytes that went to others past the exchange.
  [[nodiscard]] virtual std::uint64_t sent_bytes() const { return 0; }

  /// What is clustered for a radius.
  struct Loaded {
    PartView view;
    PartPoints points;
  };
  /// What its view has units of; null where points have no weights.
  [[nodiscard]] virtual const WeightScale* scale() const { return nullptr; }
  /// Whether load() asks no other rank, so that it may run while others are asked, and while what was loaded before is there.
  [[nodiscard]] virtual bool loads_alone() const = 0;
  /// Throws ResourceError, InputError.
  [[nodiscard]] virtual Loaded load(const PartReach& reach) = 0;

  // Collective:
  /// Called last, where none has failed.
  virtual void leave() {}
  /// points: own ones, ascending. Returns their ids.
  [[nodiscard]] virtual std::vector<std::uint64_t> ids(std::span<const std::uint32_t> points) = 0;
  /// Where labels and masks of own points must be.
  [[nodiscard]] virtual MemorySpace labels() const = 0;
  /// Some labels of a part, from point `first` on.
  [[nodiscard]] virtual std::vector<std::int32_t> read(const VariantResult& result, std::size_t first,
                                                       std::size_t count) = 0;
  /// result: with those, which become those of the share, in host memory. numbers: that take the place of labels. core: whether masks are
  /// wanted.
  virtual void bring_home(VariantResult& result, std::span<const std::uint32_t> numbers, bool core) = 0;
};

}  // namespace epsflow::parts
