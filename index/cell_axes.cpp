#include <epsflow/index/cell_axes.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <epsflow/core/parallel.hpp>
#include <epsflow/index/distance.hpp>

namespace epsflow::index {
namespace {

constexpr double kMostPlainSlots = 0x1p31;
constexpr double kReachSlack = 1 + 0x1p-16;
constexpr double kDenseBoxSlack = 1 - 0x1p-14;
/// Rounding the difference must not turn a pair of neighbours into a gap.
constexpr double kGapSlack = 1 + 0x1p-10;
/// Smallest eps for which its square, and the squares of the differences that matter, are far from underflow.
constexpr double kFewestDenseBoxEps = 0x1p-500;

/// Estimates the variance of each dimension, to rank them: two passes over at most 100,000 evenly spaced points.
std::vector<double> variances(PointsView points) {
  const std::size_t dims = points.dims();
  const std::size_t step = std::max<std::size_t>(1, points.size() / 100'000);
  std::vector<double> mean(dims), variance(dims);
  const double count = static_cast<double>((points.size() + step - 1) / step);
  for (std::size_t i = 0; i < points.size(); i += step) {
    for (std::size_t k = 0; k < dims; ++k) mean[k] += points.at(i, k) / count;
  }
  for (std::size_t i = 0; i < points.size(); i += step) {
    for (std::size_t k = 0; k < dims; ++k) {
      const double diff = points.at(i, k) - mean[k];
      variance[k] += diff * diff / count;
    }
  }
  return variance;
}

}  // namespace

Extent extent_of(PointsView points, std::size_t dim) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  return points.visit([&](auto values) {
    return parallel_reduce(
        points.size(), 1 << 16, Extent{kInfinity, -kInfinity},
        [&](std::size_t begin, std::size_t end, Extent e) {
          for (std::size_t i = begin; i != end; ++i) {
            const double x = values[i * points.dims() + dim];
            e.lo = std::min(e.lo, x);
            e.hi = std::max(e.hi, x);
          }
          return e;
        },
        [](Extent a, Extent b) {
          return Extent{std::min(a.lo, b.lo), std::max(a.hi, b.hi)};
        });
  });
}

SlotWidth SlotWidth::of_reach(double eps) noexcept {
  const double reach = neighbor_reach(eps);
  return {reach * kReachSlack, reach * kGapSlack, 1};
}

SlotWidth SlotWidth::of_dense_box(double eps, std::size_t dims) noexcept {
  return {neighbor_reach(eps) / std::sqrt(static_cast<double>(dims)) * kDenseBoxSlack, neighbor_reach(eps) * kGapSlack,
          2};
}

CellAxis::CellAxis(PointsView points, std::size_t dim, Extent extent, SlotWidth width, const CancelToken& cancel)
    : dim_(dim), lo_(extent.lo) {
  cancel.check();
  // There is one slot if every pair may be neighbours or there are no points: slot() then returns 0.
  if (points.size() == 0 || std::isinf(width.side)) return;
  inverse_side_ = 1 / width.side;
  const double slots = (extent.hi - extent.lo) * inverse_side_;
  if (slots < kMostPlainSlots) {
    slots_ = static_cast<std::uint64_t>(slots) + 1;
  } else {
    cut_at_gaps(points, width, cancel);
  }
}

CellAxis::CellAxis(std::size_t dim, ClosedAxis axis, SlotWidth width) noexcept
    : dim_(dim), lo_(axis.lo), length_(axis.length) {
  const double slots = axis.length / width.side;  // 0 if every pair may be neighbours
  divide(static_cast<std::uint64_t>(std::min(slots, kMostPlainSlots)));
}

void CellAxis::divide(std::uint64_t slots) noexcept {
  slots_ = slots < 3 ? 1 : slots;
  inverse_side_ = slots_ == 1 ? 0 : static_cast<double>(slots_) / length_;
}

void CellAxis::cut_at_gaps(PointsView points, SlotWidth width, const CancelToken& cancel) {
  Buffer<double> sorted(points.size());
  for (std::size_t i = 0; i < points.size(); ++i) sorted[i] = points.at(i, dim_);
  cancel.check();
  parallel_sort(sorted.span());
  cancel.check();
  stretches_.push_back({sorted[0], 0});
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    if (sorted[i] - sorted[i - 1] <= width.gap) continue;
    stretches_.push_back({sorted[i], slot(sorted[i - 1]) + 1 + width.window});
  }
  slots_ = slot(sorted[sorted.size() - 1]) + 1;
}

void CellAxis::coarsen() noexcept {
  if (length_ > 0) return divide(slots_ / 2);
  ++shift_;
  slots_ = ((slots_ - 1) >> 1) + 1;
}

CellAxes choose_axes(PointsView points, double eps, Cells cells, const CancelToken& cancel,
                     std::span<const Extent> extents, const Space& space) {
  std::vector<std::size_t> dims(points.dims());
  std::iota(dims.begin(), dims.end(), 0);
  if (dims.size() > kMostIndexedDims) {
    const std::vector<double> variance = variances(points);
    std::stable_sort(dims.begin(), dims.end(), [&](std::size_t a, std::size_t b) { return variance[a] > variance[b]; });
    dims.resize(kMostIndexedDims);
    std::sort(dims.begin(), dims.end());
  }
  const bool dense_boxes =
      cells == Cells::dense_box && space.plain() && dims.size() <= kMostDenseBoxDims && eps >= kFewestDenseBoxEps;
  const SlotWidth width = dense_boxes ? SlotWidth::of_dense_box(eps, dims.size()) : SlotWidth::of_reach(eps);
  CellAxes chosen{{}, width.window, dense_boxes, space.slices == nullptr ? 1 : space.slices->count()};
  chosen.axes.reserve(dims.size());
  for (const std::size_t dim : dims) {
    if (space.period(dim) > 0) {
      chosen.axes.emplace_back(dim, space.axes[dim], width);
      continue;
    }
    chosen.axes.emplace_back(points, dim, extents.empty() ? extent_of(points, dim) : extents[dim], width, cancel);
  }
  const auto log_cells = [&] {
    double sum = std::log2(static_cast<double>(chosen.slices));
    for (const CellAxis& axis : chosen.axes) sum += std::log2(static_cast<double>(axis.slots()) + 2 * width.window);
    return sum;
  };
  while (log_cells() > 62.5) {
    std::max_element(chosen.axes.begin(), chosen.axes.end(), [](const CellAxis& a, const CellAxis& b) {
      return a.slots() < b.slots();
    })->coarsen();
    chosen.dense_boxes = false;
  }
  return chosen;
}

CellKeys::CellKeys(const CellAxes& axes) : window(axes.window), strides(axes.axes.size()) {
  // Empty slots at either end of every axis: a neighbour's key never wraps into another row of cells.
  for (std::size_t a = strides.size(); a-- > 0;) {
    strides[a] = count;
    count *= axes.axes[a].slots() + 2 * window;
  }
  slice_stride = count;
  count *= axes.slices;
  neighbor_offsets = ranges(window, 1).offsets;
  for (std::size_t a = 0; a < strides.size(); ++a) {
    closed.strides[a] = strides[a];
    if (!axes.axes[a].wraps()) continue;
    closed.slots[a] = axes.axes[a].slots();
    closed.axes = static_cast<std::uint32_t>(strides.size());
  }
}

KeyRanges CellKeys::ranges(std::uint32_t reach, std::size_t merged) const {
  const auto slots = static_cast<std::int64_t>(reach);
  std::size_t a = strides.size();
  std::int64_t first = 0;
  for (; a > 0 && merged > 0; --merged) first -= slots * static_cast<std::int64_t>(strides[--a]);
  KeyRanges found{{first}, static_cast<std::uint64_t>(-2 * first) + 1};
  while (a-- > 0) {
    std::vector<std::int64_t> more;
    for (std::int64_t step = -slots; step <= slots; ++step) {
      for (const std::int64_t offset : found.offsets) {
        more.push_back(offset + step * static_cast<std::int64_t>(strides[a]));
      }
    }
    found.offsets = std::move(more);
  }
  return found;
}

}  // namespace epsflow::index
