// Parquet and Arrow among the formats.
#pragma once

#include <epsflow/io/read/format.hpp>

namespace epsflow::io {

[[nodiscard]] const Format& parquet_format();
[[nodiscard]] const Format& arrow_format();

/// What this build has for them.
[[nodiscard]] Reader parquet_reader();
[[nodiscard]] Reader arrow_reader();

}  // namespace epsflow::io
