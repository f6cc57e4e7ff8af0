// Numbers as people read and write them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace epsflow {

/// Returns the shortest decimal text that reads back as the same float64, as in "0.1".
[[nodiscard]] std::string format_number(double value);

/// Returns the value rounded to at most three significant digits, as in "0.123", "45.6" and "1.23e+08". From 1,000 to
/// 10 million there is no exponent: "1,350".
[[nodiscard]] std::string format_short(double value);

/// Returns 1536 as "1.5 KiB"; less than a KiB as "17 bytes".
[[nodiscard]] std::string format_bytes(std::uint64_t bytes);

/// Returns a required size as "1.5 MiB (1,521,000 bytes)": first rounded up, so that the rounded size suffices, then
/// exact. Returns only the exact size, as "17 bytes", if it is less than a KiB.
[[nodiscard]] std::string format_needed_bytes(std::uint64_t bytes);

/// Parses a size: `512M`, `8GiB`, `1.5 g`, `500MB`, plain bytes. K, M, G, T and KiB, MiB, GiB, TiB are powers of 1024;
/// KB, MB, GB, TB of 1000; in upper or lower case, fractions allowed. Returns nullopt unless the text is a size from 1
/// byte to 2^62 bytes.
[[nodiscard]] std::optional<std::uint64_t> parse_bytes(std::string_view text);

/// Returns 1234567 as "1,234,567".
[[nodiscard]] std::string format_count(std::uint64_t count);

/// Returns the count and its noun, with an s unless it is 1: "1 cluster", "2,000 clusters".
[[nodiscard]] std::string format_count(std::uint64_t count, std::string_view noun);

}  // namespace epsflow
