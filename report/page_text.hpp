// The pages without data.
#pragma once

#include <string_view>

namespace epsflow::report {

/// Return the page of a report, and of a window, as HTML that contains kDataMarker once, at the position of the data.
[[nodiscard]] std::string_view page_text() noexcept;
[[nodiscard]] std::string_view window_page_text() noexcept;

inline constexpr std::string_view kDataMarker = "\"the data\"";

}  // namespace epsflow::report
