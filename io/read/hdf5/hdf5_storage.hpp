// Where a data set of an HDF5 file keeps its values, read from the file's own bytes. The library says so only of an open
// data set, and to open a damaged one that is virtual may crash it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

namespace epsflow::io {

struct Hdf5Storage {
  bool is_virtual = false;                                ///< in other data sets
  bool is_external = false;                               ///< in other files
  std::optional<std::uint64_t> chunk_element_bytes = {};  ///< what the chunks were made for; none without chunks
};

/// How the file writes sizes.
struct Hdf5Sizes {
  std::uint64_t base = 0;  ///< where addresses count from
  std::size_t address_bytes = 8;
  std::size_t length_bytes = 8;
};

/// Fills a span with the file's bytes from an offset on; false where the file is shorter.
using ReadAt = std::function<bool(std::uint64_t, std::span<unsigned char>)>;

/// The storage of the object whose header is at `address`. What is damaged beyond reading is left to the library, which
/// refuses it. Source: HDF5 File Format Specification 3.0, IV.A.
[[nodiscard]] Hdf5Storage find_hdf5_storage(const ReadAt& read_at, const Hdf5Sizes& sizes, std::uint64_t address);

}  // namespace epsflow::io
