#include <epsflow/clustering/validity.hpp>

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_reduce.h>
#include <tbb/parallel_sort.h>
#include <tbb/partitioner.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>

#include <epsflow/core/error.hpp>
#include <epsflow/core/labels.hpp>

namespace epsflow {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();

/// Points as columns, for loops over many points that compilers make vectors of.
class Columns {
 public:
  Columns(std::size_t size, std::size_t dims) : size_(size), dims_(dims), values_(size * dims) {}
  Columns(PointsView points, std::span<const std::uint32_t> ids) : Columns(ids.size(), points.dims()) {
    for (std::size_t k = 0; k < dims_; ++k) {
      for (std::size_t j = 0; j < size_; ++j) values_[k * size_ + j] = points.at(ids[j], k);
    }
  }

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::size_t dims() const noexcept { return dims_; }
  [[nodiscard]] double at(std::size_t j, std::size_t k) const noexcept { return values_[k * size_ + j]; }

  /// out: squared distances of a point from those of [begin, end).
  void squared_distances(std::span<const double> from, std::size_t begin, std::size_t end, double* out) const noexcept {
    std::fill_n(out, end - begin, 0.0);
    for (std::size_t k = 0; k < dims_; ++k) {
      const double* const column = values_.data() + k * size_ + begin;
      for (std::size_t j = 0; j < end - begin; ++j) {
        const double difference = column[j] - from[k];
        out[j] += difference * difference;
      }
    }
  }

  [[nodiscard]] std::vector<double> row(std::size_t j) const {
    std::vector<double> row(dims_);
    for (std::size_t k = 0; k < dims_; ++k) row[k] = at(j, k);
    return row;
  }

 private:
  std::size_t size_;
  std::size_t dims_;
  std::vector<double> values_;
};

/// values: to the power of dims/2, in place.
void raise(std::span<double> values, std::size_t dims) noexcept {
  std::array<double, 512> squares;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled as far as it is read
  std::copy(values.begin(), values.end(), squares.begin());
  for (double& value : values) value = dims % 2 == 1 ? std::sqrt(value) : 1;
  for (std::size_t exponent = dims / 2; exponent > 0; exponent /= 2) {
    for (std::size_t j = 0; j < values.size(); ++j) {
      if (exponent % 2 == 1) values[j] *= squares[j];
      squares[j] *= squares[j];
    }
  }
}

/// The core distance of a point within its cluster: (mean of distance^-d over the others)^(-1/d). Points at the same place count as
/// others and add nothing, as hdbscan has it; 0 where all are at one place. Powers are of the least distance divided by each: these
/// neither overflow nor vanish all, in however many dimensions.
double core_distance(const Columns& cluster, std::span<const double> point) {
  constexpr std::size_t kBlock = 512;
  std::array<double, kBlock> squared;  // NOLINT(cppcoreguidelines-pro-type-member-init): as above
  double least = kInfinity;            // squared
  double sum = 0;
  for (std::size_t begin = 0; begin < cluster.size(); begin += kBlock) {
    const std::span<double> block(squared.data(), std::min(kBlock, cluster.size() - begin));
    cluster.squared_distances(point, begin, begin + block.size(), block.data());
    double lowest = kInfinity;
    for (const double s : block) lowest = std::min(lowest, s > 0 ? s : kInfinity);
    if (lowest < least) {
      std::array<double, 1> change{lowest / least};
      raise(change, cluster.dims());
      sum *= change[0];
      least = lowest;
    }
    if (least == kInfinity) continue;
    for (double& s : block) s = s > 0 ? least / s : 0;
    raise(block, cluster.dims());
    sum = std::accumulate(block.begin(), block.end(), sum);
  }
  if (sum == 0) return 0;
  return std::sqrt(least) *
         std::pow(sum / static_cast<double>(cluster.size() - 1), -1 / static_cast<double>(cluster.dims()));
}

/// Of a cluster, or of a sample of one, what its validity needs.
struct Inner {
  std::uint32_t cluster = 0;  ///< its place in the list of clusters
  double sparseness = 0;
  std::vector<double> points;  ///< row-major, the inner points of the minimum spanning tree
  std::vector<double> core;    ///< the core distance of each
};

/// Prim's algorithm on the mutual reachability, the largest of a distance and the two core distances, of all pairs. Nothing is kept of
/// pairs: distances of a point are computed when it comes into the tree. All numbers are squares.
class SpanningTree {
 public:
  struct Edge {
    std::size_t parent;
    std::size_t child;
    double squared;
  };

  SpanningTree(const Columns& points, std::span<const double> core, const CancelToken& cancel)
      : points_(points), core_(core.size()), reached_(core.size(), kInfinity), in_tree_(core.size()) {
    std::transform(core.begin(), core.end(), core_.begin(), [](double c) { return c * c; });
    Step last{.squared = 0, .next = 0};
    for (std::size_t i = 0; i < core.size(); ++i) {
      cancel.check();
      const std::size_t current = last.next;
      const double weight = last.squared;
      last = step(current, weight);
      in_tree_[current] = 1;
      if (i > 0) edges_.push_back({last.parent, current, weight});
    }
  }

  [[nodiscard]] std::span<const Edge> edges() const noexcept { return edges_; }

 private:
  static constexpr std::size_t kBlock = 1024;
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

  /// The nearest point outside of the tree, the first of several, and the parent of the one that came last.
  struct Step {
    double squared = kInfinity;
    std::size_t next = kNone;
    std::size_t parent = kNone;

    [[nodiscard]] static Step best(const Step& a, const Step& b) noexcept {
      const Step& nearest = b.squared < a.squared || (b.squared == a.squared && b.next < a.next) ? b : a;
      return {nearest.squared, nearest.next, std::min(a.parent, b.parent)};
    }
  };

  /// Takes the distances of `current`, which has come by an edge of this weight. As many points are joined by edges of equal weight, a
  /// core distance that several share, the tree is not unique; hdbscan says as the parent the first point of the tree at that distance,
  /// give or take a part in 10^5, and this does the same. Which points are inner depends on it.
  Step step(std::size_t current, double weight) {
    const std::vector<double> from = points_.row(current);
    const double distance = std::sqrt(weight);
    const double slack = 1e-8 + 1e-5 * distance;
    const double least = distance > slack ? (distance - slack) * (distance - slack) : 0;
    const double most = (distance + slack) * (distance + slack);
    const auto over = [&](std::size_t begin, std::size_t end, Step found) {
      std::array<double, kBlock> reach;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled at once
      points_.squared_distances(from, begin, end, reach.data());
      for (std::size_t j = begin; j < end; ++j) {
        reach[j - begin] = std::max(reach[j - begin], std::max(core_[current], core_[j]));
      }
      for (std::size_t j = begin; j < end; ++j) {
        const double squared = reach[j - begin];
        if (in_tree_[j] != 0) {
          if (squared >= least && squared <= most) found.parent = std::min(found.parent, j);
          continue;
        }
        if (j == current) continue;
        reached_[j] = std::min(reached_[j], squared);
        if (reached_[j] < found.squared || found.next == kNone) {  // a distance may be beyond float64
          found.squared = reached_[j];
          found.next = j;
        }
      }
      return found;
    };
    const auto over_range = [&](std::size_t begin, std::size_t end, Step found) {
      for (std::size_t at = begin; at < end; at += kBlock) found = over(at, std::min(at + kBlock, end), found);
      return found;
    };
    const std::size_t n = core_.size();
    if (n < 4 * kBlock) return over_range(0, n, {});
    return tbb::parallel_reduce(
        tbb::blocked_range<std::size_t>(0, n, kBlock), Step{},
        [&](const auto& range, Step found) { return Step::best(found, over_range(range.begin(), range.end(), {})); },
        Step::best);
  }

  const Columns& points_;
  std::vector<double> core_;     ///< [m] squared core distances
  std::vector<double> reached_;  ///< [m] the least squared reachability from the tree so far
  std::vector<std::uint8_t> in_tree_;
  std::vector<Edge> edges_;
};

/// core: [m]. Inner points have at least two edges; the first point stands for them where none has. Without edges between inner points
/// all edges count for the sparseness.
Inner inner_of(const Columns& points, std::span<const double> core, const CancelToken& cancel) {
  const SpanningTree tree(points, core, cancel);
  std::vector<std::uint32_t> degree(points.size());
  for (const auto& edge : tree.edges()) {
    ++degree[edge.parent];
    ++degree[edge.child];
  }
  double widest = 0;
  double widest_inner = -1;
  for (const auto& edge : tree.edges()) {
    widest = std::max(widest, edge.squared);
    if (degree[edge.parent] > 1 && degree[edge.child] > 1) widest_inner = std::max(widest_inner, edge.squared);
  }
  if (std::none_of(degree.begin(), degree.end(), [](std::uint32_t d) { return d > 1; })) degree[0] = 2;
  Inner inner;
  inner.sparseness = std::sqrt(widest_inner < 0 ? widest : widest_inner);
  for (std::size_t j = 0; j < points.size(); ++j) {
    if (degree[j] <= 1) continue;
    for (std::size_t k = 0; k < points.dims(); ++k) inner.points.push_back(points.at(j, k));
    inner.core.push_back(core[j]);
  }
  return inner;
}

/// A k-d tree over inner points of all clusters, with the bounds that a search for the least mutual reachability needs.
class ReachTree {
 public:
  ReachTree(std::span<const Inner* const> parts, std::size_t dims) : dims_(dims) {
    for (const Inner* part : parts) {
      points_.insert(points_.end(), part->points.begin(), part->points.end());
      core_.insert(core_.end(), part->core.begin(), part->core.end());
      cluster_.resize(core_.size(), part->cluster);
    }
    ids_.resize(core_.size());
    std::iota(ids_.begin(), ids_.end(), 0U);
    if (!ids_.empty()) build(0, 0, ids_.size());
  }

  /// For each of `clusters` clusters the least mutual reachability of its points and others'. Threads share what they have found so far;
  /// only what cannot be less is left out, so the result does not depend on them.
  [[nodiscard]] std::vector<double> separations(std::size_t clusters, const CancelToken& cancel) const {
    std::vector<std::atomic<double>> least(clusters);
    for (auto& value : least) value = kInfinity;
    tbb::parallel_for(tbb::blocked_range<std::size_t>(0, ids_.size(), 64), [&](const auto& range) {
      cancel.check();
      for (std::size_t i = range.begin(); i < range.end(); ++i) {
        std::atomic<double>& best = least[cluster_[ids_[i]]];
        visit(ids_[i], 0, 0, ids_.size(), best);
      }
    });
    return {least.begin(), least.end()};
  }

 private:
  static constexpr std::size_t kLeaf = 16;
  static constexpr std::uint32_t kSeveral = std::numeric_limits<std::uint32_t>::max();

  struct Node {
    double core = kInfinity;           ///< the least
    std::uint32_t cluster = kSeveral;  ///< the only one
  };

  [[nodiscard]] const double* row(std::uint32_t id) const noexcept { return points_.data() + id * dims_; }

  /// Nodes are in heap order; a range is cut at its middle.
  void build(std::size_t node, std::size_t begin, std::size_t end) {
    if (nodes_.size() <= node) {
      nodes_.resize(node + 1);
      boxes_.resize((node + 1) * 2 * dims_);
    }
    double* const lo = boxes_.data() + node * 2 * dims_;
    double* const hi = lo + dims_;
    std::fill_n(lo, dims_, kInfinity);
    std::fill_n(hi, dims_, -kInfinity);
    nodes_[node].cluster = cluster_[ids_[begin]];
    for (std::size_t i = begin; i < end; ++i) {
      const std::uint32_t id = ids_[i];
      nodes_[node].core = std::min(nodes_[node].core, core_[id]);
      if (cluster_[id] != nodes_[node].cluster) nodes_[node].cluster = kSeveral;
      for (std::size_t k = 0; k < dims_; ++k) {
        lo[k] = std::min(lo[k], row(id)[k]);
        hi[k] = std::max(hi[k], row(id)[k]);
      }
    }
    if (end - begin <= kLeaf) return;
    std::size_t axis = 0;
    for (std::size_t k = 1; k < dims_; ++k) {
      if (hi[k] - lo[k] > hi[axis] - lo[axis]) axis = k;
    }
    const std::size_t middle = begin + (end - begin) / 2;
    const auto at = [&](std::size_t i) { return ids_.begin() + static_cast<std::ptrdiff_t>(i); };
    std::nth_element(at(begin), at(middle), at(end),
                     [&](std::uint32_t a, std::uint32_t b) { return row(a)[axis] < row(b)[axis]; });
    build(2 * node + 1, begin, middle);
    build(2 * node + 2, middle, end);
  }

  /// No point of a node is reached by less.
  [[nodiscard]] double bound(std::uint32_t id, std::size_t node) const noexcept {
    const double* const lo = boxes_.data() + node * 2 * dims_;
    const double* const hi = lo + dims_;
    double sum = 0;
    for (std::size_t k = 0; k < dims_; ++k) {
      const double outside = std::max(0.0, std::max(lo[k] - row(id)[k], row(id)[k] - hi[k]));
      sum += outside * outside;
    }
    return std::max(std::sqrt(sum), std::max(core_[id], nodes_[node].core));
  }

  [[nodiscard]] double reach(std::uint32_t a, std::uint32_t b) const noexcept {
    double sum = 0;
    for (std::size_t k = 0; k < dims_; ++k) sum += (row(a)[k] - row(b)[k]) * (row(a)[k] - row(b)[k]);
    return std::max(std::sqrt(sum), std::max(core_[a], core_[b]));
  }

  void visit(std::uint32_t id, std::size_t node, std::size_t begin, std::size_t end, std::atomic<double>& best) const {
    if (nodes_[node].cluster == cluster_[id] || bound(id, node) >= best.load(std::memory_order_relaxed)) return;
    if (end - begin <= kLeaf) {
      for (std::size_t i = begin; i < end; ++i) {
        if (cluster_[ids_[i]] == cluster_[id]) continue;
        const double found = reach(id, ids_[i]);
        double known = best.load(std::memory_order_relaxed);
        while (found < known && !best.compare_exchange_weak(known, found, std::memory_order_relaxed)) {
        }
      }
      return;
    }
    const std::size_t middle = begin + (end - begin) / 2;
    const std::size_t left = 2 * node + 1;
    const std::size_t right = left + 1;
    const bool left_first = bound(id, left) <= bound(id, right);
    if (left_first) visit(id, left, begin, middle, best);
    visit(id, right, middle, end, best);
    if (!left_first) visit(id, left, begin, middle, best);
  }

  std::size_t dims_;
  std::vector<double> points_;  ///< row-major
  std::vector<double> core_;
  std::vector<std::uint32_t> cluster_;
  std::vector<std::uint32_t> ids_;
  std::vector<Node> nodes_;
  std::vector<double> boxes_;  ///< of each node the least coordinates, then the largest
};

/// Numbers that look random and are the same everywhere: splitmix64.
class Mixer {
 public:
  std::uint64_t next() noexcept {
    std::uint64_t z = state_ += 0x9E3779B97F4A7C15ULL;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
  }

 private:
  std::uint64_t state_ = 0;
};

/// Puts `count` of the ids at the front, at random.
void draw(std::span<std::uint32_t> ids, std::size_t count) {
  Mixer mixer;
  for (std::size_t i = 0; i < count; ++i) std::swap(ids[i], ids[i + mixer.next() % (ids.size() - i)]);
}

/// The ids of a cluster, ascending.
struct Members {
  std::int32_t label = 0;
  std::vector<std::uint32_t> ids;
};

/// By label. Throws UsageError.
std::vector<Members> members_of(std::span<const std::int32_t> labels) {
  std::vector<std::pair<std::int32_t, std::uint32_t>> clustered;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] < kNoise) {
      throw UsageError("point " + std::to_string(i) + " has the label " + std::to_string(labels[i]) +
                       ", and labels are clusters from 0 on or -1 for noise");
    }
    if (labels[i] != kNoise) clustered.emplace_back(labels[i], static_cast<std::uint32_t>(i));
  }
  tbb::parallel_sort(clustered.begin(), clustered.end());
  std::vector<Members> members;
  for (const auto& [label, id] : clustered) {
    if (members.empty() || members.back().label != label) members.push_back({label, {}});
    members.back().ids.push_back(id);
  }
  return members;
}

/// One cluster, or a sample of one, to be looked at.
struct Piece {
  std::uint32_t cluster = 0;  ///< its place in the list of clusters
  std::size_t begin = 0;      ///< in the list of members
  std::size_t end = 0;
};

Inner inner_of(PointsView points, std::span<const std::uint32_t> members, const Piece& piece,
               const CancelToken& cancel) {
  const std::span<const std::uint32_t> ids = members.subspan(piece.begin, piece.end - piece.begin);
  const Columns whole(points, members);
  std::vector<double> core(ids.size());
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, ids.size(), 16), [&](const auto& range) {
    for (std::size_t j = range.begin(); j < range.end(); ++j) {
      cancel.check();
      core[j] = core_distance(whole, whole.row(piece.begin + j));
    }
  });
  Inner inner =
      ids.size() == members.size() ? inner_of(whole, core, cancel) : inner_of(Columns(points, ids), core, cancel);
  inner.cluster = piece.cluster;
  return inner;
}

/// Mean and standard error of the mean.
std::pair<double, double> mean_of(std::span<const double> values) {
  const auto n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  if (values.size() == 1) return {mean, 0};
  double sum = 0;
  for (const double v : values) sum += (v - mean) * (v - mean);
  return {mean, std::sqrt(sum / (n * (n - 1)))};
}

void check(PointsView points, std::span<const std::int32_t> labels, const ValidityOptions& options) {
  if (points.size() != labels.size()) {
    throw UsageError("there are " + std::to_string(points.size()) + " points and " + std::to_string(labels.size()) +
                     " labels: give one for each");
  }
  if (options.sample < 2 || options.samples < 2) {
    throw UsageError("a sample has at least 2 points, and an error needs at least 2 samples");
  }
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, points.size(), 1 << 13),
                    [&](const auto& range) { require_finite(points, range.begin(), range.end()); });
}

}  // namespace

Validity validity(PointsView points, std::span<const std::int32_t> labels, const ValidityOptions& options,
                  const CancelToken& cancel) {
  check(points, labels, options);
  std::vector<Members> members = members_of(labels);
  std::vector<Piece> pieces;
  std::vector<std::size_t> first_piece;  // of each cluster
  bool sampled = false;
  for (std::uint32_t c = 0; c < members.size(); ++c) {
    first_piece.push_back(pieces.size());
    const std::size_t size = members[c].ids.size();
    if (size < 2) continue;
    if (size <= options.samples * options.sample) {
      pieces.push_back({c, 0, size});
      continue;
    }
    sampled = true;
    draw(members[c].ids, options.samples * options.sample);
    for (std::size_t s = 0; s < options.samples; ++s) {
      pieces.push_back({c, s * options.sample, (s + 1) * options.sample});
    }
  }
  first_piece.push_back(pieces.size());

  // The most work first. A thread that waits for a part of its cluster takes no other cluster meanwhile.
  std::vector<std::size_t> order(pieces.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto work = [&](const Piece& p) { return (p.end - p.begin) * members[p.cluster].ids.size(); };
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return work(pieces[a]) > work(pieces[b]); });
  std::vector<Inner> inner(pieces.size());
  tbb::parallel_for(
      tbb::blocked_range<std::size_t>(0, order.size(), 1),
      [&](const auto& range) {
        for (std::size_t i = range.begin(); i < range.end(); ++i) {
          const Piece& piece = pieces[order[i]];
          tbb::this_task_arena::isolate(
              [&] { inner[order[i]] = inner_of(points, members[piece.cluster].ids, piece, cancel); });
        }
      },
      tbb::simple_partitioner());

  const std::size_t rounds = sampled ? options.samples : 1;
  const auto n = static_cast<double>(points.size());
  std::vector<std::vector<double>> scores(members.size());
  std::vector<double> totals;
  Validity found;
  found.clusters.resize(members.size());
  for (std::size_t s = 0; s < rounds; ++s) {
    std::vector<const Inner*> parts;
    for (std::size_t c = 0; c < members.size(); ++c) {
      const std::size_t count = first_piece[c + 1] - first_piece[c];
      if (count > 0) parts.push_back(&inner[first_piece[c] + (count > 1 ? s : 0)]);
    }
    const std::vector<double> separations = ReachTree(parts, points.dims()).separations(members.size(), cancel);
    totals.push_back(0);
    for (const Inner* part : parts) {
      const double separation = separations[part->cluster];
      // NaN where there is no other cluster: the separation is infinite.
      const double score = (separation - part->sparseness) / std::max(separation, part->sparseness);
      scores[part->cluster].push_back(score);
      totals.back() += static_cast<double>(members[part->cluster].ids.size()) / n * score;
      found.clusters[part->cluster].sparseness += part->sparseness / static_cast<double>(rounds);
      found.clusters[part->cluster].separation += separation / static_cast<double>(rounds);
    }
  }
  std::tie(found.score, found.error) = mean_of(totals);
  for (std::size_t c = 0; c < members.size(); ++c) {
    found.clusters[c].cluster = members[c].label;
    found.clusters[c].points = members[c].ids.size();
    if (scores[c].empty()) {
      found.clusters[c].score = found.clusters[c].sparseness = found.clusters[c].separation = kUndefined;
    } else {
      std::tie(found.clusters[c].score, found.clusters[c].error) = mean_of(scores[c]);
    }
  }
  return found;
}

}  // namespace epsflow
