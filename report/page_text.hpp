// The HTML pages of a report and of epsflow watch, without data.
#pragma once

#include <string_view>

namespace epsflow::report {

/// Returns the page of a report. It contains kDataMarker once, at the position of the data.
[[nodiscard]] std::string_view page_text() noexcept;
/// Returns the page of epsflow watch, which shows the points of a sliding window. It contains kDataMarker once, too.
[[nodiscard]] std::string_view window_page_text() noexcept;

inline constexpr std::string_view kDataMarker = "\"the data\"";

}  // namespace epsflow::report
