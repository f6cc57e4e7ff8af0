// The meaning of the numbers in a file of labels.
#pragma once

#include <cstdint>
#include <filesystem>

namespace epsflow::io {

enum class LabelNumbers : std::uint8_t {
  label,  ///< clusters from 0, and −1 for noise
  group,  ///< groups from 1, and 0 or 2147483647 for points in none, as other programs number friends of friends
};

/// Marks LabelNumbers::group in the metadata of a file (FITS, HDF5, Parquet).
inline constexpr const char* kGroupMark = "epsflow: groups from 1";

/// Returns true if a file of labels is marked as one of groups: by kGroupMark, or as marked_npy() does. CSV has no
/// metadata: there, 0 for a point without a group is written as -0, which readers of numbers
/// take as 0. Returns false for an unreadable file. O(1).
[[nodiscard]] bool is_marked_as_groups(const std::filesystem::path& file);

}  // namespace epsflow::io
