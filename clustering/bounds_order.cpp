#include <epsflow/clustering/bounds_order.hpp>

#include <tbb/parallel_invoke.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <vector>

#include <epsflow/core/parallel.hpp>

namespace epsflow::clustering {
namespace {

template <class T>
struct PointWithId {
  std::array<T, index::kMostDenseBoxDims> x;
  std::uint32_t id;
};

/// From this number of points on, halves are arranged in parallel; below it cancellation is not checked.
constexpr std::uint32_t kManyPoints = 1 << 16;

/// Arranges the items of positions [begin, end). Cuts at the ends of bounds, largest ones first. Stops if cancelled.
template <class T>
void halve(PointWithId<T>* items, std::uint32_t begin, std::uint32_t end, std::size_t dims, const CancelToken& cancel) {
  unsigned shift = BoundsOrder::shift(BoundsOrder::kLevels - 1);
  while (begin >> shift == (end - 1) >> shift) {
    shift -= BoundsOrder::kFanoutBits;
    if (shift == 0) return;
  }
  std::size_t axis = 0;
  T widest = -1;
  for (std::size_t k = 0; k < dims; ++k) {
    T lo = items[0].x[k];
    T hi = lo;
    for (std::uint32_t i = 1; i < end - begin; ++i) {
      lo = std::min(lo, items[i].x[k]);
      hi = std::max(hi, items[i].x[k]);
    }
    if (hi - lo > widest) {
      widest = hi - lo;
      axis = k;
    }
  }
  if (widest == 0) return;  // equal points
  const std::uint32_t half = begin + (end - begin) / 2;
  const std::uint32_t cut =
      std::clamp((half >> shift) << shift, ((begin >> shift) + 1) << shift, ((end - 1) >> shift) << shift);
  std::nth_element(items, items + (cut - begin), items + (end - begin),
                   [axis](const PointWithId<T>& a, const PointWithId<T>& b) { return a.x[axis] < b.x[axis]; });
  const auto first = [&] { halve(items, begin, cut, dims, cancel); };
  const auto second = [&] { halve(items + (cut - begin), cut, end, dims, cancel); };
  if (end - begin < kManyPoints) {
    first();
    second();
  } else if (!cancel.cancelled()) {
    // Isolated: a thread that waits for its other half must not begin another cell, with memory of its own.
    tbb::this_task_arena::isolate([&] { tbb::parallel_invoke(first, second); });
  }
}

}  // namespace

BoundsOrder::BoundsOrder(const index::Grid& grid, const index::SearchInput& in, std::span<const ClusterBlock> blocks,
                         const CancelToken& cancel)
    : order_(grid.size()), input_{addresses_.data(), in.dims, in.precision, in.limit} {
  const auto fill = [&]<class T>(T) {
    arrange<T>(grid, blocks, cancel);
    cancel.check();
    bound<T>();
  };
  if (in.precision == Precision::float32) {
    fill(float{});
  } else {
    fill(double{});
  }
}

template <class T>
void BoundsOrder::arrange(const index::Grid& grid, std::span<const ClusterBlock> blocks, const CancelToken& cancel) {
  const std::size_t dims = input_.dims;
  std::array<T*, index::kMostDenseBoxDims> to{};
  std::array<const T*, index::kMostDenseBoxDims> from{};
  for (std::size_t k = 0; k < dims; ++k) {
    coordinates_[k] = Buffer<std::byte>(std::uint64_t{grid.size()} * sizeof(T));
    addresses_[k] = coordinates_[k].data();
    to[k] = reinterpret_cast<T*>(coordinates_[k].data());
    from[k] = grid.coordinates<T>(k);
  }
  parallel_for(blocks.size(), [&](std::size_t b) {
    std::vector<PointWithId<T>> items;
    for (std::uint32_t cell = blocks[b].nodes.begin; cell < blocks[b].nodes.end && !cancel.cancelled(); ++cell) {
      const Range points = grid.rows_of(cell);
      items.resize(points.size());
      for (std::uint32_t p = points.begin; p < points.end; ++p) {
        for (std::size_t k = 0; k < dims; ++k) items[p - points.begin].x[k] = from[k][p];
        items[p - points.begin].id = grid.order()[p];
      }
      halve(items.data(), points.begin, points.end, dims, cancel);
      for (std::uint32_t p = points.begin; p < points.end; ++p) {
        for (std::size_t k = 0; k < dims; ++k) to[k][p] = items[p - points.begin].x[k];
        order_[p] = items[p - points.begin].id;
      }
    }
  });
}

template <class T>
void BoundsOrder::bound() {
  // Computes the first level from the points, then each level from the level below.
  std::size_t below = order_.size();
  for (unsigned level = 0; level < kLevels; ++level) {
    const std::size_t count = (below + (std::size_t{1} << kFanoutBits) - 1) >> kFanoutBits;
    for (std::size_t k = 0; k < input_.dims; ++k) {
      Buffer<double>& lo = bounds_[level].lo[k] = Buffer<double>(count);
      Buffer<double>& hi = bounds_[level].hi[k] = Buffer<double>(count);
      const auto fill = [&](const auto* lo_below, const auto* hi_below) {
        parallel_ranges(count, 1024, [&](std::size_t begin, std::size_t end) {
          for (std::size_t b = begin; b < end; ++b) {
            const std::size_t first = b << kFanoutBits;
            const std::size_t last = std::min(below, (b + 1) << kFanoutBits);
            lo[b] = *std::min_element(lo_below + first, lo_below + last);
            hi[b] = *std::max_element(hi_below + first, hi_below + last);
          }
        });
      };
      const T* points = static_cast<const T*>(addresses_[k]);
      if (level == 0) {
        fill(points, points);
      } else {
        fill(bounds_[level - 1].lo[k].data(), bounds_[level - 1].hi[k].data());
      }
    }
    below = count;
  }
}

}  // namespace epsflow::clustering
