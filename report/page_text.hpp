// The page without data.
#pragma once

#include <string_view>

namespace epsflow::report {

/// Returns HTML that contains kDataPlace once, at the position of the data.
[[nodiscard]] std::string_view page_text() noexcept;

inline constexpr std::string_view kDataPlace = "\"the data\"";

}  // namespace epsflow::report
