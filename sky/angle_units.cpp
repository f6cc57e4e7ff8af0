#include <epsflow/sky/angle_units.hpp>

#include <algorithm>
#include <array>
#include <numbers>

namespace epsflow {
namespace {

using std::numbers::pi;

constexpr AngleUnit kDegree{"deg", 1, pi / 180};
constexpr AngleUnit kRadian{"rad", 180 / pi, 1};
constexpr AngleUnit kMinute{"arcmin", 1. / 60, pi / (180 * 60)};
constexpr AngleUnit kSecond{"arcsec", 1. / 3600, pi / (180 * 3600)};
constexpr AngleUnit kMillisecond{"mas", 1 / 3.6e6, pi / (180 * 3.6e6)};
constexpr AngleUnit kMicrosecond{"uas", 1 / 3.6e9, pi / (180 * 3.6e9)};
constexpr AngleUnit kHour{"hourangle", 15, pi / 12, true};

struct Name {
  std::string_view text;  ///< in lower case
  const AngleUnit& unit;
};

constexpr std::array kNames{
    Name{"deg", kDegree},           Name{"degs", kDegree},        Name{"degree", kDegree},
    Name{"degrees", kDegree},       Name{"°", kDegree},           Name{"degree_north", kDegree},
    Name{"degrees_north", kDegree}, Name{"degree_east", kDegree}, Name{"degrees_east", kDegree},
    Name{"rad", kRadian},           Name{"rads", kRadian},        Name{"radian", kRadian},
    Name{"radians", kRadian},       Name{"arcmin", kMinute},      Name{"arcmins", kMinute},
    Name{"arcminute", kMinute},     Name{"arcminutes", kMinute},  Name{"arcsec", kSecond},
    Name{"arcsecs", kSecond},       Name{"arcsecond", kSecond},   Name{"arcseconds", kSecond},
    Name{"hourangle", kHour},       Name{"hourangles", kHour},    Name{"hour angle", kHour},
};

/// Short names, whose case matters: "Mas" would be another unit.
constexpr std::array kExactNames{Name{"mas", kMillisecond}, Name{"marcsec", kMillisecond}, Name{"uas", kMicrosecond},
                                 Name{"uarcsec", kMicrosecond}};

constexpr char lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool is_same_word(std::string_view text, std::string_view word) noexcept {
  return std::ranges::equal(text, word, {}, lower);
}

std::string_view without_blanks(std::string_view text) noexcept {
  const std::size_t first = text.find_first_not_of(" \t");
  return first == std::string_view::npos ? "" : text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::string_view bare(std::string_view text) noexcept {
  text = without_blanks(text);
  const bool is_in_brackets = (text.starts_with('[') && text.ends_with(']')) ||
                              (text.starts_with('(') && text.ends_with(')') && text.find('(', 1) == text.npos);
  return is_in_brackets && text.size() > 1 ? without_blanks(text.substr(1, text.size() - 2)) : text;
}

}  // namespace

const AngleUnit* find_angle_unit(std::string_view text) noexcept {
  text = bare(text);
  for (const Name& name : kNames) {
    if (is_same_word(text, name.text)) return &name.unit;
  }
  for (const Name& name : kExactNames) {
    if (text == name.text) return &name.unit;
  }
  return nullptr;
}

std::string_view name_of_unit(std::string_view text) noexcept {
  const AngleUnit* const unit = find_angle_unit(text);
  return unit != nullptr ? unit->name : bare(text);
}

}  // namespace epsflow
