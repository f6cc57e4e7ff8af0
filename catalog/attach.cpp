#include <epsflow/catalog/attach.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>

#include <epsflow/core/box_fit.hpp>
#include <epsflow/core/buffer.hpp>
#include <epsflow/core/error.hpp>
#include <epsflow/core/parallel.hpp>
#include <epsflow/core/sweep.hpp>
#include <epsflow/index/candidate_ranges.hpp>
#include <epsflow/index/grid.hpp>
#include <epsflow/index/pair_sums.hpp>

namespace epsflow {
namespace {

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
  Buffer<double> points((input.linked.size() + input.others.size()) * width);
  BoxFit fit(metric);
  transform_all(metric, input.linked, points.data(), &fit);
  transform_all(metric, input.others, points.data() + input.linked.size() * width, &fit);
  fit.require_fit(input.linking_length);
  return points;
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
  const Buffer<double> points = transformed_points(input, metric);
  const index::Grid grid(PointsView(points.span(), width), radius, Cells::eps, cancel, space);
  const double limit = space.limit(radius);
  index::with_pair_sum(grid, [&](const auto& sum) { find_nearest(input, grid, sum, limit, found, cancel); });
  return found;
}

}  // namespace epsflow
