#include <epsflow/trees/binary_tree.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <limits>
#include <queue>
#include <utility>

#include <epsflow/trees/sets.hpp>

namespace epsflow {

using trees::Sets;

namespace {

/// Makes the rows of a hierarchy. Here an item is a point, or n + the number of a node.
class JoinChildren {
 public:
  JoinChildren(const Hierarchy& hierarchy, const CancelToken& cancel)
      : hierarchy_(hierarchy),
        cancel_(cancel),
        nodes_(hierarchy.nodes()),
        n_(static_cast<std::uint32_t>(hierarchy.size())) {}

  std::vector<LinkageRow> run() {
    list_children();
    find_positions();
    list_edges();
    rank_.resize(children_.size());
    std::vector<std::uint32_t> entry(nodes_.size());  // the point at which Prim's algorithm enters each node
    for (std::size_t i = nodes_.size(); i-- > 0;) {
      if (i % (1 << 18) == 0) cancel_.check();
      visit(i, entry);
    }
    return join();
  }

 private:
  void list_children();
  void find_positions();
  void list_edges();
  void visit(std::size_t node, std::vector<std::uint32_t>& entry);
  [[nodiscard]] std::vector<LinkageRow> join() const;

  [[nodiscard]] std::uint32_t size_of(std::uint32_t item) const { return item < n_ ? 1 : nodes_[item - n_].size; }
  [[nodiscard]] std::uint32_t first_of(std::uint32_t item) const {
    return item < n_ ? item : nodes_[item - n_].first_id;
  }
  /// Returns which child of a node holds a point, as an index in children_.
  [[nodiscard]] std::uint32_t child_with(std::size_t node, std::uint32_t point) const {
    const auto first = starts_.begin() + begins_[node], last = starts_.begin() + begins_[node + 1];
    return static_cast<std::uint32_t>(std::upper_bound(first, last, positions_[point]) - starts_.begin() - 1);
  }

  const Hierarchy& hierarchy_;
  const CancelToken& cancel_;
  std::span<const TreeNode> nodes_;
  std::uint32_t n_;
  std::vector<std::uint32_t> begins_;     ///< [nodes + 1] the first child of each node in children_
  std::vector<std::uint32_t> children_;   ///< items, of each node the largest first
  std::vector<std::uint32_t> starts_;     ///< [children] the position of the first point of each
  std::vector<std::uint32_t> positions_;  ///< [n] of each point, in an order in which points of an item are consecutive
  std::vector<std::uint32_t> edges_;  ///< [n − 1] edges in the order of their nodes: k − 1 for a node of k children
  std::vector<std::uint32_t> rank_;   ///< [children] of each: how many of the same node Prim's algorithm enters before
};

void JoinChildren::list_children() {
  begins_.assign(nodes_.size() + 1, 0);
  const auto parents = hierarchy_.parents();
  const auto parent_of = [&](std::uint32_t item) { return item < n_ ? parents[item] : nodes_[item - n_].parent; };
  const auto items = static_cast<std::uint32_t>(n_ + nodes_.size() - 1);  // all but the root
  for (std::uint32_t item = 0; item < items; ++item) ++begins_[parent_of(item) + 1];
  for (std::size_t i = 0; i < nodes_.size(); ++i) begins_[i + 1] += begins_[i];
  children_.resize(items);
  std::vector<std::uint32_t> next(begins_.begin(), begins_.end() - 1);
  for (std::uint32_t item = 0; item < items; ++item) {
    if (item % (1 << 18) == 0) cancel_.check();
    children_[next[parent_of(item)]++] = item;
  }
  std::size_t compared = 0;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    std::sort(children_.begin() + begins_[i], children_.begin() + begins_[i + 1],
              [&](std::uint32_t a, std::uint32_t b) {
                if (++compared % (1 << 18) == 0) cancel_.check();
                return size_of(a) != size_of(b) ? size_of(a) > size_of(b) : first_of(a) < first_of(b);
              });
  }
}

void JoinChildren::find_positions() {
  starts_.resize(children_.size());
  positions_.resize(n_);
  std::vector<std::uint32_t> start(nodes_.size(), 0);
  for (std::size_t i = nodes_.size(); i-- > 0;) {
    if (i % (1 << 18) == 0) cancel_.check();
    std::uint32_t at = start[i];
    for (std::uint32_t k = begins_[i]; k < begins_[i + 1]; ++k) {
      const std::uint32_t item = children_[k];
      starts_[k] = at;
      (item < n_ ? positions_[item] : start[item - n_]) = at;
      at += size_of(item);
    }
  }
}

void JoinChildren::list_edges() {
  const std::span<const Edge> edges = hierarchy_.spanning_tree();
  const auto parents = hierarchy_.parents();
  Sets sets(n_);
  std::vector<std::uint32_t> top(n_, kNoNode);  // the node of each root of sets; kNoNode: a single point
  std::vector<std::uint32_t> node_of(edges.size());
  for (std::size_t e = 0; e < edges.size(); ++e) {
    if (e % (1 << 18) == 0) cancel_.check();
    const std::uint32_t a = sets.find(edges[e].a), b = sets.find(edges[e].b), node = top[a];
    node_of[e] = node == kNoNode ? parents[a] : nodes_[node].eps == edges[e].height ? node : nodes_[node].parent;
    top[sets.join(a, b)] = node_of[e];
  }
  // A node has one edge less than children, so its edges begin at begins_[node] − node.
  edges_.resize(edges.size());
  std::vector<std::uint32_t> filled(nodes_.size(), 0);
  for (std::size_t e = 0; e < edges.size(); ++e) {
    const std::uint32_t node = node_of[e];
    edges_[begins_[node] - node + filled[node]++] = static_cast<std::uint32_t>(e);
  }
}

void JoinChildren::visit(std::size_t node, std::vector<std::uint32_t>& entry) {
  const std::span<const Edge> edges = hierarchy_.spanning_tree();
  const std::uint32_t begin = begins_[node], count = begins_[node + 1] - begin,
                      first_edge = begin - static_cast<std::uint32_t>(node);
  std::uint32_t entered = 0;
  const auto enter = [&](std::uint32_t child, std::uint32_t point) {
    rank_[child] = entered++;
    if (children_[child] >= n_) entry[children_[child] - n_] = point;
  };
  const std::uint32_t start = child_with(node, entry[node]);
  enter(start, entry[node]);
  if (count == 2) {
    const Edge& edge = edges[edges_[first_edge]];
    const std::uint32_t other = begin + begin + 1 - start;
    enter(other, child_with(node, edge.a) == other ? edge.a : edge.b);
    return;
  }
  // Of several points at one distance, Prim's algorithm takes the one with the smallest id.
  using Next = std::pair<std::uint32_t, std::uint32_t>;  // the point across an edge, and its child
  std::vector<std::vector<Next>> beyond(count);
  for (std::uint32_t e = first_edge; e < first_edge + count - 1; ++e) {
    if (e % (1 << 18) == 0) cancel_.check();
    const Edge& edge = edges[edges_[e]];
    const std::uint32_t a = child_with(node, edge.a), b = child_with(node, edge.b);
    beyond[a - begin].emplace_back(edge.b, b);
    beyond[b - begin].emplace_back(edge.a, a);
  }
  std::vector<bool> is_entered(count, false);
  std::priority_queue<Next, std::vector<Next>, std::greater<>> reached;
  const auto reach_from = [&](std::uint32_t child) {
    is_entered[child - begin] = true;
    for (const auto& next : beyond[child - begin]) {
      if (!is_entered[next.second - begin]) reached.push(next);
    }
  };
  reach_from(start);
  while (!reached.empty()) {
    if (entered % (1 << 18) == 0) cancel_.check();
    const auto [point, child] = reached.top();
    reached.pop();
    enter(child, point);
    reach_from(child);
  }
}

std::vector<LinkageRow> JoinChildren::join() const {
  std::vector<LinkageRow> rows;
  rows.reserve(n_ - 1);
  std::vector<std::uint64_t> number(nodes_.size());
  const auto number_of = [&](std::uint32_t item) { return item < n_ ? std::uint64_t{item} : number[item - n_]; };
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (i % (1 << 18) == 0) cancel_.check();
    const std::uint32_t begin = begins_[i];
    std::uint64_t joined = number_of(children_[begin]);
    std::uint32_t size = size_of(children_[begin]), rank = rank_[begin];
    for (std::uint32_t k = begin + 1; k < begins_[i + 1]; ++k) {
      const std::uint64_t other = number_of(children_[k]);
      size += size_of(children_[k]);
      const bool is_first = rank < rank_[k];
      rows.push_back({is_first ? joined : other, is_first ? other : joined, nodes_[i].eps, size});
      joined = n_ + rows.size() - 1;
      rank = std::min(rank, rank_[k]);
    }
    number[i] = joined;
  }
  return rows;
}

}  // namespace

BinaryTree::BinaryTree(const Hierarchy& hierarchy, const CancelToken& cancel) {
  if (hierarchy.size() > 1) rows_ = JoinChildren(hierarchy, cancel).run();
}

std::vector<CondensedRow> BinaryTree::condense(std::uint64_t min_cluster_size, const CancelToken& cancel) const {
  const std::uint64_t n = points();
  check_min_cluster_size(min_cluster_size, n);
  std::vector<CondensedRow> condensed;
  condensed.reserve(n);
  struct Large {
    std::uint64_t number, cluster;
  };
  std::vector<Large> queue{{n + rows_.size() - 1, n}};
  std::vector<std::uint64_t> below;
  std::uint64_t clusters = 1;
  for (std::size_t next = 0; next < queue.size(); ++next) {
    const auto [number, cluster] = queue[next];
    const LinkageRow& row = rows_[number - n];
    const double density = row.eps > 0 ? 1 / row.eps : std::numeric_limits<double>::infinity();
    const bool splits = size_of(row.a) >= min_cluster_size && size_of(row.b) >= min_cluster_size;
    for (const std::uint64_t part : {row.a, row.b}) {
      if (size_of(part) >= min_cluster_size) {
        if (splits) condensed.push_back({cluster, n + clusters, density, size_of(part)});
        queue.push_back({part, splits ? n + clusters++ : cluster});
        continue;
      }
      below.assign(1, part);
      for (std::size_t k = 0; k < below.size(); ++k) {
        if (k % (1 << 18) == 0) cancel.check();
        if (below[k] < n) {
          condensed.push_back({cluster, below[k], density, 1});
        } else {
          const LinkageRow& small = rows_[below[k] - n];
          below.insert(below.end(), {small.a, small.b});
        }
      }
    }
  }
  return condensed;
}

std::vector<std::uint32_t> BinaryTree::breadth_first(const CondensedTree& tree, std::uint64_t min_cluster_size,
                                                     const CancelToken& cancel) const {
  const std::uint64_t n = points();
  // A cluster is known by the eps of its birth and its first point, and clusters are in the order of these.
  std::vector<std::uint32_t> first(rows_.size());
  const auto first_of = [&](std::uint64_t number) {
    return number < n ? static_cast<std::uint32_t>(number) : first[number - n];
  };
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (i % (1 << 18) == 0) cancel.check();
    first[i] = std::min(first_of(rows_[i].a), first_of(rows_[i].b));
  }
  const std::span<const CondensedCluster> clusters = tree.clusters();
  const auto before = [](const CondensedCluster& cluster, const std::pair<double, std::uint32_t>& birth) {
    return cluster.birth > birth.first || (cluster.birth == birth.first && cluster.first_id < birth.second);
  };
  std::vector<std::uint32_t> order{0};
  std::vector<std::uint64_t> queue;
  if (!rows_.empty()) queue.push_back(n + rows_.size() - 1);
  for (std::size_t next = 0; next < queue.size(); ++next) {
    if (next % (1 << 18) == 0) cancel.check();
    const LinkageRow& row = rows_[queue[next] - n];
    const bool splits = std::min(size_of(row.a), size_of(row.b)) >= min_cluster_size;
    for (const std::uint64_t part : {row.a, row.b}) {
      if (part < n || size_of(part) < min_cluster_size) continue;
      queue.push_back(part);
      if (!splits || rows_[part - n].eps == row.eps) continue;  // no cluster begins, or a piece of the same node
      const std::pair birth(row.eps, first_of(part));
      const auto found = std::lower_bound(clusters.begin() + 1, clusters.end(), birth, before);
      if (found != clusters.end() && std::pair(found->birth, found->first_id) == birth) {
        order.push_back(static_cast<std::uint32_t>(found - clusters.begin()));
      }
    }
  }
  return order;
}

}  // namespace epsflow
