// Finds the columns of a table in which pandas has stored its index.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace epsflow::io {

/// Returns the names in "index_columns" of the JSON that pandas stores under the key `pandas` in the metadata of
/// Parquet and Arrow files. A RangeIndex takes no column and has no name there. Empty if the list is missing or
/// damaged.
[[nodiscard]] std::set<std::string> pandas_index(std::string_view metadata);

}  // namespace epsflow::io
