// What the numbers of a file of labels mean.
#pragma once

#include <cstdint>
#include <filesystem>

namespace epsflow::io {

enum class LabelNumbers : std::uint8_t {
  label,  ///< clusters from 0, and −1 for noise
  group,  ///< groups from 1, and 0 or 2147483647 for points in none, as other programs number friends of friends
};

/// Says in the metadata of a file (FITS, HDF5, Parquet) that its numbers are LabelNumbers::group.
inline constexpr const char* kGroupMark = "epsflow: groups from 1";

/// Whether a file of labels is marked as one of groups: by kGroupMark, or as marked_npy() does. CSV has no metadata:
/// there the 0 of points in no group is written as -0, which is 0 to every reader of numbers. False for a file that
/// cannot be read. O(1).
[[nodiscard]] bool is_marked_as_groups(const std::filesystem::path& file);

}  // namespace epsflow::io
