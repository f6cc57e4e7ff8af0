// Friends of friends: groups of linked points, which are the clusters of a clustering with minpts 2.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <epsflow/core/choices.hpp>
#include <epsflow/core/labels.hpp>
#include <epsflow/core/metric.hpp>

namespace epsflow {

/// Returns the mean distance of n points that fill the periodic box of the metric: (volume / n)^(1/dims). The sides are
/// first multiplied by Metric::scale, so it is in the unit of eps. In cosmology the linking length is usually 0.2 times
/// this. Throws UsageError if n = 0, or if the metric does not have a box of `dims` closed sides.
[[nodiscard]] double mean_separation(const Metric& metric, std::size_t dims, std::uint64_t n);

/// The order in which groups are numbered.
enum class GroupOrder : std::uint8_t {
  size,   ///< the largest first; of equally large groups, the one that contains the smallest point id first
  first,  ///< by the smallest point id
};
template <>
struct Choice<GroupOrder> {
  static constexpr std::string_view kType = "GroupOrder";
  static constexpr std::array kWords{Word{"size", GroupOrder::size}, Word{"first", GroupOrder::first}};
};

/// The labels that programs use for groups, and for points in no group.
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

/// Returns the minpts that finds groups of at least `least` points: 2, or 1 if `least` is below 2, so that single
/// points are groups.
[[nodiscard]] constexpr std::uint32_t linking_minpts(std::uint64_t least) noexcept { return least < 2 ? 1 : 2; }

/// Turns clusters into groups: makes clusters of fewer than `least` points noise, and numbers the others from 0.
/// result: of a run with minpts = linking_minpts(least), without weights and slices, with labels on the host. Updates
/// labels and summary, and the core mask if there is one; all points of groups are core. Does not change
/// result.clusters. O(n).
void resolve_groups(VariantResult& result, std::uint64_t least, GroupOrder order);

/// Translates the labels of groups, −1 and 0 … count − 1, to the numbers of a dialect. O(n).
void translate_groups(std::span<std::int32_t> labels, GroupDialect dialect) noexcept;

}  // namespace epsflow
