#include <epsflow/core/sweep.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>

namespace epsflow {
namespace {

constexpr std::size_t kMostValues = 1'000'000;

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

template <class T>
T parse_number(std::string_view text, std::string_view whole, const char* what) {
  const std::string_view part = trim(text);
  T value{};
  const auto [end, code] = std::from_chars(part.data(), part.data() + part.size(), value);
  if (part.empty() || code != std::errc{} || end != part.data() + part.size()) {
    throw UsageError(std::string(what) + ": '" + std::string(part) + "' in '" + std::string(whole) +
                     "' is no number; write 0.1,0.2 or lo:hi:step or lo:hi:n:log");
  }
  return value;
}

/// Digits behind the decimal point when `value` is written out without an exponent.
int decimals(double value) {
  const std::string text = format_number(value);
  const std::size_t e = std::min(text.find('e'), text.size());
  const std::size_t dot = std::min(text.find('.'), e);
  const int digits = dot == e ? 0 : static_cast<int>(e - dot - 1);
  int exponent = 0;
  if (e < text.size())
    std::from_chars(text.data() + e + (text[e + 1] == '+' ? 2 : 1), text.data() + text.size(), exponent);
  return std::max(0, digits - exponent);
}

/// `value` as the nearest number of `digits` decimals, so that 3 × 0.05 is 0.15.
double round_decimals(double value, int digits) {
  if (digits < 0) return value;
  char text[800];  // a float64 has at most 309 digits before the point, and here fewer than 350 behind it
  const auto [end, code] = std::to_chars(text, text + sizeof(text), value, std::chars_format::fixed, digits);
  double rounded = value;
  if (code == std::errc{}) std::from_chars(text, end, rounded);
  return rounded;
}

void append_steps(std::vector<double>& values, double lo, double hi, double step, std::string_view whole) {
  if (!(step > 0) || !(hi >= lo) || !std::isfinite(hi)) {
    throw UsageError("'" + std::string(whole) + "': lo:hi:step needs lo <= hi and step > 0");
  }
  const double count = std::floor((hi - lo) / step * (1 + 1e-12) + 1e-9) + 1;
  if (count > static_cast<double>(kMostValues)) {
    throw UsageError("'" + std::string(whole) + "' has more than a million values; take a larger step");
  }
  const int digits = std::max(decimals(lo), decimals(step));
  for (double i = 0; i < count; ++i) values.push_back(round_decimals(lo + i * step, digits));
}

void append_logarithmic(std::vector<double>& values, double lo, double hi, double n, std::string_view whole) {
  if (!(lo > 0) || !(hi >= lo) || !std::isfinite(hi) || n < 1 || n != std::floor(n)) {
    throw UsageError("'" + std::string(whole) + "': lo:hi:n:log needs 0 < lo <= hi and a whole n >= 1");
  }
  if (n > static_cast<double>(kMostValues)) {
    throw UsageError("'" + std::string(whole) + "' has more than a million values; take a smaller n");
  }
  for (double i = 0; i < n; ++i) {
    const bool last = i + 1 == n && n > 1;
    values.push_back(last ? hi : lo * std::pow(hi / lo, n == 1 ? 0 : i / (n - 1)));
  }
}

std::vector<double> parse_list(std::string_view text, const char* what) {
  std::vector<double> values;
  for (const std::string_view item : split(text, ',')) {
    const auto parts = split(item, ':');
    const auto number = [&](std::size_t i) { return parse_number<double>(parts[i], text, what); };
    if (parts.size() == 1) {
      values.push_back(number(0));
    } else if (parts.size() == 3) {
      append_steps(values, number(0), number(1), number(2), item);
    } else if (parts.size() == 4 && trim(parts[3]) == "log") {
      append_logarithmic(values, number(0), number(1), number(2), item);
    } else {
      throw UsageError(std::string(what) + ": '" + std::string(item) +
                       "' is no list; write 0.1,0.2 or lo:hi:step or lo:hi:n:log");
    }
  }
  return values;
}

void require_valid(const Variant& v) {
  if (!(v.eps > 0) || !std::isfinite(v.eps)) {
    throw UsageError("eps " + format_number(v.eps) + " is not valid; eps must be a finite number > 0");
  }
  if (v.minpts < 1) throw UsageError("minpts 0 is not valid; minpts must be >= 1 (the point itself counts)");
}

std::uint32_t to_minpts(double value, std::string_view whole) {
  if (!(value >= 1) || value > std::numeric_limits<std::uint32_t>::max() || value != std::floor(value)) {
    throw UsageError("minpts " + format_number(value) + " in '" + std::string(whole) +
                     "' is not valid; minpts must be a whole number >= 1");
  }
  return static_cast<std::uint32_t>(value);
}

}  // namespace

Sweep::Sweep(const std::vector<Variant>& variants) {
  std::set<std::pair<double, std::uint32_t>> seen;
  for (const Variant& v : variants) {
    require_valid(v);
    if (seen.emplace(v.eps, v.minpts).second) variants_.push_back(v);
  }
}

Sweep grid(const std::vector<double>& eps, const std::vector<std::uint32_t>& minpts) {
  std::vector<Variant> variants;
  variants.reserve(eps.size() * minpts.size());
  for (const double e : eps) {
    for (const std::uint32_t m : minpts) variants.push_back({e, m});
  }
  return Sweep(variants);
}

std::vector<double> parse_eps_list(std::string_view text) {
  std::vector<double> values = parse_list(text, "eps");
  for (const double e : values) require_valid({e, 1});
  return values;
}

std::vector<std::uint32_t> parse_minpts_list(std::string_view text) {
  std::vector<std::uint32_t> values;
  std::set<std::uint32_t> seen;
  for (const std::string_view item : split(text, ',')) {
    const bool logarithmic = item.find("log") != std::string_view::npos;
    for (const double v : parse_list(item, "minpts")) {
      const std::uint32_t m = to_minpts(logarithmic ? std::round(v) : v, text);
      if (seen.insert(m).second) values.push_back(m);
    }
  }
  return values;
}

std::vector<Variant> parse_variants(std::string_view text) {
  std::vector<Variant> variants;
  for (const std::string_view item : split(text, ',')) {
    const auto parts = split(item, ':');
    if (parts.size() != 2) {
      throw UsageError("variants: '" + std::string(item) + "' is no eps:minpts; write 0.2:4,0.5:20");
    }
    const Variant v{parse_number<double>(parts[0], text, "eps"),
                    to_minpts(parse_number<double>(parts[1], text, "minpts"), text)};
    require_valid(v);
    variants.push_back(v);
  }
  return variants;
}

}  // namespace epsflow
