// The meaning of the numbers in a file of labels.
#pragma once

#include <cstdint>
#include <filesystem>

namespace epsflow::io {

enum class LabelNumbers : std::uint8_t {
  label,  ///< clusters from 0, and −1 for noise
  /// Groups from 1, as other programs number friends of friends. A point without a group has 0 (nbodykit) or 2147483647
  /// (SWIFT).
  group,
};

/// Marks LabelNumbers::group in the metadata of a file (FITS, HDF5, Parquet).
inline constexpr const char* kGroupMark = "epsflow: groups from 1";

/// Returns true if the numbers in a file of labels are marked as groups: if kGroupMark stands in its first or last
/// 64 KiB, or if it begins as marked_npy() writes it. Returns false for an unreadable file, and for CSV, which has no
/// metadata: its writer marks groups by -0 in place of 0, which readers of numbers take as 0. O(1).
[[nodiscard]] bool is_marked_as_groups(const std::filesystem::path& file);

}  // namespace epsflow::io
