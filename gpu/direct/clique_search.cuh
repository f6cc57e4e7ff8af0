// Looking for core points near a place.
#pragma once

#include <cstdint>

#include <epsflow/gpu/direct/clique_members.cuh>
#include <epsflow/gpu/direct/clique_view.cuh>

namespace epsflow::gpu {

/// Searches a cell with one thread, which may test `limit` more points: open where they were not enough.
template <class T, unsigned D>
__device__ Verdict search_alone(const CliqueView& view, const Nodes& nodes, const Place<T, D>& place,
                                const Members& members, std::uint32_t& limit) {
  const std::uint32_t end = members.size() <= limit ? members.span.end : members.span.begin + limit;
  bool near = false;
  std::uint32_t q = members.span.begin;
  for (; q < end && !near; ++q) {
    near = members.is_core(nodes, q) && near_enough(place, load_place<T, D>(view.points, q), view.eps_squared);
  }
  limit -= q - members.span.begin;
  if (near) return Verdict::near;
  return end < members.span.end ? Verdict::open : Verdict::apart;
}

}  // namespace epsflow::gpu
