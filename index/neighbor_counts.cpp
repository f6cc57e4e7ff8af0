#include <epsflow/index/neighbor_counts.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include <epsflow/core/parallel.hpp>

// Proof that whole boxes are decided correctly. The sum of a pair is computed from differences, rounded once, by
// operations that are monotone, rounding included. The bounds of a box are computed by the same operations in the same
// order: the lower one from differences to the nearest point of the box, the upper one from differences to the
// farthest. So the sum, as computed, lies between the bounds, as computed. If an axis is closed, the periodic
// difference grows with the difference and falls with the length minus the difference; its bounds use the nearest point
// for one and the farthest for the other. std::pow is not known to be monotone; its error is an ulp, and bounds made of
// powers are moved apart by more than that.

namespace epsflow::index {
namespace {

constexpr std::size_t kLeaf = LeafOrder::kLeaf;
constexpr std::size_t kBranch = LeafOrder::kBranch;

template <Norm N>
class Counting {
 public:
  Counting(const LeafOrder& leaves, const Space& space, std::span<const double> limits)
      : leaves_(leaves), space_(space), limits_(limits), own_(leaves.dims()), changes_(limits.size() + 1) {}

  void count(std::uint32_t position, std::uint32_t* counts) {
    const double* const leaf = leaves_.leaf(position / kLeaf) + position % kLeaf;
    for (std::size_t k = 0; k < own_.size(); ++k) own_[k] = leaf[k * kLeaf];
    std::fill(changes_.begin(), changes_.end(), 0);
    visit(leaves_.levels() - 1, 0, 0, limits_.size());
    std::int64_t count = 0;
    for (std::size_t j = 0; j < limits_.size(); ++j) counts[j] = static_cast<std::uint32_t>(count += changes_[j]);
  }

 private:
  [[nodiscard]] double add(double sum, double t) const {
    if constexpr (N == Norm::euclidean) return sum + t * t;
    if constexpr (N == Norm::manhattan) return sum + t;
    if constexpr (N == Norm::chebyshev) return std::max(sum, t);
    return sum + std::pow(t, space_.power);
  }

  /// Adds `points` to the counts of the limits from `first` to `last`.
  void take(std::int64_t points, std::size_t first, std::size_t last) {
    changes_[first] += points;
    changes_[last] -= points;
  }
  /// Returns the first limit of the range that is not below a sum.
  [[nodiscard]] std::size_t reaching(double sum, std::size_t first, std::size_t last) const {
    const double* const limits = limits_.data();
    return static_cast<std::size_t>(std::lower_bound(limits + first, limits + last, sum) - limits);
  }

  /// Decides the boxes of a group for the limits from `first` to `last`; for other limits they are already decided.
  void visit(std::size_t level, std::uint32_t group, std::size_t first, std::size_t last) {
    double least[kBranch] = {};
    double most[kBranch] = {};
    find_bounds(leaves_.boxes(level, group), least, most);
    std::uint64_t size = kLeaf;  // points of a box
    for (std::size_t l = 0; l < level; ++l) size *= kBranch;
    for (std::uint32_t b = 0; b < kBranch; ++b) {
      const std::uint32_t child = group * LeafOrder::kBranch + b;
      const std::uint64_t begin = child * size;
      if (begin >= leaves_.size()) return;
      const std::size_t some = reaching(least[b], first, last);
      const std::size_t all = reaching(most[b], some, last);
      take(static_cast<std::int64_t>(std::min<std::uint64_t>(size, leaves_.size() - begin)), all, last);
      if (some == all) continue;
      if (level > 0) {
        visit(level - 1, child, some, all);
      } else {
        scan(child, some, all);
      }
    }
  }

  void find_bounds(const double* boxes, double* least, double* most) const {
    for (std::size_t k = 0; k < own_.size(); ++k) {
      const double* const lo = boxes + k * 2 * kBranch;
      const double* const hi = lo + kBranch;
      const double length = space_.period(k);
      for (std::size_t b = 0; b < kBranch; ++b) {
        double nearest = std::max(std::max(lo[b] - own_[k], own_[k] - hi[b]), 0.0);
        double farthest = std::max(hi[b] - own_[k], own_[k] - lo[b]);
        if (length > 0) {
          const double straight = nearest;
          nearest = std::min(nearest, std::max(length - farthest, 0.0));
          farthest = std::min(farthest, length - straight);
        }
        least[b] = add(least[b], nearest);
        most[b] = add(most[b], farthest);
      }
    }
    if constexpr (N == Norm::minkowski) {
      for (std::size_t b = 0; b < kBranch; ++b) {
        least[b] = least[b] * (1 - 0x1p-38) - 0x1p-1000;  // errors: a term 1 ulp, 4096 terms 2^-41, tiny terms more
        most[b] = most[b] * (1 + 0x1p-38) + 0x1p-1000;
      }
    }
  }

  /// Counts the points of a leaf one by one.
  void scan(std::uint32_t leaf, std::size_t first, std::size_t last) {
    double sums[kLeaf] = {};
    const double* const coordinates = leaves_.leaf(leaf);
    for (std::size_t k = 0; k < own_.size(); ++k) {
      const double length = space_.period(k);
      for (std::size_t i = 0; i < kLeaf; ++i) {
        double t = std::abs(own_[k] - coordinates[k * kLeaf + i]);
        if (length > 0) t = std::min(t, length - t);
        sums[i] = add(sums[i], t);
      }
      // Sums never decrease.
      if (k % 8 == 7 && *std::min_element(sums, sums + kLeaf) > limits_[last - 1]) return;
    }
    for (std::uint32_t i = 0; i < leaves_.filled(leaf); ++i) take(1, reaching(sums[i], first, last), last);
  }

  const LeafOrder& leaves_;
  const Space& space_;
  std::span<const double> limits_;
  std::vector<double> own_;            ///< coordinates of the point
  std::vector<std::int64_t> changes_;  ///< count of each limit minus the count of the limit before it
};

template <Norm N>
void count_by(const LeafOrder& leaves, const Space& space, std::span<const std::uint32_t> positions,
              std::span<const double> limits, std::uint32_t* counts, const CancelToken& cancel) {
  constexpr std::size_t kTogether = 16;
  parallel_ranges(positions.size(), kTogether, [&](std::size_t begin, std::size_t end) {
    cancel.check();
    Counting<N> counting(leaves, space, limits);
    for (std::size_t i = begin; i < end; ++i) {
      counting.count(positions[i], counts + i * limits.size());
    }
  });
}

}  // namespace

void count_neighbors(const LeafOrder& leaves, const Space& space, std::span<const std::uint32_t> positions,
                     std::span<const double> limits, std::uint32_t* counts, const CancelToken& cancel) {
  if (positions.empty() || limits.empty()) return;
  switch (space.norm) {
    case Norm::euclidean:
      return count_by<Norm::euclidean>(leaves, space, positions, limits, counts, cancel);
    case Norm::manhattan:
      return count_by<Norm::manhattan>(leaves, space, positions, limits, counts, cancel);
    case Norm::chebyshev:
      return count_by<Norm::chebyshev>(leaves, space, positions, limits, counts, cancel);
    case Norm::minkowski:
      return count_by<Norm::minkowski>(leaves, space, positions, limits, counts, cancel);
  }
}

}  // namespace epsflow::index
