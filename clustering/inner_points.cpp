#include <epsflow/clustering/inner_points.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include <epsflow/core/parallel.hpp>

namespace epsflow {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

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
    return parallel_reduce(
        n, kBlock, Step{},
        [&](std::size_t begin, std::size_t end, const Step& found) { return over(begin, end, found); }, Step::best);
  }

  const Columns& points_;
  std::vector<double> core_;     ///< [m] squared core distances
  std::vector<double> reached_;  ///< [m] the least squared reachability from the tree so far
  std::vector<std::uint8_t> in_tree_;
  std::vector<Edge> edges_;
};

/// core: [m]. Inner points have at least two edges; the first point stands for them where none has. Without edges between inner points
/// all edges count for the sparseness.
InnerPoints inner_of(const Columns& points, std::span<const double> core, const CancelToken& cancel) {
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
  InnerPoints inner;
  inner.sparseness = std::sqrt(widest_inner < 0 ? widest : widest_inner);
  for (std::size_t j = 0; j < points.size(); ++j) {
    if (degree[j] <= 1) continue;
    for (std::size_t k = 0; k < points.dims(); ++k) inner.points.push_back(points.at(j, k));
    inner.core.push_back(core[j]);
  }
  return inner;
}

}  // namespace

InnerPoints inner_points(PointsView points, std::span<const std::uint32_t> members, std::size_t begin, std::size_t end,
                         const CancelToken& cancel) {
  const Columns cluster(points, members);
  std::vector<double> core(end - begin);
  parallel_ranges(core.size(), 16, [&](std::size_t first, std::size_t last) {
    for (std::size_t j = first; j < last; ++j) {
      cancel.check();
      core[j] = core_distance(cluster, cluster.row(begin + j));
    }
  });
  if (core.size() == members.size()) return inner_of(cluster, core, cancel);
  return inner_of(Columns(points, members.subspan(begin, core.size())), core, cancel);
}

}  // namespace epsflow
