// CRC-32 of bytes, files and points: tells whether something is still what it was.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <epsflow/core/points.hpp>

namespace epsflow::io {

/// Size and CRC-32 of bytes. Of a file of results: tells later whether the file is still what was written.
struct FileDigest {
  std::uint64_t bytes = 0;
  std::uint32_t crc32 = 0;

  friend bool operator==(const FileDigest&, const FileDigest&) = default;
};

/// CRC-32 as in gzip and PNG, of bytes that come in pieces.
class Checksum {
 public:
  void add(std::span<const std::byte> bytes) noexcept;
  void add(std::string_view text) noexcept { add(std::as_bytes(std::span(text.data(), text.size()))); }
  /// As if those bytes came of which this is the checksum. O(log bytes).
  void add(const FileDigest& digest) noexcept;
  [[nodiscard]] std::uint32_t value() const noexcept { return value_; }

 private:
  std::uint32_t value_ = 0;
};

/// Eight hexadecimal digits, and back; nothing for any other text.
[[nodiscard]] std::string format_checksum(std::uint32_t checksum);
[[nodiscard]] std::optional<std::uint32_t> parse_checksum(std::string_view text);

/// Size and CRC-32 of a regular file. Returns nullopt for a file that is missing, cannot be read or is not regular; a symbolic
/// link is not. O(bytes), reads 1 MiB at a time.
[[nodiscard]] std::optional<FileDigest> digest_of(const std::filesystem::path& file);

/// CRC-32 of the coordinates with their shape and precision, as "crc32:…": tells one input from another. O(n·d).
[[nodiscard]] std::string checksum_of(PointsView points);
/// The same of points that are in several places: n points, and the digests of their coordinates in the order of the points.
[[nodiscard]] std::string checksum_of(std::uint64_t n, std::size_t dims, Precision precision,
                                      std::span<const FileDigest> coordinates);
[[nodiscard]] FileDigest digest_of_coordinates(PointsView points) noexcept;

}  // namespace epsflow::io
