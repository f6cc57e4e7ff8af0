// Tracks as a table of features with the columns of tobac.
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include <epsflow/core/cancel.hpp>
#include <epsflow/tracks/tracks.hpp>

namespace epsflow {

/// A row of the table. The table also has the columns `time` and `timestr`, which belong to the slices.
struct TrackRow {
  std::uint32_t frame = 0;    ///< the slice, from 0
  std::uint32_t idx = 0;      ///< the feature within its slice, from 1
  std::uint32_t num = 0;      ///< the number of points of the cluster
  std::uint32_t feature = 0;  ///< from 1
  /// The mean position in the unit of the points: columns 0, 1 and 2; for longitude and latitude, x is the longitude
  /// and y the latitude. y is 0 and z is NaN if the points do not have such a column. All are NaN without points. If
  /// tobac's grid has steps of one unit, x, y and z are also its hdim_2, hdim_1 and vdim, positions on the grid.
  double x = std::numeric_limits<double>::quiet_NaN();
  double y = std::numeric_limits<double>::quiet_NaN();
  double z = std::numeric_limits<double>::quiet_NaN();
  /// In degrees; NaN unless the points are longitudes and latitudes.
  double lat = std::numeric_limits<double>::quiet_NaN();
  double lon = std::numeric_limits<double>::quiet_NaN();
  std::uint32_t cell = 0;   ///< from 1
  std::uint32_t track = 0;  ///< from 1
};

/// Returns the mean position of the points of each feature, border points included, in the order and unit of their
/// columns. [features × d] In a periodic box and on a sphere it is Catalog::center. slices, found: the input and the
/// result of find_tracks(). O(n·d), in parallel. Throws InputError for a coordinate that is NaN or infinite; UsageError
/// if the metric or `found` does not fit, or if there are labels but no points; Cancelled.
[[nodiscard]] std::vector<double> mean_positions(const SlicedLabels& slices, const Tracks& found,
                                                 const CancelToken& cancel = {});

/// Returns a row for each feature, in the order of the features. Throws as mean_positions() if there are points.
[[nodiscard]] std::vector<TrackRow> track_rows(const SlicedLabels& slices, const Tracks& found,
                                               const CancelToken& cancel = {});

}  // namespace epsflow
