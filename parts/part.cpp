#include <epsflow/parts/part.hpp>

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>

namespace epsflow::parts {
namespace {

constexpr std::size_t kGrain = 1 << 14;

std::size_t row_bytes(PointsView points) { return points.dims() * bytes_of(points.precision()); }

const std::byte* row_of(PointsView points, std::size_t i) {
  return static_cast<const std::byte*>(points.data()) + i * row_bytes(points);
}

std::byte* row_of(Points& points, std::size_t i) {
  return points.precision() == Precision::float32
             ? reinterpret_cast<std::byte*>(points.values<float>().data() + i * points.dims())
             : reinterpret_cast<std::byte*>(points.values<double>().data() + i * points.dims());
}

/// Throws ResourceError where 32-bit ids within a part do not suffice.
void require_count(std::uint64_t n) {
  if (n <= kMaxPoints) return;
  throw ResourceError("a part has " + format_count(n, "point") + " with its ghosts, and at most " +
                      format_count(kMaxPoints) + " are possible: use more ranks");
}

/// Calls f(shift) for each image of a point beyond the faces of a periodic box that it is near, and for the point itself, whose shift is 0.
template <class Point, class F>
void for_images(const Space& space, std::size_t dims, const Point& point, double reach, std::vector<double>& shift,
                std::size_t axis, F& f) {
  if (axis == dims) return f();
  shift[axis] = 0;
  for_images(space, dims, point, reach, shift, axis + 1, f);
  const double length = space.period(axis);
  if (length == 0) return;
  const double from_lo = point(axis) - space.axes[axis].lo;
  if (from_lo <= reach) {
    shift[axis] = length;
    for_images(space, dims, point, reach, shift, axis + 1, f);
  }
  if (length - from_lo <= reach) {
    shift[axis] = -length;
    for_images(space, dims, point, reach, shift, axis + 1, f);
  }
  shift[axis] = 0;
}

}  // namespace

Distribution::Distribution(Exchange& exchange, PointsView share, const Partition& partition)
    : share_(share.size()), part_of_(share.size()) {
  const auto ranks = static_cast<std::size_t>(exchange.size());
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, share_, kGrain), [&](const auto& range) {
    for (std::size_t i = range.begin(); i < range.end(); ++i) {
      part_of_[i] = partition.part_of([&](std::size_t k) { return share.at(i, k); });
    }
  });
  std::vector<std::size_t> counts(ranks, 0);
  for (const std::uint32_t part : part_of_) ++counts[part];
  const std::size_t row = row_bytes(share);
  Mail mail(ranks);
  Letters<std::uint64_t> ids(ranks);
  for (std::size_t r = 0; r < ranks; ++r) {
    mail[r].reserve(counts[r] * row);
    ids[r].reserve(counts[r]);
  }
  const std::uint64_t first = exchange.sum_below(share_);
  for (std::size_t i = 0; i < share_; ++i) {
    const std::byte* const from = row_of(share, i);
    mail[part_of_[i]].insert(mail[part_of_[i]].end(), from, from + row);
    ids[part_of_[i]].push_back(first + i);
  }
  mail = exchange.all_to_all(std::move(mail));
  ids = all_to_all(exchange, ids);
  std::size_t n = 0;
  for (const auto& of_rank : ids) {
    received_.push_back(of_rank.size());
    n += of_rank.size();
  }
  require_count(n);
  own_ = Points(n, share.dims(), share.precision());
  ids_.reserve(n);
  std::size_t at = 0;
  for (std::size_t r = 0; r < ranks; ++r) {
    if (!mail[r].empty()) std::memcpy(row_of(own_, at), mail[r].data(), mail[r].size());
    ids_.insert(ids_.end(), ids[r].begin(), ids[r].end());
    at += received_[r];
    mail[r] = {};
  }
}

Part::Part(Exchange& exchange, const Distribution& distribution, const Partition& partition, const Space& space,
           double reach)
    : own_(distribution.own().size()) {
  const auto ranks = static_cast<std::size_t>(exchange.size());
  const auto me = static_cast<std::uint32_t>(exchange.rank());
  const PointsView own = distribution.own().view();
  const std::size_t d = own.dims();
  for (std::size_t k = 0; k < space.axes.size(); ++k) {
    if (space.period(k) == 0 || space.period(k) > 2 * reach) continue;
    throw UsageError("the box is less than two neighbourhoods wide along coordinate " + format_count(k) +
                     ", and is not cut into parts then: use smaller eps, or one rank");
  }
  lent_.resize(ranks);
  std::vector<double> shift(d, 0.0);
  Letters<double> coordinates(ranks);  // of images
  Letters<double> distances(ranks);
  for (std::size_t i = 0; i < own_; ++i) {
    const auto point = [&](std::size_t k) { return own.at(i, k); };
    auto lend = [&] {
      const bool itself = std::all_of(shift.begin(), shift.end(), [](double s) { return s == 0; });
      partition.for_near([&](std::size_t k) { return own.at(i, k) + shift[k]; }, reach,
                         [&](std::uint32_t part, double distance) {
                           if (part == me && itself) return;
                           // An image lies beyond a face, and is no nearer to any part than to the face.
                           for (std::size_t k = 0; k < d; ++k) {
                             if (shift[k] > 0) distance = std::max(distance, point(k) - space.axes[k].lo);
                             if (shift[k] < 0)
                               distance = std::max(distance, space.period(k) - (point(k) - space.axes[k].lo));
                           }
                           lent_[part].push_back({static_cast<std::uint32_t>(i), distance});
                           for (std::size_t k = 0; k < d; ++k) coordinates[part].push_back(point(k) + shift[k]);
                         });
    };
    for_images(space, d, point, reach, shift, 0, lend);
  }
  // By distance, so that a smaller radius takes the first of them.
  const std::size_t row = row_bytes(own);
  Mail mail(ranks);
  for (std::size_t r = 0; r < ranks; ++r) {
    std::vector<std::uint32_t> order(lent_[r].size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::uint32_t>(i);
    std::stable_sort(order.begin(), order.end(),
                     [&](auto a, auto b) { return lent_[r][a].distance < lent_[r][b].distance; });
    std::vector<Lent> sorted(order.size());
    mail[r].resize(order.size() * row);
    for (std::size_t i = 0; i < order.size(); ++i) {
      sorted[i] = lent_[r][order[i]];
      distances[r].push_back(sorted[i].distance);
      const double* const from = coordinates[r].data() + order[i] * d;
      for (std::size_t k = 0; k < d; ++k) {
        if (own.precision() == Precision::float32) {
          const auto x = static_cast<float>(from[k]);
          std::memcpy(mail[r].data() + i * row + k * sizeof(x), &x, sizeof(x));
        } else {
          std::memcpy(mail[r].data() + i * row + k * sizeof(double), &from[k], sizeof(double));
        }
      }
    }
    lent_[r] = std::move(sorted);
    coordinates[r] = {};
  }
  mail = exchange.all_to_all(std::move(mail));
  distances_ = all_to_all(exchange, distances);
  for (std::size_t r = 0; r < ranks; ++r) ghosts_ += distances_[r].size();
  require_count(own_ + ghosts_);
  points_ = Points(own_ + ghosts_, d, own.precision());
  if (own_ > 0) std::memcpy(row_of(points_, 0), own.data(), own.bytes());
  for (std::size_t r = 0; r < ranks; ++r) {
    borrowed_.emplace_back(distances_[r].size(), d, own.precision());
    if (!mail[r].empty()) std::memcpy(row_of(borrowed_.back(), 0), mail[r].data(), mail[r].size());
    mail[r] = {};
  }
}

Part::View Part::view(double reach) {
  View view;
  std::size_t n = own_;
  for (std::size_t r = 0; r < lent_.size(); ++r) {
    const auto near = std::partition_point(lent_[r].begin(), lent_[r].end(),
                                           [&](const Lent& lent) { return lent.distance <= reach; });
    view.lent_to.push_back(static_cast<std::size_t>(near - lent_[r].begin()));
    for (auto lent = lent_[r].begin(); lent != near; ++lent) view.lent.push_back(lent->point);
    const auto last = std::upper_bound(distances_[r].begin(), distances_[r].end(), reach);
    const auto count = static_cast<std::size_t>(last - distances_[r].begin());
    view.borrowed_from.push_back(count);
    if (count > 0) std::memcpy(row_of(points_, n), borrowed_[r].view().data(), count * row_bytes(points_.view()));
    n += count;
  }
  const std::size_t d = points_.dims();
  view.points = points_.view().visit([&](auto values) { return PointsView(values.first(n * d), d); });
  return view;
}

}  // namespace epsflow::parts
