// FITS among the formats.
#pragma once

#include <epsflow/io/read/format.hpp>

namespace epsflow::io {

[[nodiscard]] const Format& fits_format();

/// What this build has for it.
[[nodiscard]] Reader fits_reader();

}  // namespace epsflow::io
