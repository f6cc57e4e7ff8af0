// Tests if any point of one large cell is a neighbour of any point of another, without testing all pairs.
#pragma once

#include <cstdint>
#include <span>

#include <epsflow/core/candidate_bundles.hpp>
#include <epsflow/index/row_search.hpp>

namespace epsflow::clustering {

/// Returns true if a point of `a` is within eps of a point of `b`. coordinates: [dimensions, at most
/// index::kMostDenseBoxDims] an array for each axis. a, b: indices in these arrays; the indices are reordered. False if
/// one of the sets is empty.
///
/// Halves the wider of the two sets along its longest axis, again and again; the half that is nearer to the other set
/// comes first. Two sets are skipped without a test of their pairs if their bounding boxes are farther apart than eps,
/// or if their projections onto the line between the centres of the boxes are, as no pair can then be within eps.
/// Rounding changes no result: differences, squares and sums are rounded monotonically, so the computed distance of
/// boxes never exceeds the computed distance of a pair, and projections have a margin for their rounding.
///
/// O(m·log m) for m points if a line or plane separates the sets, more if curved sets come close, less if they are
/// within eps.
[[nodiscard]] bool any_within(std::span<const double* const> coordinates, double eps_squared,
                              std::span<std::uint32_t> a, std::span<std::uint32_t> b);

/// Returns true if a core point of `a` is a neighbour of a core point of `b`. a, b: positions of the points of two
/// cells. in: points of a plain space (Space::plain()) of at most index::kMostDenseBoxDims dimensions. counts: [n] by
/// position; points with at least minpts are core. As any_within(), with O(m) memory.
[[nodiscard]] bool any_core_within(const index::SearchInput& in, Range a, Range b, const std::uint32_t* counts,
                                   std::uint32_t minpts);

}  // namespace epsflow::clustering
