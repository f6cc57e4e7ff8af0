// Variants and sweeps: the pairs of eps and minpts to cluster.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace epsflow {

/// One DBSCAN run. eps: neighbourhood radius, inclusive, not squared, in the unit of the metric (eps_unit()), for norms
/// the unit of the coordinates. minpts: a point is core if at least this many points, itself included, are within eps.
/// min_cluster_size: 0 for DBSCAN. Results folders and reports also describe clusters that are selected in the
/// hierarchy of this minpts (trees/condensed_tree.hpp): then it is their smallest size, at least 2, and eps is 0.
struct Variant {
  double eps = 0;
  std::uint32_t minpts = 0;
  std::uint32_t min_cluster_size = 0;

  friend bool operator==(const Variant&, const Variant&) = default;
};

/// Orders by eps, then minpts, then min_cluster_size.
struct VariantOrder {
  bool operator()(const Variant& a, const Variant& b) const noexcept {
    return std::tie(a.eps, a.minpts, a.min_cluster_size) < std::tie(b.eps, b.minpts, b.min_cluster_size);
  }
};

/// A set of variants over one data set, in the order given. A variant given twice counts once.
class Sweep {
 public:
  Sweep() = default;
  /// Throws UsageError for eps <= 0, eps NaN or infinite, minpts < 1. O(variants · log variants).
  explicit Sweep(const std::vector<Variant>& variants);

  [[nodiscard]] const std::vector<Variant>& variants() const noexcept { return variants_; }
  [[nodiscard]] std::size_t size() const noexcept { return variants_.size(); }

 private:
  std::vector<Variant> variants_;
};

/// The most variants that grid() makes: more must be a mistake.
inline constexpr std::size_t kMostVariants = 10'000'000;

/// Returns every eps with every minpts, eps outermost. Throws UsageError as Sweep does, and above kMostVariants.
[[nodiscard]] Sweep grid(const std::vector<double>& eps, const std::vector<std::uint32_t>& minpts);

/// Returns the nearest number of three significant decimal digits, of the same sign; 0, NaN and infinity unchanged. If
/// that number is beyond float64, returns 0.
[[nodiscard]] double three_digits(double value);
/// Returns up to `count` ascending numbers of three significant digits, with nearly equal ratios. The first is not
/// above `from` and the last not below `to`. There are fewer if some would be equal. count >= 2, 0 < from <= to <=
/// 1.79e308.
[[nodiscard]] std::vector<double> round_grid(double from, double to, std::size_t count);

/// Parses a list of values and ranges, separated by commas:
///
///   0.1          one value
///   lo:hi:step   lo, lo + step, and so on up to hi, which is included if a step meets it. If hi < lo, the values go
///                down from lo, and the sign of the step does not matter
///   lo:hi:n:lin  n values from lo to hi, both included, in even steps
///   lo:hi:n:log  n values from lo to hi, both included, in even ratios
///
/// Values of lo:hi:step are the decimal numbers that a person would write: 0.05:0.3:0.05 gives 0.15, not
/// 0.15000000000000002. So are the values of lin if its step is a short decimal number. Repeated values are kept.
///
/// Throws UsageError naming the invalid part
///   if the text has another form,
///   if an eps is not finite, or not greater than 0,
///   if a step is 0 or leads away from hi, or if it is longer than its range, as in 0.1:0.5:10: then a number of values
///   was probably meant,
///   if n is not a whole number, is below 1, or is 1 although lo and hi differ, and
///   if a range has more than a million values.
[[nodiscard]] std::vector<double> parse_eps_list(std::string_view text);

/// Parses the same forms for minpts. Values must be whole numbers from 1 to 4,294,967,295, but the ends of a range need
/// not be whole; `lin` and `log` round values first. Of repeated values the first is kept. what: the name of the
/// numbers in errors. Throws UsageError as parse_eps_list() does for the form and the ranges, and for other values.
[[nodiscard]] std::vector<std::uint32_t> parse_minpts_list(std::string_view text, const char* what = "minpts");

/// Parses `eps:minpts,eps:minpts,…`. Repeated variants are kept. Throws UsageError naming the invalid part.
[[nodiscard]] std::vector<Variant> parse_variants(std::string_view text);

}  // namespace epsflow
