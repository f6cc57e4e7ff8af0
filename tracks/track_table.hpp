// Tracks as a table of features, in the columns of tobac.
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include <epsflow/core/cancel.hpp>
#include <epsflow/tracks/tracks.hpp>

namespace epsflow {

/// A row of the table. Columns beside these, `time` and `timestr`, are those of the slices.
struct TrackRow {
  std::uint32_t frame = 0;    ///< the slice, from 0
  std::uint32_t idx = 0;      ///< the feature within its slice, from 1
  std::uint32_t num = 0;      ///< points of the cluster
  std::uint32_t feature = 0;  ///< from 1
  /// Mean position, in the unit of the points: columns 0, 1 and 2 of points with as many, and of longitude and latitude x = longitude and
  /// y = latitude. 0 for a y that points do not have; NaN for a z that they do not have, and without points.
  /// tobac's hdim_2, hdim_1 and vdim, which are places on its grid, are the same: they are on a grid with steps of one unit.
  double x = std::numeric_limits<double>::quiet_NaN();
  double y = std::numeric_limits<double>::quiet_NaN();
  double z = std::numeric_limits<double>::quiet_NaN();
  /// In degrees; NaN for points that are no longitudes and latitudes.
  double lat = std::numeric_limits<double>::quiet_NaN();
  double lon = std::numeric_limits<double>::quiet_NaN();
  std::uint32_t cell = 0;   ///< from 1
  std::uint32_t track = 0;  ///< from 1
};

/// [features × d] the mean position of each feature's points, border points included, in the order and unit of their columns.
/// Along a closed side of a periodic box, the mean of what lies nearest to each other: the mean direction of the side as a circle first, and
/// then the mean of the points' differences from it, each the shorter way round. Of longitudes and latitudes, the direction of the sum of
/// unit vectors; longitudes are from 0 to 360 degrees where all points have such ones and some have more than 180, else from -180 to 180. Where a
/// cluster goes all round and has no such mean, it is the place of its first point.
/// slices, found: what find_tracks() was given and found. O(n·d), in parallel. Throws InputError for a coordinate that is NaN or infinite, UsageError for
/// a metric that does not fit, Cancelled.
[[nodiscard]] std::vector<double> mean_positions(const SlicedLabels& slices, const Tracks& found,
                                                 const CancelToken& cancel = {});

/// A row for each feature, in their order. As mean_positions().
[[nodiscard]] std::vector<TrackRow> track_rows(const SlicedLabels& slices, const Tracks& found,
                                               const CancelToken& cancel = {});

}  // namespace epsflow
