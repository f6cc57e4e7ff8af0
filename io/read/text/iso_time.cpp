#include <epsflow/io/read/text/iso_time.hpp>

#include <charconv>
#include <chrono>

namespace epsflow::io {
namespace {

/// Removes parsed parts from the front of a text.
class IsoScanner {
 public:
  explicit IsoScanner(std::string_view text) noexcept : text_(text) {}

  [[nodiscard]] bool done() const noexcept { return text_.empty(); }
  [[nodiscard]] char front() const noexcept { return text_.empty() ? '\0' : text_.front(); }

  bool take(char c) noexcept {
    if (front() != c) return false;
    text_.remove_prefix(1);
    return true;
  }

  /// Takes a number of exactly `digits` digits, at most `most`.
  bool take(std::size_t digits, int most, int& number) noexcept {
    if (text_.size() < digits) return false;
    for (std::size_t i = 0; i < digits; ++i) {
      if (text_[i] < '0' || text_[i] > '9') return false;
    }
    std::from_chars(text_.data(), text_.data() + digits, number);
    text_.remove_prefix(digits);
    return number <= most;
  }

  /// Takes the digits after a decimal point.
  bool take_fraction(double& fraction) noexcept {
    const std::size_t end = text_.find_first_not_of("0123456789");
    const std::string_view digits = text_.substr(0, end);
    if (digits.empty()) return false;
    double unit = 1;
    for (const char c : digits) fraction += (unit /= 10) * (c - '0');
    text_.remove_prefix(digits.size());
    return true;
  }

 private:
  std::string_view text_;
};

}  // namespace

std::optional<double> iso_seconds(std::string_view text) noexcept {
  IsoScanner scan(text);
  int year = 0, month = 0, day = 0;
  if (!scan.take(4, 9999, year) || !scan.take('-') || !scan.take(2, 12, month) || !scan.take('-') ||
      !scan.take(2, 31, day)) {
    return std::nullopt;
  }
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!date.ok()) return std::nullopt;
  const double midnight = 86400.0 * static_cast<double>(std::chrono::sys_days(date).time_since_epoch().count());
  if (scan.done()) return midnight;
  int hour = 0, minute = 0, second = 0;
  double fraction = 0;
  if ((!scan.take('T') && !scan.take(' ')) || !scan.take(2, 24, hour) || !scan.take(':') || !scan.take(2, 59, minute)) {
    return std::nullopt;
  }
  if (scan.take(':')) {
    if (!scan.take(2, 60, second)) return std::nullopt;
    if ((scan.take('.') || scan.take(',')) && !scan.take_fraction(fraction)) return std::nullopt;
  }
  int offset = 0;
  if (!scan.take('Z') && !scan.done()) {
    const bool west = scan.front() == '-';
    int hours = 0, minutes = 0;
    if ((!scan.take('+') && !scan.take('-')) || !scan.take(2, 23, hours)) return std::nullopt;
    scan.take(':');
    if (!scan.done() && !scan.take(2, 59, minutes)) return std::nullopt;
    offset = (west ? -60 : 60) * (60 * hours + minutes);
  }
  if (!scan.done()) return std::nullopt;
  if (hour == 24 && (minute > 0 || second > 0 || fraction > 0)) return std::nullopt;
  return midnight + 3600.0 * hour + 60.0 * minute + second + fraction - offset;
}

}  // namespace epsflow::io
