// Raw files: nothing but coordinates, little-endian, row-major.
#pragma once

#include <span>

#include <epsflow/core/points.hpp>
#include <epsflow/io/source.hpp>

namespace epsflow::io {

/// Reads bytes as points of source.options.raw.dims coordinates in source.options.raw.precision. Columns are chosen by
/// number. Throws UsageError without dims, InputError when the bytes are no whole number of points.
[[nodiscard]] Points read_raw(std::span<const char> bytes, const Source& source);

}  // namespace epsflow::io
