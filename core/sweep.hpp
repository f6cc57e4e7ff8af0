// Variants and sweeps: which (eps, minpts) are to be clustered.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace epsflow {

/// One DBSCAN run. eps: neighbourhood radius in the unit of the coordinates, inclusive, not squared. minpts: points
/// within eps that make a core point, the point itself counted.
struct Variant {
  double eps = 0;
  std::uint32_t minpts = 0;

  friend bool operator==(const Variant&, const Variant&) = default;
};

/// A set of variants over one data set, in the order in which they were asked for. A variant given twice counts once.
class Sweep {
 public:
  Sweep() = default;
  /// Throws UsageError for eps <= 0, eps NaN or infinite, minpts < 1. O(variants · log).
  explicit Sweep(const std::vector<Variant>& variants);

  [[nodiscard]] const std::vector<Variant>& variants() const noexcept { return variants_; }
  [[nodiscard]] std::size_t size() const noexcept { return variants_.size(); }

 private:
  std::vector<Variant> variants_;
};

/// Most variants that grid() makes: more is a slip of the pen.
inline constexpr std::size_t kMostVariants = 10'000'000;

/// Every eps with every minpts, eps outermost. Throws UsageError as Sweep does, and for more than kMostVariants.
[[nodiscard]] Sweep grid(const std::vector<double>& eps, const std::vector<std::uint32_t>& minpts);

/// The nearest number of three significant decimal digits, of the same sign. 0, NaN and infinity stay what they are.
[[nodiscard]] double three_digits(double value);
/// Eps to offer: up to `count` numbers of three significant digits from `from` to `to`, in ratios as even as that allows. The first is not
/// above `from` and the last not below `to`. Fewer than `count` if some round to the same. count: at least 2. 0 < from <= to, finite.
[[nodiscard]] std::vector<double> round_grid(double from, double to, std::size_t count);

/// Parses a list of values and ranges, separated by commas:
///
///   0.1          one value
///   lo:hi:step   lo, lo + step, and so on up to hi, which is included if a step meets it. Downwards where hi < lo; the step may
///                then be negative
///   lo:hi:n:lin  n values from lo to hi, both included, in even steps
///   lo:hi:n:log  n values from lo to hi, both included, in even ratios
///
/// Values of lo:hi:step are the decimal numbers that a person would write: 0.05:0.3:0.05 gives 0.15, not 0.15000000000000002. So
/// are those of lin where its step is a short decimal number. Throws UsageError naming the part that is wrong: also for a step
/// that is longer than its range, as it may be meant as a number of values, and for a range of more than a million values.
[[nodiscard]] std::vector<double> parse_eps_list(std::string_view text);

/// The same forms with whole numbers from 1 to 4,294,967,295; those of `lin` and `log` are rounded. Repeated ones count
/// once.
[[nodiscard]] std::vector<std::uint32_t> parse_minpts_list(std::string_view text);

/// `eps:minpts,eps:minpts,…`. Throws UsageError naming the part that is wrong.
[[nodiscard]] std::vector<Variant> parse_variants(std::string_view text);

}  // namespace epsflow
