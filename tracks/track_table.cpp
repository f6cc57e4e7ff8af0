#include <epsflow/tracks/track_table.hpp>

#include <numbers>
#include <string>

#include <epsflow/catalog/catalog.hpp>
#include <epsflow/core/error.hpp>
#include <epsflow/core/parallel.hpp>
#include <epsflow/core/slices.hpp>

namespace epsflow {

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
  parallel_ranges(n, kGrain, [&](std::size_t begin, std::size_t end) {
    cancel.check();
    require_finite(points, begin, end);
  });
  // Features are in the order of the clusters of a catalogue with slices: by slice, then by label.
  const Slices in_slices(slices.starts, n);
  return catalog({.points = points, .metric = slices.metric, .labels = slices.labels, .slices = &in_slices}, cancel)
      .center;
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
                 .idx = feature.index + 1,
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
