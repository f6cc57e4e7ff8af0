#include <epsflow/catalog/attach.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <string>

#include <epsflow/core/box_fit.hpp>
#include <epsflow/core/buffer.hpp>
#include <epsflow/core/error.hpp>
#include <epsflow/core/parallel.hpp>
#include <epsflow/core/sweep.hpp>
#include <epsflow/index/candidate_ranges.hpp>
#include <epsflow/index/distance.hpp>
#include <epsflow/index/grid.hpp>

namespace epsflow {
namespace {

/// Computes the value that is compared with the limit, for D dimensions in plain space.
template <std::size_t D>
struct PlainSum {
  std::array<const double*, D> x;
  double operator()(std::uint32_t p, std::uint32_t q) const noexcept {
    return index::squared_distance<D>([&](std::size_t k) { return x[k][p]; }, [&](std::size_t k) { return x[k][q]; },
                                      D);
  }
};

/// Computes the same value in any space.
struct SpaceSum {
  const std::vector<const double*>& x;
  index::SpaceView space;
  double operator()(std::uint32_t p, std::uint32_t q) const noexcept {
    return index::norm_sum<0>(
        space, [&](std::size_t k) { return x[k][p]; }, [&](std::size_t k) { return x[k][q]; }, x.size());
  }
};

void check(const AttachInput& input) {
  (void)Sweep({{input.linking_length, 1}});  // checks the linking length
  if (input.labels.size() != input.linked.size()) {
    throw UsageError("there are " + std::to_string(input.linked.size()) + " linked points and " +
                     std::to_string(input.labels.size()) + " labels: give one for each");
  }
  if (input.others.size() == 0) return;
  if (input.others.dims() != input.linked.dims()) {
    throw UsageError("the points to attach have " + std::to_string(input.others.dims()) +
                     " columns, and those that are linked " + std::to_string(input.linked.dims()) +
                     ": give the same columns of both");
  }
  if (input.others.size() > kMaxPoints - std::min<std::uint64_t>(kMaxPoints, input.linked.size())) {
    throw UsageError("there are more points, linked and to attach, than the " + std::to_string(kMaxPoints) +
                     " of one data set: attach a part of them at a time");
  }
}

/// Returns the transformed linked points, followed by the transformed other points.
Buffer<double> transformed_points(const AttachInput& input, const Metric& metric) {
  const std::size_t width = transformed_dims(metric, input.linked.dims());
  Buffer<double> places((input.linked.size() + input.others.size()) * width);
  double* to = places.data();
  constexpr std::size_t kGrain = 1 << 13;
  for (const PointsView& points : {input.linked, input.others}) {
    parallel_ranges(points.size(), kGrain, [&](std::size_t begin, std::size_t end) {
      transform_points(metric, points, begin, end, to + begin * width);
    });
    to += points.size() * width;
  }
  BoxFit fit(metric);
  fit.add(input.linked, 0, input.linked.size());
  fit.add(input.others, 0, input.others.size());
  fit.require_fit(input.linking_length);
  return places;
}

/// Finds the labels of the other points. The index contains the linked and the other points.
template <class Sum>
void find_nearest(const AttachInput& input, const index::Grid& grid, const Sum& sum, double limit,
                  std::span<std::int32_t> found, const CancelToken& cancel) {
  constexpr std::uint32_t kBlock = 1 << 12;
  const auto order = grid.order();
  const auto linked = static_cast<std::uint32_t>(input.linked.size());
  const std::uint32_t n = grid.size();
  // If n is near the largest number of points, n + kBlock does not fit into 32 bits.
  const auto blocks = static_cast<std::uint32_t>((std::uint64_t{n} + kBlock - 1) / kBlock);
  parallel_for(blocks, [&](std::uint32_t b) {
    cancel.check();
    const Range rows{b * kBlock, std::min(n - b * kBlock, kBlock) + b * kBlock};
    index::for_each_bundle(grid, rows, [&](Range cell, std::span<const Range> candidates) {
      for (std::uint32_t p = cell.begin; p < cell.end; ++p) {
        if (order[p] < linked) continue;
        double least = std::numeric_limits<double>::infinity();
        std::uint32_t nearest = linked;
        for (const Range& range : candidates) {
          for (std::uint32_t q = range.begin; q < range.end; ++q) {
            if (order[q] >= linked) continue;
            const double distance = sum(p, q);
            if (distance > limit || distance > least || (distance == least && order[q] > nearest)) continue;
            least = distance;
            nearest = order[q];
          }
        }
        if (nearest != linked) found[order[p] - linked] = input.labels[nearest];
      }
    });
  });
}

}  // namespace

std::vector<std::int32_t> attach(const AttachInput& input, const CancelToken& cancel) {
  check(input);
  std::vector<std::int32_t> found(input.others.size(), input.none);
  if (found.empty()) return found;
  check_metric(input.metric, input.others.dims());
  const Metric metric = canonical(input.metric);
  const Space space = transformed_space(metric);
  const double radius = transformed_radius(metric, input.linking_length);
  const std::size_t width = transformed_dims(metric, input.others.dims());
  const Buffer<double> places = transformed_points(input, metric);
  const index::Grid grid(PointsView(places.span(), width), radius, Cells::eps, cancel, space);
  std::vector<const double*> x(width);
  for (std::size_t k = 0; k < width; ++k) x[k] = grid.coordinates<double>(k);
  std::vector<double> periods;
  for (const ClosedAxis& axis : space.axes) periods.push_back(axis.length);
  const double limit = space.limit(radius);
  if (space.plain() && width == 2) {
    find_nearest(input, grid, PlainSum<2>{{x[0], x[1]}}, limit, found, cancel);
  } else if (space.plain() && width == 3) {
    find_nearest(input, grid, PlainSum<3>{{x[0], x[1], x[2]}}, limit, found, cancel);
  } else {
    const index::SpaceView view{space.norm, space.power, periods.empty() ? nullptr : periods.data()};
    find_nearest(input, grid, SpaceSum{x, view}, limit, found, cancel);
  }
  return found;
}

}  // namespace epsflow
