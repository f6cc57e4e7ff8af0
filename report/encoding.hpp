// Encodes bytes for the HTML page of a report: compresses them, and writes them as text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace epsflow::report {

using Bytes = std::vector<std::uint8_t>;

/// Returns the values with runs compressed. A byte c below 128 is followed by c + 1 literal bytes. Any other c is
/// followed by one byte that is repeated c − 126 times. The result is longer than the values by at most one byte for
/// each 128 values, rounded up. O(values).
[[nodiscard]] Bytes pack(std::span<const std::uint8_t> values);

/// Returns a set of numbers, given in ascending order, as alternating counts: how many numbers from 0 on are absent,
/// how many then are present, and so on. Each count is in groups of seven bits, lowest first; 128 is added to all
/// except the last.
[[nodiscard]] Bytes pack_set(std::span<const std::uint32_t> numbers);

/// Returns the bytes in base64 (RFC 4648, padded).
[[nodiscard]] std::string base64(std::span<const std::uint8_t> bytes);

/// Returns JSON that is safe inside HTML: no text in it, such as a file name, can end its script element.
[[nodiscard]] std::string json_in_html(std::string_view json);

/// Returns a page (report/page_text.hpp) with its data. json: json_in_html().
[[nodiscard]] std::string page_with(std::string_view page, std::string_view json);

}  // namespace epsflow::report
