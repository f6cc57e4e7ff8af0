#include <epsflow/tracks/track_table.hpp>

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_reduce.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include <epsflow/core/error.hpp>

namespace epsflow {
namespace {

constexpr double kTurn = 2 * std::numbers::pi;
/// What is left of n unit vectors that cancel each other out is rounding.
constexpr double kNothingLeft = 1e-9;

/// Sums over the points of one slice's features.
class SliceMeans {
 public:
  /// out: [features × dims] of all features.
  SliceMeans(const SlicedLabels& slices, const Tracks& found, bool beyond_180, double* out)
      : points_(slices.points),
        starts_(slices.starts),
        metric_(slices.metric),
        found_(found),
        beyond_180_(beyond_180),
        out_(out) {}

  /// first, last: the features of the slice.
  void find(std::size_t slice, std::uint32_t first, std::uint32_t last) {
    if (first == last) return;
    slice_ = slice;
    first_ = first;
    count_ = last - first;
    if (on_sphere(metric_.kind)) {
      on_sphere_means();
      return;
    }
    for (std::size_t k = 0; k < points_.dims(); ++k) {
      const bool closed = k < metric_.box.size() && metric_.box[k].closed();
      closed ? round_means(k, metric_.box[k]) : plain_means(k);
    }
  }

 private:
  /// f(feature of the slice, row) for all rows in clusters, ascending.
  template <class F>
  void for_each(F&& f) const {
    for (std::size_t i = starts_[slice_]; i < starts_[slice_ + 1]; ++i) {
      const std::uint32_t feature = found_.feature_of[i];
      if (feature != Tracks::kNoFeature) f(feature - first_, i);
    }
  }
  double& out(std::uint32_t f, std::size_t k) const { return out_[std::size_t{first_ + f} * points_.dims() + k]; }
  [[nodiscard]] double n(std::uint32_t f) const { return found_.features[first_ + f].points; }

  /// Of differences from the first point, so that a mean of equal numbers is that number.
  void plain_means(std::size_t k) {
    start_from_first(k);
    for (std::uint32_t f = 0; f < count_; ++f) out(f, k) = begin_[f] + sum_[f] / n(f);
  }

  void start_from_first(std::size_t k) {
    begin_.assign(count_, std::nan(""));
    sum_.assign(count_, 0);
    for_each([&](std::uint32_t f, std::size_t i) {
      const double x = points_.at(i, k);
      if (std::isnan(begin_[f])) begin_[f] = x;
      sum_[f] += x - begin_[f];
    });
  }

  void round_means(std::size_t k, const BoxSide& side) {
    const double length = side.hi - side.lo;
    begin_.assign(count_, std::nan(""));
    sum_.assign(count_, 0);
    other_.assign(count_, 0);
    for_each([&](std::uint32_t f, std::size_t i) {
      const double x = points_.at(i, k);
      if (std::isnan(begin_[f])) begin_[f] = x;
      const double angle = kTurn * ((x - side.lo) / length);
      sum_[f] += std::cos(angle);
      other_[f] += std::sin(angle);
    });
    has_mean_.assign(count_, 1);
    for (std::uint32_t f = 0; f < count_; ++f) {
      if (std::hypot(sum_[f], other_[f]) < kNothingLeft * n(f)) {
        has_mean_[f] = 0;
      } else {
        begin_[f] = side.lo + std::atan2(other_[f], sum_[f]) / kTurn * length;
      }
    }
    sum_.assign(count_, 0);
    for_each([&](std::uint32_t f, std::size_t i) { sum_[f] += std::remainder(points_.at(i, k) - begin_[f], length); });
    for (std::uint32_t f = 0; f < count_; ++f) {
      double mean = has_mean_[f] != 0 ? begin_[f] + sum_[f] / n(f) : begin_[f];
      if (mean < side.lo) mean += length;
      if (mean >= side.hi) mean -= length;
      out(f, k) = std::clamp(mean, side.lo, side.hi);
    }
  }

  void on_sphere_means() {
    const std::size_t lat = latitude_comes_first(metric_) ? 0 : 1;
    const std::size_t lon = 1 - lat;
    const double to_radians = in_radians(metric_.kind) ? 1 : std::numbers::pi / 180;
    vector_.assign(std::size_t{count_} * 3, 0);
    first_row_.assign(count_, starts_[slice_ + 1]);
    for_each([&](std::uint32_t f, std::size_t i) {
      first_row_[f] = std::min(first_row_[f], i);
      const double phi = points_.at(i, lat) * to_radians;
      const double lambda = points_.at(i, lon) * to_radians;
      double* const v = vector_.data() + std::size_t{f} * 3;
      v[0] += std::cos(phi) * std::cos(lambda);
      v[1] += std::cos(phi) * std::sin(lambda);
      v[2] += std::sin(phi);
    });
    for (std::uint32_t f = 0; f < count_; ++f) {
      const double* const v = vector_.data() + std::size_t{f} * 3;
      if (n(f) == 1 || std::hypot(v[0], v[1], v[2]) < kNothingLeft * n(f)) {
        out(f, lat) = points_.at(first_row_[f], lat);
        out(f, lon) = points_.at(first_row_[f], lon);
        continue;
      }
      out(f, lat) = std::atan2(v[2], std::hypot(v[0], v[1])) / to_radians;
      double lambda = std::atan2(v[1], v[0]) / to_radians;
      const double turn = kTurn / to_radians;
      if (beyond_180_ && lambda < 0) lambda = std::max(0.0, lambda + turn >= turn ? 0.0 : lambda + turn);
      out(f, lon) = lambda;
    }
  }

  const PointsView points_;
  std::span<const std::uint64_t> starts_;
  const Metric& metric_;
  const Tracks& found_;
  bool beyond_180_;
  double* out_;
  std::size_t slice_ = 0;
  std::uint32_t first_ = 0;
  std::uint32_t count_ = 0;
  std::vector<double> begin_;
  std::vector<double> sum_;
  std::vector<double> other_;
  std::vector<double> vector_;
  std::vector<std::uint8_t> has_mean_;
  std::vector<std::size_t> first_row_;
};

/// Whether longitudes are from 0 to 360 degrees.
bool goes_beyond_180(const SlicedLabels& slices) {
  if (!on_sphere(slices.metric.kind)) return false;
  const std::size_t lon = latitude_comes_first(slices.metric) ? 1 : 0;
  struct Extent {
    double least = 0;
    double most = 0;
  };
  constexpr std::size_t kGrain = 1 << 14;
  const Extent all = tbb::parallel_reduce(
      tbb::blocked_range<std::size_t>(0, slices.points.size(), kGrain), Extent{},
      [&](const auto& range, Extent extent) {
        for (std::size_t i = range.begin(); i < range.end(); ++i) {
          const double x = slices.points.at(i, lon);
          extent = {std::min(extent.least, x), std::max(extent.most, x)};
        }
        return extent;
      },
      [](const Extent& a, const Extent& b) {
        return Extent{std::min(a.least, b.least), std::max(a.most, b.most)};
      });
  return all.least >= 0 && all.most > (in_radians(slices.metric.kind) ? std::numbers::pi : 180);
}

}  // namespace

std::vector<double> mean_positions(const SlicedLabels& slices, const Tracks& found, const CancelToken& cancel) {
  const PointsView points = slices.points;
  const std::size_t n = points.size();
  if (n != found.feature_of.size() || slices.starts.size() != std::size_t{found.slices} + 1) {
    throw UsageError("there are " + std::to_string(n) + " points, and tracks of " +
                     std::to_string(found.feature_of.size()) + ": give the slices that the tracks were found in");
  }
  if (n == 0) return {};
  check_metric(slices.metric, points.dims());
  constexpr std::size_t kGrain = 1 << 14;
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, n, kGrain), [&](const auto& range) {
    cancel.check();
    require_finite(points, range.begin(), range.end());
  });
  std::vector<std::uint32_t> first(std::size_t{found.slices} + 1, 0);
  for (const Feature& f : found.features) first[f.slice + 1] = f.place + 1;
  for (std::size_t s = 0; s < found.slices; ++s) first[s + 1] += first[s];
  std::vector<double> means(found.features.size() * points.dims());
  const bool beyond_180 = goes_beyond_180(slices);
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, found.slices), [&](const auto& range) {
    SliceMeans of_slice(slices, found, beyond_180, means.data());
    for (std::size_t s = range.begin(); s < range.end(); ++s) {
      cancel.check();
      of_slice.find(s, first[s], first[s + 1]);
    }
  });
  return means;
}

std::vector<TrackRow> track_rows(const SlicedLabels& slices, const Tracks& found, const CancelToken& cancel) {
  const bool has_points = slices.points.size() > 0;
  const std::vector<double> means = has_points ? mean_positions(slices, found, cancel) : std::vector<double>();
  const std::size_t dims = slices.points.dims();
  const bool sphere = on_sphere(slices.metric.kind);
  const std::size_t x = sphere && latitude_comes_first(slices.metric) ? 1 : 0;
  const double to_degrees = in_radians(slices.metric.kind) ? 180 / std::numbers::pi : 1;
  std::vector<TrackRow> rows;
  rows.reserve(found.features.size());
  for (std::size_t f = 0; f < found.features.size(); ++f) {
    const Feature& feature = found.features[f];
    TrackRow row{.frame = feature.slice,
                 .idx = feature.place + 1,
                 .num = feature.points,
                 .feature = static_cast<std::uint32_t>(f + 1),
                 .cell = feature.cell,
                 .track = feature.track};
    if (has_points) {
      const double* const mean = means.data() + f * dims;
      row.x = mean[x];
      row.y = dims > 1 ? mean[1 - x] : 0;
      if (dims > 2) row.z = mean[2];
      if (sphere) {
        row.lon = row.x * to_degrees;
        row.lat = row.y * to_degrees;
      }
    }
    rows.push_back(row);
  }
  return rows;
}

}  // namespace epsflow
