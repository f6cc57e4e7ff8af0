// Tests if any core point of one large cell is a neighbour of any core point of another, without testing all pairs.
#pragma once

#include <cstdint>

#include <epsflow/core/candidate_bundles.hpp>
#include <epsflow/index/row_search.hpp>

namespace epsflow::clustering {

/// Bisects the wider of the two sets and skips halves with bounds, or projections onto the line between them, farther
/// apart than eps; nearer halves come first. So two cells of a million points that are not within eps cost far fewer
/// tests than pairs, and cells that are within eps end early. Differences, squares and sums are rounded monotonically,
/// so the computed distance of bounds never exceeds the computed distance of a pair. counts: [n], points with at least
/// minpts are core. O(m·log m) for m points if a line separates the cells, more if curved cells come close. O(m)
/// memory.
[[nodiscard]] bool any_core_within(const index::SearchInput& in, Range a, Range b, const std::uint32_t* counts,
                                   std::uint32_t minpts);

}  // namespace epsflow::clustering
