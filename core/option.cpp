#include <epsflow/core/option.hpp>

#include <cmath>

#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>

namespace epsflow {

std::string range_of(std::uint64_t least, std::uint64_t most, std::string_view zero) {
  const std::string meant = least == 0 && !zero.empty() ? " (" + std::string(zero) + ")" : "";
  const bool open = most == std::numeric_limits<std::uint64_t>::max();
  return format_count(least) + meant + (open ? " and more" : " to " + format_count(most)) + " are possible";
}

void check_range(const OptionInfo& option, const OptionValue& value) {
  if (const auto* count = std::get_if<std::uint64_t>(&value); count != nullptr && option.kind == OptionKind::count) {
    if (*count >= option.least && *count <= option.most) return;
    throw UsageError(std::string(option.library) + " is " + std::to_string(*count) + "; " +
                     range_of(option.least, option.most, option.zero));
  }
  if (const auto* factor = std::get_if<double>(&value); factor != nullptr) {
    if (*factor > 0 && std::isfinite(*factor)) return;
    throw UsageError(std::string(option.library) + " is " + format_number(*factor) +
                     "; it must be a finite number > 0");
  }
}

}  // namespace epsflow
