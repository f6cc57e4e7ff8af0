// Finds where a data set of an HDF5 file stores its values, from the bytes of the file. The library reports this only
// for an open data set, and may crash when it opens a damaged virtual one.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

namespace epsflow::io {

struct Hdf5Storage {
  bool is_virtual = false;                                ///< true if the values are in other data sets
  bool is_external = false;                               ///< true if the values are in other files
  std::optional<std::uint64_t> chunk_element_bytes = {};  ///< bytes of an element in the chunks; none without chunks
};

/// The sizes of addresses and lengths in the file.
struct Hdf5Sizes {
  std::uint64_t base = 0;  ///< offset from which addresses count
  std::size_t address_bytes = 8;
  std::size_t length_bytes = 8;
};

/// Fills a span with the file's bytes from an offset on; returns false if the file is shorter.
using ReadAt = std::function<bool(std::uint64_t, std::span<unsigned char>)>;

/// Returns the storage of the object whose header is at `address`. Damage is not reported here; the library refuses
/// such a file. Source: HDF5 File Format Specification 3.0, IV.A.
[[nodiscard]] Hdf5Storage find_hdf5_storage(const ReadAt& read_at, const Hdf5Sizes& sizes, std::uint64_t address);

}  // namespace epsflow::io
