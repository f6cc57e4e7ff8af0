// Friends of friends: groups of points that are linked to each other, as a clustering with minpts 2 finds them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <epsflow/core/choices.hpp>
#include <epsflow/core/labels.hpp>
#include <epsflow/core/metric.hpp>

namespace epsflow {

/// The mean distance of n points that fill the periodic box of the metric: (volume / n)^(1/d), in the unit of the box. A linking length of b
/// times this is the custom of cosmology, with b = 0.2. Throws UsageError where a side of the box is open or there is none, and for n = 0.
[[nodiscard]] double mean_separation(const Metric& metric, std::size_t dims, std::uint64_t n);

/// By what groups are numbered.
enum class GroupOrder : std::uint8_t {
  size,   ///< the largest first; of equal ones the one with the smallest point
  first,  ///< by their smallest point
};
template <>
struct Choice<GroupOrder> {
  static constexpr std::string_view kType = "GroupOrder";
  static constexpr std::array kWords{Word{"size", GroupOrder::size}, Word{"first", GroupOrder::first}};
};

/// What others call groups.
enum class GroupDialect : std::uint8_t {
  epsflow,   ///< 0, 1, …; −1 for points in no group
  swift,     ///< 1, 2, …; 2147483647
  nbodykit,  ///< 1, 2, …; 0
};
template <>
struct Choice<GroupDialect> {
  static constexpr std::string_view kType = "GroupDialect";
  static constexpr std::array kWords{Word{"epsflow", GroupDialect::epsflow}, Word{"swift", GroupDialect::swift},
                                     Word{"nbodykit", GroupDialect::nbodykit}};
};

/// Which minpts finds groups of `least` points and more: 2, or 1 where single points are groups.
[[nodiscard]] constexpr std::uint32_t linking_minpts(std::uint64_t least) noexcept { return least < 2 ? 1 : 2; }

/// Makes groups of the clusters of a result with linking_minpts(): dissolves those of fewer than `least` points, and numbers the others from 0.
/// Labels, mask, where there is one, and summary become those of the groups: every point of a group is core. O(n).
void settle_groups(VariantResult& result, std::uint64_t least, GroupOrder order);

/// Labels of groups, −1 and 0 … count − 1, in the numbers of a dialect. O(n).
void translate_groups(std::span<std::int32_t> labels, GroupDialect dialect) noexcept;

}  // namespace epsflow
