// HDF5 among the formats.
#pragma once

#include <epsflow/io/read/format.hpp>

namespace epsflow::io {

[[nodiscard]] const Format& hdf5_format();

/// What this build has for it.
[[nodiscard]] Reader hdf5_reader();

}  // namespace epsflow::io
