// Finds points that are far from all cuts, several at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <epsflow/core/space.hpp>
#include <epsflow/parts/partition.hpp>

namespace epsflow::parts {

/// Finds points that are ghosts of no part, and their parts. Most points are such: they are farther than the reach of
/// ghosts from each cut that is passed on the way to their part, and from the faces of a periodic box. The bounds are
/// in T, the precision of the points, and are rounded so that a doubtful point is reported as kMixed. Immutable.
template <class T>
class Interior {
 public:
  /// Reported in place of a part if a point needs a closer test.
  static constexpr std::uint16_t kMixed = 0xFFFF;
  /// With more parts every point is kMixed: each point is compared with all cuts here, and a descent costs less. With
  /// one part every point is kMixed, too.
  static constexpr std::size_t kMostParts = 32;
  /// With more slots, which are numbered as mixed() describes, every point is kMixed, too.
  static constexpr std::size_t kMostSlots = 128;

  /// A cut, or a face of the box. It maps a point to the slot `below` if the point's coordinate on `axis` is less than
  /// `low`, to `above` if it is more than `high`, and else to the slot of kMixed.
  struct Node {
    std::uint32_t axis;
    std::uint32_t below;
    std::uint32_t above;
    T low;
    T high;
  };

  /// reach: the largest distance of ghosts.
  Interior(const Partition& partition, const Space& space, std::size_t dims, double reach);

  /// Writes to `parts` the part of each point that was found to be a ghost of no part. Writes kMixed for other points,
  /// and for the last ones if they do not fill a vector. points: [parts.size() × d].
  void find(const T* points, std::span<std::uint16_t> parts) const;

  [[nodiscard]] std::size_t dims() const noexcept { return dims_; }
  /// The slot of kMixed. Slots are numbered: first the parts, then kMixed, then the nodes, each after its sides.
  [[nodiscard]] std::uint32_t mixed() const noexcept { return mixed_; }
  [[nodiscard]] std::span<const Node> nodes() const noexcept { return nodes_; }

 private:
  std::uint32_t add(std::size_t axis, double at, double reach, double margin, std::uint32_t below, std::uint32_t above);
  std::uint32_t add(const Partition& partition, std::int32_t side, double reach);
  void add_faces(const Space& space, double reach, std::uint32_t within);

  std::size_t dims_;
  std::uint32_t mixed_;
  std::vector<Node> nodes_;  ///< empty if all points need the closer test
};

}  // namespace epsflow::parts
