// Finds the parts in which points lie.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <epsflow/core/space.hpp>
#include <epsflow/parts/find_equal.hpp>
#include <epsflow/parts/interior.hpp>
#include <epsflow/parts/partition.hpp>

namespace epsflow::parts {

/// The cuts in a form in which each point takes the same number of steps, without a branch that depends on the point.
class Descent {
 public:
  /// The partition need not outlive the object.
  explicit Descent(const Partition& partition) {
    const std::span<const Partition::Cut> cuts = partition.cuts();
    const auto node_of = [&](std::int32_t side) {
      return side >= 0 ? static_cast<std::uint32_t>(side) : static_cast<std::uint32_t>(cuts.size()) - 1 - side;
    };
    for (const Partition::Cut& cut : cuts)
      nodes_.push_back({cut.at, cut.axis, {node_of(cut.below), node_of(cut.above)}});
    for (std::uint32_t part = 0; part < partition.parts(); ++part) {
      const auto itself = static_cast<std::uint32_t>(cuts.size()) + part;
      nodes_.push_back({0, 0, {itself, itself}});
    }
    first_ = static_cast<std::uint32_t>(cuts.size());
    std::vector<std::pair<std::uint32_t, unsigned>> open{{0, 0}};
    while (!open.empty()) {
      const auto [node, depth] = open.back();
      open.pop_back();
      depth_ = std::max(depth_, depth);
      if (node < first_)
        open.insert(open.end(), {{nodes_[node].next[0], depth + 1}, {nodes_[node].next[1], depth + 1}});
    }
  }

  /// Returns the part of one point. O(depth of the cuts).
  template <class T>
  [[nodiscard]] std::uint32_t part_of(const T* point) const noexcept {
    std::uint32_t at = 0;
    for (unsigned step = 0; step < depth_; ++step) at = next(nodes_[at], point);
    return at - first_;
  }

  /// Finds the parts, [count], of points [count × d]. The partition has at most 65536 parts. Takes several points at a
  /// time, so that the loads of one do not delay the others.
  template <class T>
  void find_parts(const T* points, std::size_t d, std::size_t count, std::uint16_t* parts) const noexcept {
    constexpr std::size_t kAtOnce = 8;
    const CutNode* const nodes = nodes_.data();
    const std::size_t whole = count / kAtOnce * kAtOnce;
    for (std::size_t i = 0; i < whole; i += kAtOnce) {
      std::array<std::uint32_t, kAtOnce> at{};
      for (unsigned step = 0; step < depth_; ++step) {
        for (std::size_t j = 0; j < kAtOnce; ++j) at[j] = next(nodes[at[j]], points + (i + j) * d);
      }
      for (std::size_t j = 0; j < kAtOnce; ++j) parts[i + j] = static_cast<std::uint16_t>(at[j] - first_);
    }
    for (std::size_t i = whole; i < count; ++i) parts[i] = static_cast<std::uint16_t>(part_of(points + i * d));
  }

 private:
  struct CutNode {
    double at;
    std::uint32_t axis;
    std::uint32_t next[2];
  };

  template <class T>
  [[nodiscard]] static std::uint32_t next(const CutNode& node, const T* point) noexcept {
    const auto below = static_cast<std::uint32_t>(static_cast<double>(point[node.axis]) < node.at);
    return node.next[1] ^ ((node.next[0] ^ node.next[1]) & (0U - below));
  }

  std::vector<CutNode> nodes_;
  std::uint32_t first_ = 0;  ///< the first node that stands for a part
  unsigned depth_ = 0;
};

/// Finds the parts of most points in vectors, and of points near a cut one by one; with more than Interior::kMostParts
/// parts, of all points by Descent. T: precision of the points. Immutable.
template <class T>
class PartFinder {
 public:
  /// reach: the largest distance of ghosts, or 0 if ghosts are not needed.
  PartFinder(const Partition& partition, const Space& space, std::size_t dims, double reach)
      : interior_(partition, space, dims, reach), descent_(partition) {}

  /// Writes the parts of points [parts.size() × d], of at most 65,536 points. inner: scratch, which is overwritten.
  /// Returns the ascending indices of the points that may be ghosts of other parts, in the memory of `inner`.
  std::span<const std::uint16_t> find(const T* points, std::span<std::uint16_t> parts,
                                      std::vector<std::uint16_t>& inner) const {
    const std::size_t d = interior_.dims();
    inner.resize(parts.size() + kFoundBeyond);
    interior_.find(points, parts);
    const std::size_t count = find_equal(parts, Interior<T>::kMixed, inner.data());
    if (count == parts.size()) {
      descent_.find_parts(points, d, parts.size(), parts.data());
    } else {
      for (std::size_t j = 0; j < count; ++j) {
        parts[inner[j]] = static_cast<std::uint16_t>(descent_.part_of(points + inner[j] * d));
      }
    }
    return std::span(inner).first(count);
  }

 private:
  Interior<T> interior_;
  Descent descent_;
};

}  // namespace epsflow::parts
