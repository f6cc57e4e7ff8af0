// The page without its data.
#pragma once

#include <string_view>

namespace epsflow::report {

/// HTML, with kDataPlace once where the data go.
[[nodiscard]] std::string_view page_text() noexcept;

inline constexpr std::string_view kDataPlace = "\"the data\"";

}  // namespace epsflow::report
