// Whether any core point of one large cell is a neighbour of any core point of another, without testing all pairs.
#pragma once

#include <cstdint>

#include <epsflow/core/candidate_bundles.hpp>
#include <epsflow/index/row_search.hpp>

namespace epsflow::clustering {

/// Bisects the wider of the two sets and leaves out halves whose bounds, or projections onto the line between them, are
/// farther apart than eps, nearer halves first; so two cells of a million points that are not within eps cost far fewer
/// tests than pairs, and those that are end early. Differences, squares and sums are rounded monotonically, so the
/// distance of bounds as computed never exceeds a pair's. counts: [n], core are those of at least minpts. O(m·log m) for m points
/// that a line between them keeps apart, more the closer curves come to eps; O(m) memory.
[[nodiscard]] bool any_core_within(const index::SearchInput& in, Range a, Range b, const std::uint32_t* counts,
                                   std::uint32_t minpts);

}  // namespace epsflow::clustering
