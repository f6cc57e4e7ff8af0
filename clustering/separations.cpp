#include <epsflow/clustering/separations.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>

#include <epsflow/core/parallel.hpp>

namespace epsflow {
namespace {

/// A k-d tree over the inner points of all clusters, with bounds for the search of the least mutual reachability.
template <class Real>
class ReachTree {
 public:
  ReachTree(std::span<const InnerPoints<Real>* const> clusters, std::size_t dims) : dims_(dims) {
    for (std::uint32_t c = 0; c < clusters.size(); ++c) {
      points_.insert(points_.end(), clusters[c]->points.begin(), clusters[c]->points.end());
      core_.insert(core_.end(), clusters[c]->core.begin(), clusters[c]->core.end());
      cluster_.resize(core_.size(), c);
    }
    ids_.resize(core_.size());
    std::iota(ids_.begin(), ids_.end(), 0U);
    if (!ids_.empty()) build(0, 0, ids_.size());
  }

  /// Threads share the least values found so far; only larger pairs are skipped, so threads do not change the result.
  [[nodiscard]] std::vector<double> separations(std::size_t clusters, const CancelToken& cancel) const {
    std::vector<std::atomic<double>> least(clusters);
    for (auto& value : least) value = kInfinity;
    parallel_ranges(ids_.size(), 64, [&](std::size_t begin, std::size_t end) {
      cancel.check();
      for (std::size_t i = begin; i < end; ++i) {
        std::atomic<double>& best = least[cluster_[ids_[i]]];
        visit(ids_[i], 0, 0, ids_.size(), best);
      }
    });
    return {least.begin(), least.end()};
  }

 private:
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();
  static constexpr std::size_t kLeaf = 16;
  static constexpr std::uint32_t kSeveral = std::numeric_limits<std::uint32_t>::max();

  struct CoreNode {
    Real core = std::numeric_limits<Real>::infinity();  ///< the least core distance
    std::uint32_t cluster = kSeveral;                   ///< the only cluster, or kSeveral
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

  /// Returns a lower bound on the reachability of the points of a node.
  [[nodiscard]] double bound(std::uint32_t id, std::size_t node) const noexcept {
    const double* const lo = boxes_.data() + node * 2 * dims_;
    const double* const hi = lo + dims_;
    Real sum = 0;
    for (std::size_t k = 0; k < dims_; ++k) {
      const Real x = row(id)[k];
      const Real outside = std::max(Real{0}, std::max(lo[k] - x, x - hi[k]));
      sum += outside * outside;
    }
    return static_cast<double>(std::max(std::sqrt(sum), std::max(core_[id], nodes_[node].core)));
  }

  [[nodiscard]] double reach(std::uint32_t a, std::uint32_t b) const noexcept {
    Real sum = 0;
    for (std::size_t k = 0; k < dims_; ++k) {
      const Real difference = static_cast<Real>(row(a)[k]) - row(b)[k];
      sum += difference * difference;
    }
    return static_cast<double>(std::max(std::sqrt(sum), std::max(core_[a], core_[b])));
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
  std::vector<Real> core_;
  std::vector<std::uint32_t> cluster_;
  std::vector<std::uint32_t> ids_;
  std::vector<CoreNode> nodes_;
  std::vector<double> boxes_;  ///< for each node the least coordinates, then the largest
};

}  // namespace

template <class Real>
std::vector<double> separations(std::span<const InnerPoints<Real>* const> clusters, std::size_t dims,
                                const CancelToken& cancel) {
  return ReachTree<Real>(clusters, dims).separations(clusters.size(), cancel);
}

template std::vector<double> separations(std::span<const InnerPoints<double>* const>, std::size_t, const CancelToken&);
template std::vector<double> separations(std::span<const InnerPoints<long double>* const>, std::size_t,
                                         const CancelToken&);

}  // namespace epsflow
