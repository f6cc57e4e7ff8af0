// A catalogue as a table, with the column names of files and data frames.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include <epsflow/catalog/catalog.hpp>
#include <epsflow/core/table.hpp>

namespace epsflow {

/// The names and units of the columns.
struct CatalogNames {
  /// [d] or empty. The default names are x, y, z for up to three dimensions, otherwise x0, x1, …
  std::span<const std::string> coordinates = {};
  std::span<const std::string> units = {};  ///< [d] the units of the coordinates, or empty
  std::string_view weight = "weight";       ///< the name of the column of weights
  /// [slices] a column with the name of each slice; the slice column of the table has its name and unit. If null, the
  /// slice column is `slice` and contains numbers.
  const TableColumn* slices = nullptr;
};

/// Returns a table with one row per cluster. `radius` has the metric's unit of eps. O(clusters · columns).
/// The columns, in this order:
///  - slice, if there are slices. The slice column gets the prefix `slice_` if another has its name.
///  - cluster, size
///  - core, first_core, both if core points are known. first_core is −1 for a cluster without core points.
///  - NAME_total of the weights, if there are weights
///  - NAME_center, NAME_spread, NAME_lower, NAME_upper of the first coordinate, then of the next, and so on
///  - radius
///  - NAME_mean, NAME_sum, NAME_min, NAME_max of the first summarised column, then of the next, and so on
[[nodiscard]] Table table_of(const Catalog& catalog, const Metric& metric, const CatalogNames& names = {});

}  // namespace epsflow
