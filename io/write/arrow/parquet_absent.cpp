// Replaces the writer of Parquet in a build without Arrow.
#include <epsflow/io/write/output_table.hpp>

namespace epsflow::io {

TableFunctions parquet_tables() { return {}; }

}  // namespace epsflow::io
