#include <epsflow/index/leaf_order.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <mutex>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

#include <epsflow/core/parallel.hpp>
#include <epsflow/index/curve.hpp>
#include <epsflow/index/radix_sort.hpp>

namespace epsflow::index {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::size_t kBlockPoints = 1 << 14;
/// Leading bits of the numbers that many points are sorted by: three passes.
constexpr unsigned kFirstBits = 33;

/// Calls f with the dimensions, D to kMostCurveDims, as a constant: std::integral_constant<std::size_t, dims>.
template <std::size_t D = 1, class F>
void with_curve_dims(std::size_t dims, F&& f) {
  if constexpr (D < kMostCurveDims) {
    if (dims > D) return with_curve_dims<D + 1>(dims, f);
  }
  f(std::integral_constant<std::size_t, D>{});
}

/// Returns the dimensions of the curve: all, or the six of largest variance in a sample.
std::vector<std::size_t> curve_dims(PointsView points) {
  constexpr std::size_t kSample = 4096;
  std::vector<std::size_t> dims(points.dims());
  std::iota(dims.begin(), dims.end(), std::size_t{0});
  if (dims.size() <= kMostCurveDims) return dims;
  const std::size_t step = std::max<std::size_t>(1, points.size() / kSample);
  std::vector<double> variance(dims.size());
  for (const std::size_t k : dims) {
    double mean = 0, squares = 0, count = 0;
    for (std::size_t i = 0; i < points.size(); i += step) {
      const double from_mean = points.at(i, k) - mean;
      mean += from_mean / ++count;
      squares += from_mean * (points.at(i, k) - mean);
    }
    variance[k] = std::isnan(squares) ? kInfinity : squares;
  }
  std::partial_sort(dims.begin(), dims.begin() + kMostCurveDims, dims.end(),
                    [&](std::size_t a, std::size_t b) { return variance[a] > variance[b]; });
  dims.resize(kMostCurveDims);
  return dims;
}

/// Sorts the ids of points, which are row-major coordinates of type T, along a curve through D dimensions.
template <class T, std::size_t D>
class CurveSort {
 public:
  CurveSort(const T* values, std::size_t dims, const std::vector<std::size_t>& curve_dims, const CancelToken& cancel)
      : values_(values), dims_(dims), cancel_(cancel) {
    std::copy(curve_dims.begin(), curve_dims.end(), curve_dims_.begin());
  }

  /// Writes the ids of the items to `order`, sorted. Overwrites the items and `spare`. Points with the same number are
  /// sorted along a curve of their own, which separates some of them unless all have the same coordinates. So the
  /// recursion ends, at the latest when rounding makes them equal.
  void sort(std::span<KeyedId> items, std::span<KeyedId> spare, std::uint32_t* order) const {
    cancel_.check();
    const Extents extents = parallel_reduce(
        items.size(), kBlockPoints, Extents{},
        [&](std::size_t begin, std::size_t end, Extents so_far) {
          for (std::size_t i = begin; i < end; ++i) so_far.add(*this, items[i].id);
          return so_far;
        },
        [](Extents a, const Extents& b) { return a.unite(b); });
    const Curve curve(extents.lo.data(), extents.hi.data(), D);
    parallel_ranges(items.size(), kBlockPoints, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        items[i].key = curve.template number<D>([&](std::size_t k) { return at(items[i].id, k); });
      }
    });
    unsigned shift = 0;
    if (items.size() > kBlockPoints) {
      shift = D * curve_bits(D) - std::min<unsigned>(kFirstBits, D * curve_bits(D));
      const std::span<KeyedId> before = items;
      items = radix_sort(
          items, spare, kFirstBits, [shift](const KeyedId& item) { return item.key >> shift; }, cancel_);
      if (items.data() != before.data()) spare = before;
    } else {
      std::sort(items.begin(), items.end(), [](const KeyedId& a, const KeyedId& b) { return a.key < b.key; });
    }
    const auto number = [&](std::size_t i) { return items[i].key >> shift; };
    const bool apart = number(0) != number(items.size() - 1);
    std::vector<std::pair<std::size_t, std::size_t>> runs;  // to be sorted further
    std::mutex mutex;
    parallel_ranges(items.size(), kBlockPoints, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) order[i] = items[i].id;
      if (!apart) return;
      // A run belongs to the range in which it begins.
      std::vector<std::pair<std::size_t, std::size_t>> found;
      while (begin > 0 && begin < end && number(begin) == number(begin - 1)) ++begin;
      while (begin < end) {
        std::size_t next = begin + 1;
        while (next < items.size() && number(next) == number(begin)) ++next;
        if (next - begin > LeafOrder::kLeaf) found.emplace_back(begin, next - begin);
        begin = next;
      }
      if (found.empty()) return;
      const std::scoped_lock lock(mutex);
      runs.insert(runs.end(), found.begin(), found.end());
    });
    parallel_for(runs.size(), [&](std::size_t r) {
      const auto [begin, size] = runs[r];
      sort(items.subspan(begin, size), spare.subspan(begin, size), order + begin);
    });
  }

 private:
  struct Extents {
    std::array<double, D> lo, hi;
    Extents() {
      lo.fill(kInfinity);
      hi.fill(-kInfinity);
    }
    void add(const CurveSort& sort, std::uint32_t id) {
      for (std::size_t k = 0; k < D; ++k) {
        const double value = sort.at(id, k);
        lo[k] = std::min(lo[k], value);
        hi[k] = std::max(hi[k], value);
      }
    }
    Extents& unite(const Extents& other) {
      for (std::size_t k = 0; k < D; ++k) {
        lo[k] = std::min(lo[k], other.lo[k]);
        hi[k] = std::max(hi[k], other.hi[k]);
      }
      return *this;
    }
  };

  [[nodiscard]] double at(std::uint32_t id, std::size_t k) const {
    return static_cast<double>(values_[std::size_t{id} * dims_ + (D < kMostCurveDims ? k : curve_dims_[k])]);
  }

  const T* values_;
  std::size_t dims_;
  std::array<std::size_t, D> curve_dims_{};
  const CancelToken& cancel_;
};

}  // namespace

LeafOrder::LeafOrder(PointsView points, const CancelToken& cancel)
    : dims_(points.dims()),
      leaves_(static_cast<std::uint32_t>((points.size() + kLeaf - 1) / kLeaf)),
      order_(points.size()),
      coordinates_(std::uint64_t{leaves_} * kLeaf * dims_) {
  if (points.size() == 0) return;
  const std::vector<std::size_t> dims = curve_dims(points);
  points.visit([&]<class T>(std::span<const T> values) {
    Buffer<KeyedId> items(points.size()), spare(points.size());
    for (std::uint32_t id = 0; id < size(); ++id) items[id].id = id;
    with_curve_dims(dims.size(), [&](auto count) {
      CurveSort<T, count()>(values.data(), dims_, dims, cancel).sort(items.span(), spare.span(), order_.data());
    });
  });
  cancel.check();
  std::uint32_t nodes = leaves_;
  do {
    const std::uint32_t groups = (nodes + kBranch - 1) / kBranch;
    boxes_.emplace_back(std::uint64_t{groups} * dims_ * 2 * kBranch);
    nodes = groups;
  } while (nodes > 1);
  fill_leaves(points, cancel);
  for (std::size_t level = 1; level < boxes_.size(); ++level) fill_level(level);
}

void LeafOrder::fill_leaves(PointsView points, const CancelToken& cancel) {
  const std::uint32_t groups = (leaves_ + kBranch - 1) / kBranch;
  points.visit([&](auto values) {
    parallel_ranges(groups, kBlockPoints / (kLeaf * kBranch), [&](std::size_t begin, std::size_t end) {
      for (auto l = static_cast<std::uint32_t>(begin * kBranch); l < end * kBranch; ++l) {
        if (l % kBranch == 0) cancel.check();
        double* const box = boxes_[0].data() + std::size_t{l / kBranch} * dims_ * 2 * kBranch + l % kBranch;
        double* const leaf = coordinates_.data() + std::size_t{l} * dims_ * kLeaf;
        const std::uint32_t count = l < leaves_ ? filled(l) : 0;
        for (std::uint32_t i = 0; i < (count == 0 ? 0 : kLeaf); ++i) {
          const std::size_t row = std::size_t{order_[l * kLeaf + std::min(i, count - 1)]} * dims_;
          for (std::size_t k = 0; k < dims_; ++k) leaf[k * kLeaf + i] = static_cast<double>(values[row + k]);
        }
        for (std::size_t k = 0; k < dims_; ++k) {
          const double* const first = leaf + k * kLeaf;
          box[k * 2 * kBranch] = count == 0 ? kInfinity : *std::min_element(first, first + kLeaf);
          box[(k * 2 + 1) * kBranch] = count == 0 ? -kInfinity : *std::max_element(first, first + kLeaf);
        }
      }
    });
  });
}

void LeafOrder::fill_level(std::size_t level) {
  const Buffer<double>& below = boxes_[level - 1];
  const std::size_t stride = dims_ * 2 * kBranch;
  const auto children = static_cast<std::uint32_t>(below.size() / stride);  // groups below are boxes here
  const auto groups = static_cast<std::uint32_t>(boxes_[level].size() / stride);
  parallel_ranges(groups * kBranch, kBlockPoints, [&](std::size_t begin, std::size_t end) {
    for (auto b = static_cast<std::uint32_t>(begin); b < end; ++b) {
      double* const box = boxes_[level].data() + b / kBranch * stride + b % kBranch;
      for (std::size_t k = 0; k < dims_; ++k) {
        const double* const lo = below.data() + b * stride + k * 2 * kBranch;
        box[k * 2 * kBranch] = b < children ? *std::min_element(lo, lo + kBranch) : kInfinity;
        box[(k * 2 + 1) * kBranch] = b < children ? *std::max_element(lo + kBranch, lo + 2 * kBranch) : -kInfinity;
      }
    }
  });
}

std::uint64_t LeafOrder::bytes() const noexcept {
  std::uint64_t sum = order_.bytes() + coordinates_.bytes();
  for (const auto& level : boxes_) sum += level.bytes();
  return sum;
}

std::uint64_t LeafOrder::most_bytes(std::uint64_t n, std::size_t dims) noexcept {
  const std::uint64_t row = dims * sizeof(double);
  // Boxes: two corners for kLeaf points, 8/7 of that with the levels above, and blocks that are almost empty.
  const std::uint64_t index = (n + kLeaf) * row + n / kLeaf * 2 * row * 8 / 7 + 32 * 2 * kBranch * row;
  return n * sizeof(std::uint32_t) + std::max(index, n * 2 * sizeof(KeyedId));
}

}  // namespace epsflow::index
