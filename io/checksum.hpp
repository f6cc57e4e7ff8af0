// CRC-32 of bytes, files and points, to detect changes.
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

/// Size and CRC-32 of bytes. For a file of results, they show later whether the file has changed.
struct FileDigest {
  std::uint64_t bytes = 0;
  std::uint32_t crc32 = 0;

  friend bool operator==(const FileDigest&, const FileDigest&) = default;
};

/// CRC-32 as in gzip and PNG. Bytes may be added in pieces.
class Checksum {
 public:
  void add(std::span<const std::byte> bytes) noexcept;
  void add(std::string_view text) noexcept { add(std::as_bytes(std::span(text.data(), text.size()))); }
  /// Adds the bytes that `digest` was made from, without reading them. O(log bytes).
  void add(const FileDigest& digest) noexcept;
  [[nodiscard]] std::uint32_t value() const noexcept { return value_; }

 private:
  std::uint32_t value_ = 0;
};

/// Formats a checksum as eight hexadecimal digits, and parses it; returns nullopt for any other text.
[[nodiscard]] std::string format_checksum(std::uint32_t checksum);
[[nodiscard]] std::optional<std::uint32_t> parse_checksum(std::string_view text);

/// Returns size and CRC-32 of a regular file. Returns nullopt for a file that is missing, not readable or not regular,
/// such as a symbolic link. O(bytes), reads 1 MiB at a time.
[[nodiscard]] std::optional<FileDigest> digest_of(const std::filesystem::path& file);

/// Returns the CRC-32 of the coordinates with their shape and precision, as "crc32:…". It identifies an input. O(n·d).
[[nodiscard]] std::string checksum_of(PointsView points);
/// Returns the same checksum for n points in several pieces. coordinates: the digests of the pieces, in their order.
[[nodiscard]] std::string checksum_of(std::uint64_t n, std::size_t dims, Precision precision,
                                      std::span<const FileDigest> coordinates);
/// Returns the size and CRC-32 of the coordinates alone, without shape and precision.
[[nodiscard]] FileDigest digest_of_coordinates(PointsView points) noexcept;

}  // namespace epsflow::io
