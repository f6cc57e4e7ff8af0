// Searches for core points near a point.
#pragma once

#include <cstdint>

#include <epsflow/gpu/direct/dense_box_members.cuh>
#include <epsflow/gpu/direct/dense_box_view.cuh>

namespace epsflow::gpu {

/// Searches a cell for a core point within eps of `point`, with one thread, which may test `limit` more points. Lowers
/// `limit` by the points tested. Returns Verdict::open if these were not enough.
template <class T, unsigned D>
__device__ Verdict search_alone(const DenseBoxView& view, const Nodes& nodes, const Coordinates<T, D>& point,
                                const Members& members, std::uint32_t& limit) {
  const std::uint32_t end = members.size() <= limit ? members.span.end : members.span.begin + limit;
  bool near = false;
  std::uint32_t q = members.span.begin;
  for (; q < end && !near; ++q) {
    near = members.is_core(nodes, q) && near_enough(point, load_coordinates<T, D>(view.points, q), view.eps_squared);
  }
  limit -= q - members.span.begin;
  if (near) return Verdict::near;
  return end < members.span.end ? Verdict::open : Verdict::apart;
}

/// Calls f(other) for the cells that may hold neighbours of `point`, among them its own, `cell`, until f returns false.
template <class T, unsigned D, class F>
__device__ void for_cells_near(const DenseBoxView& view, const Coordinates<T, D>& point, std::uint32_t cell, F f) {
  const CellReach<D> reach(view, point);
  const std::uint64_t key = key_of(view, cell);
  for (unsigned r = 0; r < view.row_count; ++r) {
    const DenseBoxRow& row = view.rows[r];
    const unsigned wanted = reach.cells(reach.rest(row.steps));
    if (wanted == 0) continue;
    const RowCells cells = row_cells(view, key + static_cast<std::uint64_t>(row.offset));
    for (unsigned found = cells.mask & wanted; found != 0; found &= found - 1) {
      if (!f(cells.at(static_cast<unsigned>(__ffs(static_cast<int>(found))) - 1))) return;
    }
  }
}

}  // namespace epsflow::gpu
