#include <epsflow/clustering/inner_points.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include <epsflow/core/parallel.hpp>

namespace epsflow {
namespace {

template <class Real>
constexpr Real kFarthest = std::numeric_limits<Real>::infinity();

/// Points as columns, for loops over many points that compilers vectorise.
template <class Real>
class PointColumns {
 public:
  PointColumns(PointsView points, std::span<const std::uint32_t> ids)
      : size_(ids.size()), dims_(points.dims()), values_(size_ * dims_) {
    for (std::size_t k = 0; k < dims_; ++k) {
      for (std::size_t j = 0; j < size_; ++j) values_[k * size_ + j] = points.at(ids[j], k);
    }
  }

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::size_t dims() const noexcept { return dims_; }
  [[nodiscard]] Real at(std::size_t j, std::size_t k) const noexcept { return values_[k * size_ + j]; }

  /// Sets out to the squared distances of a point from the points in [begin, end).
  void squared_distances(std::span<const Real> from, std::size_t begin, std::size_t end, Real* out) const noexcept {
    std::fill_n(out, end - begin, Real{0});
    for (std::size_t k = 0; k < dims_; ++k) {
      const Real* const column = values_.data() + k * size_ + begin;
      for (std::size_t j = 0; j < end - begin; ++j) {
        const Real difference = column[j] - from[k];
        out[j] += difference * difference;
      }
    }
  }

  [[nodiscard]] std::vector<Real> row(std::size_t j) const {
    std::vector<Real> row(dims_);
    for (std::size_t k = 0; k < dims_; ++k) row[k] = at(j, k);
    return row;
  }

 private:
  std::size_t size_;
  std::size_t dims_;
  std::vector<Real> values_;
};

/// Raises values to the power of dims/2, in place.
template <class Real>
void raise(std::span<Real> values, std::size_t dims) noexcept {
  std::array<Real, 512> squares;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled as far as it is read
  std::copy(values.begin(), values.end(), squares.begin());
  for (Real& value : values) value = dims % 2 == 1 ? std::sqrt(value) : 1;
  for (std::size_t exponent = dims / 2; exponent > 0; exponent /= 2) {
    for (std::size_t j = 0; j < values.size(); ++j) {
      if (exponent % 2 == 1) values[j] *= squares[j];
      squares[j] *= squares[j];
    }
  }
}

/// Returns the core distance of a point within its cluster: (mean of distance^-d over the others)^(-1/d). Points at the
/// same position count as others and add nothing, as in hdbscan; 0 if all are at one position. Powers are taken of the
/// least distance divided by each distance: these neither overflow nor all underflow, in any number of dimensions.
template <class Real>
Real core_distance(const PointColumns<Real>& cluster, std::span<const Real> point) {
  constexpr std::size_t kBlock = 512;
  std::array<Real, kBlock> squared;  // NOLINT(cppcoreguidelines-pro-type-member-init): as above
  Real least = kFarthest<Real>;      // squared
  Real sum = 0;
  for (std::size_t begin = 0; begin < cluster.size(); begin += kBlock) {
    const std::span<Real> block(squared.data(), std::min(kBlock, cluster.size() - begin));
    cluster.squared_distances(point, begin, begin + block.size(), block.data());
    Real lowest = kFarthest<Real>;
    for (const Real s : block) lowest = std::min(lowest, s > 0 ? s : kFarthest<Real>);
    if (lowest < least) {
      std::array<Real, 1> change{lowest / least};
      raise(std::span<Real>(change), cluster.dims());
      sum *= change[0];
      least = lowest;
    }
    if (least == kFarthest<Real>) continue;
    for (Real& s : block) s = s > 0 ? least / s : 0;
    raise(block, cluster.dims());
    sum = std::accumulate(block.begin(), block.end(), sum);
  }
  if (sum == 0) return 0;
  return std::sqrt(least) *
         std::pow(sum / static_cast<Real>(cluster.size() - 1), -1 / static_cast<Real>(cluster.dims()));
}

/// Returns the core distances of the points [begin, end) of a cluster.
template <class Real>
std::vector<Real> core_distances(const PointColumns<Real>& cluster, std::size_t begin, std::size_t end,
                                 const CancelToken& cancel) {
  std::vector<Real> core(end - begin);
  parallel_ranges(core.size(), 16, [&](std::size_t first, std::size_t last) {
    for (std::size_t j = first; j < last; ++j) {
      cancel.check();
      core[j] = core_distance<Real>(cluster, cluster.row(begin + j));
    }
  });
  return core;
}

/// Rounds to 31 bits: values that differ by rounding alone become equal, except for a few numbers.
template <class Real>
Real rounded(Real x) noexcept {
  constexpr int kBits = 31;
  constexpr Real kMany = 1 / (std::numeric_limits<Real>::epsilon() * (std::uint64_t{1} << (kBits - 1)));
  const Real many = x * kMany;
  return many - (many - x);
}

/// Prim's algorithm on the mutual reachability of all pairs: the largest of a distance and the two core distances. No
/// pairs are stored: the distances of a point are computed when it enters the tree. All numbers are squares.
///
/// Many pairs are equally near: a point shares its core distance with all nearer points. Among them the lowest number
/// comes next, with the lowest number in the tree as parent. hdbscan does the same.
template <class Real>
class PrimTree {
 public:
  struct Edge {
    std::size_t parent;
    std::size_t child;
  };

  PrimTree(const PointColumns<Real>& points, std::span<const Real> core, const CancelToken& cancel)
      : points_(points),
        core_(core.size()),
        reached_(core.size(), kFarthest<Real>),
        parent_(core.size()),
        in_tree_(core.size()) {
    std::transform(core.begin(), core.end(), core_.begin(), [](Real c) { return c * c; });
    std::size_t current = 0;
    for (std::size_t i = 1; i < core.size(); ++i) {
      cancel.check();
      in_tree_[current] = 1;
      current = nearest_after(current);
      edges_.push_back({parent_[current], current});
    }
  }

  [[nodiscard]] std::span<const Edge> edges() const noexcept { return edges_; }
  [[nodiscard]] Real squared(const Edge& edge) const {
    Real distance = 0;
    points_.squared_distances(points_.row(edge.parent), edge.child, edge.child + 1, &distance);
    return std::max({distance, core_[edge.parent], core_[edge.child]});
  }

 private:
  static constexpr std::size_t kBlock = 1024;
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

  struct Nearest {
    Real squared = kFarthest<Real>;
    std::size_t point = kNone;

    [[nodiscard]] static Nearest of(const Nearest& a, const Nearest& b) noexcept {
      return b.squared < a.squared || (b.squared == a.squared && b.point < a.point) ? b : a;
    }
  };

  /// Returns the point outside of the tree that is nearest to it; `current` is its newest point.
  std::size_t nearest_after(std::size_t current) {
    const std::vector<Real> from = points_.row(current);
    const auto over = [&](std::size_t begin, std::size_t end, Nearest found) {
      std::array<Real, kBlock> reach;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled at once
      points_.squared_distances(from, begin, end, reach.data());
      for (std::size_t j = begin; j < end; ++j) {
        reach[j - begin] = rounded(std::max(reach[j - begin], std::max(core_[current], core_[j])));
      }
      for (std::size_t j = begin; j < end; ++j) {
        if (in_tree_[j] != 0) continue;
        const Real squared = reach[j - begin];
        const Real before = reached_[j];
        const bool is_nearer = (squared < before) | ((squared == before) & (current < parent_[j]));  // without branches
        parent_[j] = is_nearer ? current : parent_[j];
        reached_[j] = std::min(squared, before);
        if (reached_[j] < found.squared) found = {reached_[j], j};
      }
      return found;
    };
    const auto over_range = [&](std::size_t begin, std::size_t end, Nearest found) {
      for (std::size_t at = begin; at < end; at += kBlock) found = over(at, std::min(at + kBlock, end), found);
      return found;
    };
    const std::size_t n = core_.size();
    if (n < 4 * kBlock) return over_range(0, n, {}).point;
    return parallel_reduce(
               n, kBlock, Nearest{},
               [&](std::size_t begin, std::size_t end, const Nearest& found) { return over(begin, end, found); },
               Nearest::of)
        .point;
  }

  const PointColumns<Real>& points_;
  std::vector<Real> core_;           ///< [m] squared core distances
  std::vector<Real> reached_;        ///< [m] the least squared reachability from the tree so far, rounded
  std::vector<std::size_t> parent_;  ///< [m] the point of the tree with that reachability
  std::vector<std::uint8_t> in_tree_;
  std::vector<Edge> edges_;
};

/// Sorts members and their core distances, the least first. So the tree does not depend on the order of rows, nor
/// (except for equally dense points) on the order of columns: of edges of equal length it has the ones to the densest
/// points.
template <class Real>
void sort_densest_first(std::vector<std::uint32_t>& members, std::vector<Real>& core) {
  std::vector<std::size_t> order(members.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return rounded(core[a]) < rounded(core[b]); });
  const std::vector<std::uint32_t> members_before = members;
  const std::vector<Real> core_before = core;
  for (std::size_t i = 0; i < order.size(); ++i) {
    members[i] = members_before[order[i]];
    core[i] = core_before[order[i]];
  }
}

/// core: [m]. Inner points have at least two edges; if there are none, the first point replaces them. Without edges
/// between inner points all edges count for the sparseness.
template <class Real>
InnerPoints<Real> inner_of(const PointColumns<Real>& points, std::span<const Real> core, const CancelToken& cancel) {
  const PrimTree<Real> tree(points, core, cancel);
  std::vector<std::uint32_t> degree(points.size());
  for (const auto& edge : tree.edges()) {
    ++degree[edge.parent];
    ++degree[edge.child];
  }
  Real widest = 0;
  Real widest_inner = -1;
  for (const auto& edge : tree.edges()) {
    const Real squared = tree.squared(edge);
    widest = std::max(widest, squared);
    if (degree[edge.parent] > 1 && degree[edge.child] > 1) widest_inner = std::max(widest_inner, squared);
  }
  if (std::none_of(degree.begin(), degree.end(), [](std::uint32_t d) { return d > 1; })) degree[0] = 2;
  InnerPoints<Real> inner;
  inner.sparseness = std::sqrt(widest_inner < 0 ? widest : widest_inner);
  for (std::size_t j = 0; j < points.size(); ++j) {
    if (degree[j] <= 1) continue;
    for (std::size_t k = 0; k < points.dims(); ++k) inner.points.push_back(static_cast<double>(points.at(j, k)));
    inner.core.push_back(core[j]);
  }
  return inner;
}

}  // namespace

template <class Real>
InnerPoints<Real> inner_points(PointsView points, std::span<const std::uint32_t> members, std::size_t begin,
                               std::size_t end, const CancelToken& cancel) {
  std::vector<Real> core = core_distances(PointColumns<Real>(points, members), begin, end, cancel);
  const std::span<const std::uint32_t> piece = members.subspan(begin, core.size());
  std::vector<std::uint32_t> densest_first(piece.begin(), piece.end());
  sort_densest_first(densest_first, core);
  return inner_of<Real>(PointColumns<Real>(points, densest_first), core, cancel);
}

template InnerPoints<double> inner_points(PointsView, std::span<const std::uint32_t>, std::size_t, std::size_t,
                                          const CancelToken&);
template InnerPoints<long double> inner_points(PointsView, std::span<const std::uint32_t>, std::size_t, std::size_t,
                                               const CancelToken&);

}  // namespace epsflow
