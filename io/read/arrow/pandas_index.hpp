// Finds the columns of a table in which pandas has stored its index.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace epsflow::io {

/// Returns the names in the list "index_columns" of `metadata`. metadata: the JSON text that Parquet and Arrow files of
/// pandas have under the key `pandas`. A RangeIndex takes no column and has no name there. Empty if the list is missing
/// or damaged.
[[nodiscard]] std::set<std::string> pandas_index(std::string_view metadata);

}  // namespace epsflow::io
