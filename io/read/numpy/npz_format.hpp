// NPZ among the formats.
#pragma once

#include <epsflow/io/read/format.hpp>

namespace epsflow::io {

[[nodiscard]] const Format& npz_format();

/// What this build has for it.
[[nodiscard]] Reader npz_reader();

}  // namespace epsflow::io
