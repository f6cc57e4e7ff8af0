// Times as text.
#pragma once

#include <optional>
#include <string_view>

namespace epsflow::io {

/// Returns the seconds since 1970-01-01T00:00:00Z of an ISO 8601 time: a date (2015-03-17), or a date and a time after
/// T or a blank, to the minute, the second or a fraction of it, with Z, an offset (+01:00) or neither, which means UTC.
/// Returns nothing for any other text.
[[nodiscard]] std::optional<double> iso_seconds(std::string_view text) noexcept;

}  // namespace epsflow::io
