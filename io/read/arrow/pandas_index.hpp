// Which columns of a table pandas has stored for its index.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace epsflow::io {

/// The names in "index_columns" of the JSON that pandas leaves under the key `pandas` in the metadata of Parquet and
/// Arrow files. An index that counts rows takes no column and has no name there. Empty for text that is damaged before
/// or in that list, or says nothing of an index.
[[nodiscard]] std::set<std::string> pandas_index(std::string_view metadata);

}  // namespace epsflow::io
