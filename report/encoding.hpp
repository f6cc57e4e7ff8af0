// Bytes as the page has them: runs packed, and as text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace epsflow::report {

using Bytes = std::vector<std::uint8_t>;

/// Runs in short. A byte c below 128 comes before c + 1 bytes as they are; any other before one byte that stands c − 126 times. At most
/// a part in 128 longer than the values. O(values).
[[nodiscard]] Bytes pack(std::span<const std::uint8_t> values);

/// Where the ascending numbers are in 0 … : how many follow that are not there, how many that are, and so on in turns, each number in
/// groups of seven bits, the lowest first, of which all but the last have 128 added.
[[nodiscard]] Bytes pack_places(std::span<const std::uint32_t> places);

/// RFC 4648, padded.
[[nodiscard]] std::string base64(std::span<const std::uint8_t> bytes);

/// Length of base64() of so many bytes.
[[nodiscard]] constexpr std::size_t base64_length(std::size_t bytes) noexcept { return (bytes + 2) / 3 * 4; }

/// JSON as it may stand in HTML: no text of it ends the script that it is in, whatever names files and columns have.
[[nodiscard]] std::string json_in_html(std::string_view json);

}  // namespace epsflow::report
