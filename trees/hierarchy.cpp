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

Hierarchy::Hierarchy(SpanningTree tree, const CancelToken& cancel)
    : tree_(std::move(tree)), parents_(tree_.core.size()) {
  std::fill(parents_.begin(), parents_.end(), kNoNode);
  std::vector<std::uint32_t> replaced_by = join_edges(cancel);
  cancel.check();
  settle(replaced_by);
}

std::vector<std::uint32_t> Hierarchy::join_edges(const CancelToken& cancel) {
  Sets sets(size());
  std::vector<std::uint32_t> top(size(), kNoNode);  // node of each root; kNoNode: a single point
  std::vector<std::uint32_t> replaced_by;  // of each node: a node of the same eps that it was joined with, or itself
  const auto put_below = [&](std::uint32_t root, std::uint32_t node) {
    if (top[root] == kNoNode) {
      parents_[root] = node;
    } else {
      nodes_[top[root]].parent = node;
    }
  };
  for (std::size_t i = 0; i < tree_.edges.size(); ++i) {
    if (i % (1 << 18) == 0) cancel.check();
    const Edge& edge = tree_.edges[i];
    const std::uint32_t a = sets.find(edge.a), b = sets.find(edge.b);
    const auto grows = [&](std::uint32_t root) { return top[root] != kNoNode && nodes_[top[root]].eps == edge.height; };
    std::uint32_t node;
    if (grows(a) && grows(b)) {
      node = std::min(top[a], top[b]);
      replaced_by[std::max(top[a], top[b])] = node;
    } else if (grows(a)) {
      node = top[a];
      put_below(b, node);
    } else if (grows(b)) {
      node = top[b];
      put_below(a, node);
    } else {
      node = static_cast<std::uint32_t>(nodes_.size());
      nodes_.push_back({edge.height, kNoNode, 0, kNoNode});
      replaced_by.push_back(node);
      put_below(a, node);
      put_below(b, node);
    }
    const std::uint32_t root = sets.join(a, b);
    top[root] = node;
    nodes_[node].size = sets.size(root);
  }
  return replaced_by;
}

/// Drops the nodes that were replaced, and numbers the others in their final order.
void Hierarchy::settle(std::vector<std::uint32_t>& replaced_by) {
  // A node is replaced by an earlier one, so one step in ascending order resolves each.
  for (std::uint32_t& node : replaced_by) node = replaced_by[node];
  const auto resolve = [&](std::uint32_t& node) {
    if (node != kNoNode) node = replaced_by[node];
  };
  for (TreeNode& node : nodes_) resolve(node.parent);
  for (std::uint32_t p = 0; p < size(); ++p) {
    resolve(parents_[p]);
    if (parents_[p] == kNoNode) continue;
    std::uint32_t& first = nodes_[parents_[p]].first_id;
    first = std::min(first, p);
  }
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
    if (replaced_by[i] == i) order.push_back(i);
  }
  // Nodes were made in ascending order of eps, so children come before their parents.
  for (const std::uint32_t i : order) {
    const std::uint32_t parent = nodes_[i].parent;
    if (parent != kNoNode) nodes_[parent].first_id = std::min(nodes_[parent].first_id, nodes_[i].first_id);
  }
  for (std::size_t first = 0, last; first < order.size(); first = last) {
    last = first + 1;
    while (last < order.size() && nodes_[order[last]].eps == nodes_[order[first]].eps) ++last;
    std::sort(order.begin() + static_cast<std::ptrdiff_t>(first), order.begin() + static_cast<std::ptrdiff_t>(last),
              [&](std::uint32_t a, std::uint32_t b) { return nodes_[a].first_id < nodes_[b].first_id; });
  }
  std::vector<TreeNode> nodes;
  nodes.reserve(order.size());
  std::vector<std::uint32_t>& number = replaced_by;
  for (const std::uint32_t i : order) {
    number[i] = static_cast<std::uint32_t>(nodes.size());
    nodes.push_back(nodes_[i]);
  }
  for (TreeNode& node : nodes) {
    if (node.parent != kNoNode) node.parent = number[node.parent];
  }
  for (std::uint32_t& parent : parents_) {
    if (parent != kNoNode) parent = number[parent];
  }
  nodes_ = std::move(nodes);
}

Buffer<std::int32_t> Hierarchy::cut(double eps, std::uint32_t least) const {
  if (!(eps >= 0)) throw UsageError("eps of a cut is " + format_number(eps) + ": use a number from 0 on");
  // The highest node of each component, which is its own top; nodes above the cut are not used.
  std::vector<std::uint32_t> top(nodes_.size());
  for (std::size_t i = nodes_.size(); i-- > 0;) {
    const std::uint32_t parent = nodes_[i].parent;
    const bool joins = parent != kNoNode && nodes_[parent].eps <= eps;
    top[i] = joins ? top[parent] : static_cast<std::uint32_t>(i);
  }
  std::vector<std::int32_t> label(nodes_.size(), -1);
  Buffer<std::int32_t> labels(size());
  std::int32_t count = 0;
  const auto next = [&] {
    if (count == std::numeric_limits<std::int32_t>::max()) {
      throw ResourceError("labels of 4 bytes do not hold that many clusters: use a larger eps");
    }
    return count++;
  };
  for (std::size_t p = 0; p < size(); ++p) {
    labels[p] = -1;
    if (tree_.core[p] > eps) continue;
    const std::uint32_t parent = parents_[p];
    if (parent == kNoNode || nodes_[parent].eps > eps) {
      if (least <= 1) labels[p] = next();
      continue;
    }
    const std::uint32_t node = top[parent];
    if (nodes_[node].size < least) continue;
    if (label[node] < 0) label[node] = next();
    labels[p] = label[node];
  }
  return labels;
}

std::vector<LinkageRow> Hierarchy::linkage() const {
  std::vector<LinkageRow> rows;
  rows.reserve(tree_.edges.size());
  Sets sets(size());
  std::vector<std::uint64_t> number(size());
  std::iota(number.begin(), number.end(), std::uint64_t{0});
  for (const Edge& edge : tree_.edges) {
    const std::uint32_t a = sets.find(edge.a), b = sets.find(edge.b);
    const std::uint64_t less = std::min(number[a], number[b]), more = std::max(number[a], number[b]);
    const std::uint32_t root = sets.join(a, b);
    number[root] = size() + rows.size();
    rows.push_back({less, more, edge.height, sets.size(root)});
  }
  return rows;
}

}  // namespace epsflow
