#include <epsflow/report/encoding.hpp>

#include <algorithm>
#include <string_view>

#include <epsflow/report/page_text.hpp>

namespace epsflow::report {
namespace {

constexpr std::size_t kLongestRun = 129;
constexpr std::size_t kMostLiterals = 128;

std::size_t run_at(std::span<const std::uint8_t> values, std::size_t begin) {
  const std::size_t end = std::min(values.size(), begin + kLongestRun);
  std::size_t i = begin + 1;
  while (i < end && values[i] == values[begin]) ++i;
  return i - begin;
}

void add_number(Bytes& to, std::uint64_t number) {
  for (; number >= 128; number >>= 7) to.push_back(static_cast<std::uint8_t>(number | 128));
  to.push_back(static_cast<std::uint8_t>(number));
}

}  // namespace

Bytes pack(std::span<const std::uint8_t> values) {
  Bytes packed;
  for (std::size_t i = 0; i < values.size();) {
    const std::size_t run = run_at(values, i);
    if (run >= 2) {
      packed.push_back(static_cast<std::uint8_t>(run + 126));
      packed.push_back(values[i]);
      i += run;
      continue;
    }
    // Literals end at a run of three. A run of two between literals saves nothing.
    std::size_t end = i + 1;
    while (end < values.size() && end - i < kMostLiterals && run_at(values, end) < 3) ++end;
    packed.push_back(static_cast<std::uint8_t>(end - i - 1));
    packed.insert(packed.end(), values.begin() + static_cast<std::ptrdiff_t>(i),
                  values.begin() + static_cast<std::ptrdiff_t>(end));
    i = end;
  }
  return packed;
}

Bytes pack_set(std::span<const std::uint32_t> numbers) {
  Bytes packed;
  std::uint64_t next = 0;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t end = i + 1;
    while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) ++end;
    add_number(packed, numbers[i] - next);
    add_number(packed, end - i);
    next = std::uint64_t{numbers[end - 1]} + 1;
    i = end;
  }
  return packed;
}

std::string base64(std::span<const std::uint8_t> bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t bits = 0;
    for (std::size_t k = 0; k < 3; ++k) bits = bits << 8 | (k < count ? bytes[i + k] : 0U);
    for (std::size_t k = 0; k < 4; ++k) text += k <= count ? kDigits[bits >> (18 - 6 * k) & 63U] : '=';
  }
  return text;
}

std::string json_in_html(std::string_view json) {
  // In JSON, "<" occurs only inside strings.
  std::string text;
  text.reserve(json.size());
  for (const char c : json) {
    if (c == '<') {
      text += "\\u003c";
    } else {
      text += c;
    }
  }
  return text;
}

std::string page_with(std::string_view page, std::string_view json) {
  const std::size_t begin = page.find(kDataMarker);
  std::string text(page.substr(0, begin));
  text += json;
  text += page.substr(begin + kDataMarker.size());
  return text;
}

}  // namespace epsflow::report
