// Vectors of results that several processes write, each its share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include <epsflow/io/checksum.hpp>

namespace epsflow::io {

/// A vector of NPY that several processes write, each its share.
struct SharedVector {
  std::string name;  ///< among the results
  std::filesystem::path file;
  std::filesystem::path target;  ///< that errors name
  std::string type;              ///< as NPY names it: "<i4"
  std::uint64_t n = 0;           ///< values of all
};

enum class Durable : std::uint8_t { now, later };
/// Writes values from `first` on, and before the first one the header; they are on the disk then, or after make_durable() on the same
/// machine. Whoever comes first makes the file. Returns what a checksum of all takes of the values. Throws ResourceError.
[[nodiscard]] FileDigest write_share(const SharedVector& vector, std::uint64_t first, std::span<const std::byte> values,
                                     Durable durable = Durable::later);
/// Of the whole file, from what was written to it, in the order of the values.
[[nodiscard]] FileDigest digest_of_shares(const SharedVector& vector, std::span<const FileDigest> shares);

}  // namespace epsflow::io
