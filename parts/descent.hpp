// From the first cut down to the part that a point lies in.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <epsflow/parts/partition.hpp>

namespace epsflow::parts {

/// The cuts, so that each point takes the same number of steps, without a branch that depends on it.
class Descent {
 public:
  explicit Descent(const Partition& partition) {
    const std::span<const Partition::Cut> cuts = partition.cuts();
    const auto place = [&](std::int32_t side) {
      return side >= 0 ? static_cast<std::uint32_t>(side) : static_cast<std::uint32_t>(cuts.size()) - 1 - side;
    };
    for (const Partition::Cut& cut : cuts) nodes_.push_back({cut.at, cut.axis, {place(cut.below), place(cut.above)}});
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

  template <class T>
  [[nodiscard]] std::uint32_t part_of(const T* point) const noexcept {
    std::uint32_t at = 0;
    for (unsigned step = 0; step < depth_; ++step) {
      const Node& node = nodes_[at];
      const auto below = static_cast<std::uint32_t>(static_cast<double>(point[node.axis]) < node.at);
      at = node.next[1] ^ ((node.next[0] ^ node.next[1]) & (0U - below));
    }
    return at - first_;
  }

 private:
  struct Node {
    double at;
    std::uint32_t axis;
    std::uint32_t next[2];
  };

  std::vector<Node> nodes_;
  std::uint32_t first_ = 0;  ///< of the parts
  unsigned depth_ = 0;
};

}  // namespace epsflow::parts
