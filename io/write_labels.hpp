// Writing the labels of one variant, or points, in the format that the file's name asks for.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include <epsflow/core/labels.hpp>
#include <epsflow/core/points.hpp>

namespace epsflow::io {

/// .npy (int32), .csv (a column `label`), .fits (a binary table with an int32 column LABEL), .h5 .hdf5 (a data set
/// `labels` with the variant and its counts as attributes). Atomic. Throws UsageError for another name, ResourceError
/// when it cannot be written.
void write_labels(const std::filesystem::path& file, const VariantResult& result);

/// .npy or .csv (with a header line where `names` are given). Atomic. Errors as write_labels().
void write_points(const std::filesystem::path& file, PointsView points, const std::vector<std::string>& names);

}  // namespace epsflow::io
