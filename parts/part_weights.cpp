#include <epsflow/parts/part_weights.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>

namespace epsflow::parts {
namespace {

/// Returns the first weight of all ranks for which odd(weight) is true. weights: of this rank. Collective.
template <class F>
std::optional<NamedWeight> first_weight(Communicator& communicator, std::span<const double> weights, F&& odd) {
  const auto found = std::find_if(weights.begin(), weights.end(), odd);
  const std::uint64_t before = communicator.exclusive_scan(weights.size());
  constexpr double kNoPoint = std::numeric_limits<double>::infinity();
  // A double holds every number of points exactly.
  const double mine =
      found == weights.end() ? kNoPoint : static_cast<double>(before) + static_cast<double>(found - weights.begin());
  double least[] = {mine};
  communicator.min(std::span(least));
  if (least[0] == kNoPoint) return std::nullopt;
  const std::uint64_t bits = communicator.sum(mine == least[0] ? std::bit_cast<std::uint64_t>(*found) : 0);
  return NamedWeight{static_cast<std::uint64_t>(least[0]), std::bit_cast<double>(bits)};
}

}  // namespace

std::optional<RankWeights> scale_weights(Communicator& communicator, std::span<const double> weights,
                                         std::size_t points) {
  std::uint64_t counts[] = {points, weights.size(), points == weights.size() ? std::uint64_t{0} : 1};
  communicator.sum(std::span(counts));
  if (counts[1] == 0) return std::nullopt;
  if (counts[2] != 0) {
    throw UsageError("the ranks have " + format_count(counts[0], "point") + " and " +
                     format_count(counts[1], "weight") + ": give one for each on every rank, or none");
  }
  const auto first = [&](auto odd) { return first_weight(communicator, weights, odd); };
  if (const auto odd = first([](double w) { return !std::isfinite(w); })) throw_not_finite(*odd);
  double most[] = {0, 0};  // the largest magnitude, and 1 if a weight is negative
  for (const double w : weights) most[0] = std::max(most[0], std::abs(w));
  most[1] = std::any_of(weights.begin(), weights.end(), [](double w) { return w < 0; }) ? 1 : 0;
  communicator.max(std::span(most));
  RankWeights found{WeightScale(most[0], most[1] != 0), Buffer<std::int64_t>(weights.size())};
  if (const auto lost = first([&](double w) { return found.scale.loses(w); })) {
    throw_lost(*lost, *first([&](double w) { return std::abs(w) == most[0]; }));
  }
  std::transform(weights.begin(), weights.end(), found.units.begin(),
                 [&](double w) { return found.scale.units_of(w); });
  return found;
}

}  // namespace epsflow::parts
