// Labelled coordinates in HDF5.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include <epsflow/io/write/labelled_rows.hpp>

namespace epsflow::io {

/// Throws UsageError for more columns, or longer names, than a table of HDF5 can have.
void require_hdf5_names(std::span<const std::string> names);

/// Writes a data set `labelled` of compound elements, one for each point: its row (int64) where points are renumbered, its
/// coordinates under `names`, label (int32) and core (uint8); with the variant and its counts as attributes. O(n·d);
/// memory: some MiB. Throws ResourceError naming `target`.
void write_hdf5_coordinates(const std::filesystem::path& file, const std::filesystem::path& target,
                            std::span<const std::string> names, const LabelledRows& rows);

}  // namespace epsflow::io
