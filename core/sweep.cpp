#include <epsflow/core/sweep.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <tuple>

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

constexpr const char* kForms = "; write 0.1,0.2 or lo:hi:step or lo:hi:n:lin or lo:hi:n:log";

/// Returns the items of a comma list, without blanks around them. Throws UsageError if one is empty.
std::vector<std::string_view> split_items(std::string_view text, const char* what, const char* remedy = kForms) {
  if (trim(text).empty()) throw UsageError(std::string(what) + ": '' is no list" + remedy);
  std::vector<std::string_view> items = split(text, ',');
  for (std::size_t i = 0; i < items.size(); ++i) {
    items[i] = trim(items[i]);
    if (!items[i].empty()) continue;
    throw UsageError(std::string(what) + ": item " + std::to_string(i + 1) + " of '" + std::string(text) +
                     "' is empty; take its comma away");
  }
  return items;
}

double parse_number(std::string_view text, std::string_view whole, const char* what, const char* remedy = kForms) {
  const std::string_view part = trim(text);
  double value = 0;
  const auto [end, code] = std::from_chars(part.data(), part.data() + part.size(), value);
  const std::string subject = std::string(what) + ": '" + std::string(part) + "' in '" + std::string(whole) + "'";
  if (code == std::errc::result_out_of_range) throw UsageError(subject + " does not fit a float64");
  if (part.empty() || code != std::errc{} || end != part.data() + part.size()) {
    throw UsageError(subject + " is no number" + remedy);
  }
  return value;
}

/// Returns the number of digits after the decimal point if `value` is written without an exponent.
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

/// Returns `value` as the nearest number of `digits` decimals, so that 3 × 0.05 is 0.15.
double round_decimals(double value, int digits) {
  if (digits < 0) return value;
  char text[800];  // a float64 has at most 309 digits before the point, and here fewer than 350 after it
  const auto [end, code] = std::to_chars(text, text + sizeof(text), value, std::chars_format::fixed, digits);
  double rounded = value;
  if (code == std::errc{}) std::from_chars(text, end, rounded);
  return rounded;
}

std::string quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

void require_count(double count, std::string_view item, const char* remedy) {
  if (count <= static_cast<double>(kMostValues)) return;
  throw UsageError(quoted(item) + " has more than a million values; take a " + remedy);
}

/// Returns lo, lo + step, … up to hi, or downwards if hi is less. The sign of step may be either then.
std::vector<double> steps(double lo, double hi, double step, std::string_view item) {
  if (!std::isfinite(lo) || !std::isfinite(hi) || !std::isfinite(step) || step == 0) {
    throw UsageError(quoted(item) + ": lo:hi:step needs finite numbers and a step that is not 0");
  }
  if (step < 0 && hi > lo) {
    throw UsageError(quoted(item) + ": a step below 0 leads away from " + format_number(hi) +
                     "; write hi:lo:step to go downwards");
  }
  const double signed_step = hi < lo ? -std::abs(step) : std::abs(step);
  const double count = std::floor((hi - lo) / signed_step * (1 + 1e-12) + 1e-9) + 1;
  if (count < 2 && hi != lo) {
    throw UsageError(quoted(item) + ": the step is longer than the range, which leaves " + format_number(lo) +
                     " alone; for a number of values write lo:hi:n:lin or lo:hi:n:log");
  }
  require_count(count, item, "larger step");
  const int digits = std::max(decimals(lo), decimals(step));
  std::vector<double> values;
  for (double i = 0; i < count; ++i) values.push_back(round_decimals(lo + i * signed_step, digits));
  return values;
}

/// Returns n values from lo to hi, both included, in even steps. If the step is a short decimal, so are the values.
std::vector<double> linear(double lo, double hi, double n) {
  const double step = n > 1 ? (hi - lo) / (n - 1) : 0;
  const int most_digits = std::max(decimals(lo), decimals(hi)) + 4;
  int digits = 0;
  while (digits <= most_digits && std::abs(round_decimals(step, digits) - step) > 1e-12 * std::abs(step)) ++digits;
  digits = digits > most_digits ? -1 : std::max({digits, decimals(lo), decimals(hi)});
  std::vector<double> values;
  for (double i = 0; i < n; ++i) values.push_back(i > 0 && i + 1 == n ? hi : round_decimals(lo + i * step, digits));
  return values;
}

/// Returns n values from lo to hi, both included, in even ratios.
std::vector<double> logarithmic(double lo, double hi, double n) {
  std::vector<double> values;
  for (double i = 0; i < n; ++i)
    values.push_back(i > 0 && i + 1 == n ? hi : lo * std::pow(hi / lo, n == 1 ? 0 : i / (n - 1)));
  return values;
}

std::vector<double> spaced(double lo, double hi, double n, bool is_logarithmic, std::string_view item) {
  if (!std::isfinite(lo) || !std::isfinite(hi) || !(n >= 1) || n != std::floor(n)) {
    throw UsageError(quoted(item) + ": lo:hi:n:lin and lo:hi:n:log need finite numbers and a whole n >= 1");
  }
  if (is_logarithmic && !(lo > 0 && hi > 0)) throw UsageError(quoted(item) + ": lo:hi:n:log needs lo > 0 and hi > 0");
  if (n == 1 && lo != hi) throw UsageError(quoted(item) + ": one value cannot be both ends; write it alone");
  require_count(n, item, "smaller n");
  return is_logarithmic ? logarithmic(lo, hi, n) : linear(lo, hi, n);
}

/// The values of one item, and whether it gave their number (lin or log).
struct ItemValues {
  std::vector<double> values;
  bool spread = false;
};

ItemValues parse_item(std::string_view item, std::string_view whole, const char* what) {
  const auto parts = split(item, ':');
  const auto number = [&](std::size_t i) { return parse_number(parts[i], whole, what); };
  if (parts.size() == 1) return {{number(0)}};
  if (parts.size() == 3) return {steps(number(0), number(1), number(2), item)};
  if (parts.size() == 4) {
    const std::string_view form = trim(parts[3]);
    if (form == "log" || form == "lin") return {spaced(number(0), number(1), number(2), form == "log", item), true};
  }
  throw UsageError(std::string(what) + ": " + quoted(item) + " is no list" + kForms);
}

void require_valid(const Variant& v) {
  if (!(v.eps > 0) || !std::isfinite(v.eps)) {
    throw UsageError("eps " + format_number(v.eps) + " is not valid; eps must be a finite number > 0");
  }
  if (v.minpts < 1) throw UsageError("minpts 0 is not valid; minpts must be >= 1 (the point itself counts)");
}

std::uint32_t to_minpts(double value, std::string_view whole, const std::string& what = "minpts") {
  constexpr std::uint32_t kMost = std::numeric_limits<std::uint32_t>::max();
  const std::string subject = what + " " + format_number(value) + " in " + quoted(whole);
  if (!(value >= 1) || value != std::floor(value)) {
    throw UsageError(subject + " is not valid; " + what + " must be a whole number >= 1 and <= " + format_count(kMost));
  }
  if (value > kMost) throw UsageError(subject + " is over " + format_count(kMost) + ", the largest possible");
  return static_cast<std::uint32_t>(value);
}

}  // namespace

Sweep::Sweep(const std::vector<Variant>& variants) {
  std::ranges::for_each(variants, require_valid);
  // Sorted by value, and the first of equal ones first. A set would be slow and large for millions of variants.
  std::vector<std::size_t> order(variants.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto key = [&](std::size_t i) { return std::tuple(variants[i].eps, variants[i].minpts, i); };
  std::ranges::sort(order, {}, key);
  std::vector<bool> repeated(variants.size());
  for (std::size_t i = 1; i < order.size(); ++i) repeated[order[i]] = variants[order[i]] == variants[order[i - 1]];
  for (std::size_t i = 0; i < variants.size(); ++i) {
    if (!repeated[i]) variants_.push_back(variants[i]);
  }
}

Sweep grid(const std::vector<double>& eps, const std::vector<std::uint32_t>& minpts) {
  if (!minpts.empty() && eps.size() > kMostVariants / minpts.size()) {
    throw UsageError(format_count(eps.size()) + " eps with " + format_count(minpts.size()) +
                     " minpts each are more than the " + format_count(kMostVariants) +
                     " variants that a sweep may have: take fewer of either");
  }
  std::vector<Variant> variants;
  variants.reserve(eps.size() * minpts.size());
  for (const double e : eps) {
    for (const std::uint32_t m : minpts) variants.push_back({e, m});
  }
  return Sweep(variants);
}

std::vector<double> parse_eps_list(std::string_view text) {
  std::vector<double> values;
  for (const std::string_view item : split_items(text, "eps")) {
    for (const double e : parse_item(item, text, "eps").values) {
      require_valid({e, 1});
      values.push_back(e);
    }
  }
  return values;
}

std::vector<std::uint32_t> parse_minpts_list(std::string_view text, const char* what) {
  std::vector<std::uint32_t> values;
  std::set<std::uint32_t> seen;
  for (const std::string_view item : split_items(text, what)) {
    const ItemValues parsed = parse_item(item, text, what);
    for (const double v : parsed.values) {
      const std::uint32_t m = to_minpts(parsed.spread ? std::round(v) : v, text, what);
      if (seen.insert(m).second) values.push_back(m);
    }
  }
  return values;
}

std::vector<Variant> parse_variants(std::string_view text) {
  constexpr const char* kForm = "; write 0.2:4,0.5:20";
  std::vector<Variant> variants;
  for (const std::string_view item : split_items(text, "variants", kForm)) {
    const auto parts = split(item, ':');
    if (parts.size() != 2) throw UsageError("variants: " + quoted(item) + " is no eps:minpts" + kForm);
    const Variant v{parse_number(parts[0], text, "eps", kForm),
                    to_minpts(parse_number(parts[1], text, "minpts", kForm), text)};
    require_valid(v);
    variants.push_back(v);
  }
  return variants;
}

namespace {

/// The number digits · 10^exponent. nearest_digits() returns 100 to 999 digits; a step up or down may give 99 or 1000.
struct ThreeDigits {
  int digits = 0;
  int exponent = 0;

  /// Returns the float64 of the decimal number.
  [[nodiscard]] double value() const {
    const std::string text = std::to_string(digits) + "e" + std::to_string(exponent);
    double parsed = 0;
    std::from_chars(text.data(), text.data() + text.size(), parsed);
    return parsed;
  }
};

/// Returns the nearest such number to a value above 0.
ThreeDigits nearest_digits(double value) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::scientific, 2).ptr;
  // The text has the form "1.23e-05".
  const int digits = (text[0] - '0') * 100 + (text[2] - '0') * 10 + (text[3] - '0');
  int exponent = 0;
  const char* const sign = text.data() + 5;
  std::from_chars(*sign == '+' ? sign + 1 : sign, end, exponent);
  return {digits, exponent - 2};
}

}  // namespace

double three_digits(double value) {
  if (value == 0 || !std::isfinite(value)) return value;
  return std::copysign(nearest_digits(std::abs(value)).value(), value);
}

std::vector<double> round_grid(double from, double to, std::size_t count) {
  ThreeDigits first = nearest_digits(from), last = nearest_digits(to);
  if (first.value() > from) --first.digits;
  if (last.value() < to) ++last.digits;
  std::vector<double> values{first.value()};
  const double ratio = std::log(to / from) / static_cast<double>(count - 1);
  for (std::size_t i = 1; i < count; ++i) {
    const double value = i + 1 == count ? last.value() : three_digits(from * std::exp(ratio * static_cast<double>(i)));
    if (value > values.back()) values.push_back(value);
  }
  return values;
}

}  // namespace epsflow
