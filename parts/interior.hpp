// Points that lie far from all cuts, found several at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <epsflow/core/space.hpp>
#include <epsflow/parts/partition.hpp>

namespace epsflow::parts {

/// Most points are ghosts of no part: on its way down the cuts such a point is farther from each than ghosts reach, and from the faces of a
/// periodic box. That is told by bounds in T, the precision of the points, which err on the side of a closer look. Immutable.
template <class T>
class Interior {
 public:
  static constexpr std::uint16_t kMixed = 0xFFFF;
  /// Each point is compared with all cuts; of more parts, a descent takes less.
  static constexpr std::size_t kMostParts = 32;
  static constexpr std::size_t kMostPlaces = 128;

  /// A cut, or a face of the box. What a point is found in is the place `below` where its coordinate is less than `low`, `above` where it is
  /// more than `high`, and else kMixed's.
  struct Node {
    std::uint32_t axis;
    std::uint32_t below;
    std::uint32_t above;
    T low;
    T high;
  };

  /// reach: how far ghosts reach at most.
  Interior(const Partition& partition, const Space& space, std::size_t dims, double reach);

  /// The parts of points that are ghosts of no other; kMixed where that takes a closer look. points: [parts.size() × d].
  void find(const T* points, std::span<std::uint16_t> parts) const;

  [[nodiscard]] std::size_t dims() const noexcept { return dims_; }
  /// Places are those of the parts, then that of kMixed, and those of the nodes, each behind its sides.
  [[nodiscard]] std::uint32_t mixed() const noexcept { return mixed_; }
  [[nodiscard]] std::span<const Node> nodes() const noexcept { return nodes_; }

 private:
  std::uint32_t add(std::size_t axis, double at, double reach, double margin, std::uint32_t below, std::uint32_t above);
  std::uint32_t add(const Partition& partition, std::int32_t side, double reach);
  void add_faces(const Space& space, double reach, std::uint32_t within);

  std::size_t dims_;
  std::uint32_t mixed_;
  std::vector<Node> nodes_;  ///< none where all points are looked at closer
};

}  // namespace epsflow::parts
