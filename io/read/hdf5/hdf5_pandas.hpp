// The data frames that pandas' to_hdf writes, in its formats "fixed" and "table".
#pragma once

#include <optional>
#include <string>

#include <epsflow/io/read/hdf5/hdf5_frame.hpp>

namespace epsflow::io {

/// Whether the group holds a data frame.
[[nodiscard]] bool is_pandas_frame(const Hdf5File& file, const std::string& group);

/// The columns of a data frame, in its order and under its names; the index is none of them. Names that are not stored as
/// plain text are made up of those of the data sets: block0_values[0].
[[nodiscard]] Hdf5Frame frame_of_pandas(const Hdf5File& file, const std::string& group);

}  // namespace epsflow::io
