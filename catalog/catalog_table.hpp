// A catalogue as a table, with the names that its columns have in files and data frames.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include <epsflow/catalog/catalog.hpp>
#include <epsflow/core/table.hpp>

namespace epsflow {

/// What the columns are called.
struct CatalogNames {
  std::span<const std::string> coordinates =
      {};                                   ///< d of them, or empty: x, y, z up to three dimensions, else x0, x1, …
  std::span<const std::string> units = {};  ///< of the coordinates: d of them, or empty
  std::string_view weight = "weight";       ///< of the column of weights
  /// Where there are slices, what each is called, as the values of a column: [slices]. Null: `slice`, by number.
  const TableColumn* slices = nullptr;
};

/// The slice (where there are some), cluster, size, core and first_core (where core points are known), NAME_total of the weights (where
/// there are some); of each coordinate NAME_center, NAME_spread, NAME_lower and NAME_upper; radius; of each summed-up column NAME_mean, NAME_sum,
/// NAME_min and NAME_max. radius has the unit of eps. O(clusters · columns).
[[nodiscard]] Table table_of(const Catalog& catalog, const Metric& metric, const CatalogNames& names = {});

}  // namespace epsflow
