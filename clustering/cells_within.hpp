// Tests if any core point of one large cell is a neighbour of any core point of another, without testing all pairs.
#pragma once

#include <cstdint>

#include <epsflow/core/candidate_bundles.hpp>
#include <epsflow/index/row_search.hpp>

namespace epsflow::clustering {

/// Returns true if a core point of `a` is a neighbour of a core point of `b`. a, b: positions of the points of two
/// cells. in: points of a plain space (Space::plain()) of at most index::kMostDenseBoxDims dimensions. counts: [n] by
/// position; points with at least minpts are core.
///
/// Halves the wider of the two sets along its longest axis, again and again; the half that is nearer to the other set
/// comes first. Two sets are skipped without a test of their pairs if their bounding boxes are farther apart than eps,
/// or if their projections onto the line between the centres of the boxes are, as no pair can then be within eps.
/// Rounding changes no result: differences, squares and sums are rounded monotonically, so the computed distance of
/// boxes never exceeds the computed distance of a pair, and projections have a margin for their rounding.
///
/// O(m·log m) for m core points if a line or plane separates the cells, more if curved cells come close, less if they
/// are within eps. O(m) memory.
[[nodiscard]] bool any_core_within(const index::SearchInput& in, Range a, Range b, const std::uint32_t* counts,
                                   std::uint32_t minpts);

}  // namespace epsflow::clustering
