#include <epsflow/trees/hierarchy.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <utility>

#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/trees/sets.hpp>

namespace epsflow {

using trees::Sets;

namespace {

/// Makes the nodes of a spanning tree.
class JoinEdges {
 public:
  JoinEdges(const SpanningTree& tree, const CancelToken& cancel)
      : tree_(tree), cancel_(cancel), parents_(tree.core.size()) {
    std::fill(parents_.begin(), parents_.end(), kNoNode);
  }

  TreeNodes run() {
    join();
    return finish();
  }

 private:
  void join();
  [[nodiscard]] TreeNodes finish();
  [[nodiscard]] std::size_t size() const noexcept { return parents_.size(); }

  const SpanningTree& tree_;
  const CancelToken& cancel_;
  std::vector<TreeNode> nodes_;
  Buffer<std::uint32_t> parents_;
  std::vector<std::uint32_t> replaced_by_;  ///< of each node: a node of its eps that it was joined with, or itself
};

void JoinEdges::join() {
  Sets sets(size());
  std::vector<std::uint32_t> top(size(), kNoNode);  // node of each root; kNoNode: a single point
  const auto put_below = [&](std::uint32_t root, std::uint32_t node) {
    if (top[root] == kNoNode) {
      parents_[root] = node;
    } else {
      nodes_[top[root]].parent = node;
    }
  };
  for (std::size_t i = 0; i < tree_.edges.size(); ++i) {
    if (i % (1 << 18) == 0) cancel_.check();
    const Edge& edge = tree_.edges[i];
    const std::uint32_t a = sets.find(edge.a), b = sets.find(edge.b);
    const auto grows = [&](std::uint32_t root) { return top[root] != kNoNode && nodes_[top[root]].eps == edge.height; };
    std::uint32_t node;
    if (grows(a) && grows(b)) {
      node = std::min(top[a], top[b]);
      replaced_by_[std::max(top[a], top[b])] = node;
    } else if (grows(a)) {
      node = top[a];
      put_below(b, node);
    } else if (grows(b)) {
      node = top[b];
      put_below(a, node);
    } else {
      node = static_cast<std::uint32_t>(nodes_.size());
      nodes_.push_back({edge.height, kNoNode, 0, kNoNode});
      replaced_by_.push_back(node);
      put_below(a, node);
      put_below(b, node);
    }
    const std::uint32_t root = sets.join(a, b);
    top[root] = node;
    nodes_[node].size = sets.size(root);
  }
}

/// Drops the nodes that were replaced, and numbers the others in their final order.
TreeNodes JoinEdges::finish() {
  // A node is replaced by an earlier one, so one step in ascending order resolves each.
  for (std::uint32_t& node : replaced_by_) node = replaced_by_[node];
  const auto resolve = [&](std::uint32_t& node) {
    if (node != kNoNode) node = replaced_by_[node];
  };
  for (TreeNode& node : nodes_) resolve(node.parent);
  for (std::uint32_t p = 0; p < size(); ++p) {
    if (p % (1 << 18) == 0) cancel_.check();
    resolve(parents_[p]);
    if (parents_[p] == kNoNode) continue;
    std::uint32_t& first = nodes_[parents_[p]].first_id;
    first = std::min(first, p);
  }
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
    if (replaced_by_[i] == i) order.push_back(i);
  }
  // Nodes were made in ascending order of eps, so children come before their parents.
  for (const std::uint32_t i : order) {
    const std::uint32_t parent = nodes_[i].parent;
    if (parent != kNoNode) nodes_[parent].first_id = std::min(nodes_[parent].first_id, nodes_[i].first_id);
  }
  std::size_t compared = 0;
  for (std::size_t first = 0, last; first < order.size(); first = last) {
    last = first + 1;
    while (last < order.size() && nodes_[order[last]].eps == nodes_[order[first]].eps) ++last;
    std::sort(order.begin() + static_cast<std::ptrdiff_t>(first), order.begin() + static_cast<std::ptrdiff_t>(last),
              [&](std::uint32_t a, std::uint32_t b) {
                if (++compared % (1 << 18) == 0) cancel_.check();
                return nodes_[a].first_id < nodes_[b].first_id;
              });
  }
  Buffer<TreeNode> nodes(order.size());
  std::vector<std::uint32_t>& number = replaced_by_;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i % (1 << 18) == 0) cancel_.check();
    number[order[i]] = static_cast<std::uint32_t>(i);
    nodes[i] = nodes_[order[i]];
  }
  for (TreeNode& node : nodes) {
    if (node.parent != kNoNode) node.parent = number[node.parent];
  }
  for (std::uint32_t& parent : parents_) {
    if (parent != kNoNode) parent = number[parent];
  }
  return {std::move(nodes), std::move(parents_)};
}

}  // namespace

Hierarchy::Hierarchy(SpanningTree tree, const CancelToken& cancel) : tree_(std::move(tree)) {
  nodes_ = JoinEdges(tree_, cancel).run();
}

Buffer<std::int32_t> Hierarchy::cut(double eps, std::uint32_t least, const CancelToken& cancel) const {
  if (!(eps >= 0)) throw UsageError("eps of a cut is " + format_number(eps) + ": use a number from 0 on");
  const std::span<const TreeNode> nodes = this->nodes();
  const std::span<const std::uint32_t> parents = this->parents();
  // The highest node of each component, which is its own top; nodes above the cut are not used.
  std::vector<std::uint32_t> top(nodes.size());
  for (std::size_t i = nodes.size(); i-- > 0;) {
    if (i % (1 << 18) == 0) cancel.check();
    const std::uint32_t parent = nodes[i].parent;
    const bool joins = parent != kNoNode && nodes[parent].eps <= eps;
    top[i] = joins ? top[parent] : static_cast<std::uint32_t>(i);
  }
  std::vector<std::int32_t> label(nodes.size(), -1);
  Buffer<std::int32_t> labels(size());
  std::int32_t count = 0;
  const auto next = [&] {
    if (count == std::numeric_limits<std::int32_t>::max()) {
      throw ResourceError("labels of 4 bytes do not hold that many clusters: use a larger eps");
    }
    return count++;
  };
  for (std::size_t p = 0; p < size(); ++p) {
    if (p % (1 << 18) == 0) cancel.check();
    labels[p] = -1;
    if (tree_.core[p] > eps) continue;
    const std::uint32_t parent = parents[p];
    if (parent == kNoNode || nodes[parent].eps > eps) {
      if (least <= 1) labels[p] = next();
      continue;
    }
    const std::uint32_t node = top[parent];
    if (nodes[node].size < least) continue;
    if (label[node] < 0) label[node] = next();
    labels[p] = label[node];
  }
  return labels;
}

std::vector<LinkageRow> Hierarchy::linkage(const CancelToken& cancel) const {
  std::vector<LinkageRow> rows;
  rows.reserve(tree_.edges.size());
  Sets sets(size());
  std::vector<std::uint64_t> number(size());
  std::iota(number.begin(), number.end(), std::uint64_t{0});
  for (const Edge& edge : tree_.edges) {
    if (rows.size() % (1 << 18) == 0) cancel.check();
    const std::uint32_t a = sets.find(edge.a), b = sets.find(edge.b);
    const std::uint64_t less = std::min(number[a], number[b]), more = std::max(number[a], number[b]);
    const std::uint32_t root = sets.join(a, b);
    number[root] = size() + rows.size();
    rows.push_back({less, more, edge.height, sets.size(root)});
  }
  return rows;
}

}  // namespace epsflow
