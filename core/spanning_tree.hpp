// Minimum spanning trees of mutual reachability, the base of HDBSCAN*.
#pragma once

#include <cstdint>

#include <epsflow/core/buffer.hpp>

namespace epsflow {

/// Two points that a spanning tree connects, and the height at which it does.
struct Edge {
  double height;    ///< an eps, or a sum by the rule of core/space.hpp
  std::uint32_t a;  ///< id
  std::uint32_t b;  ///< id
};

/// A minimum spanning tree of all points for one minpts. The height of a pair of points is the largest of their
/// distance and of the heights from which they are core.
struct SpanningTree {
  std::uint32_t minpts = 1;
  Buffer<double> core;  ///< [n] height from which each point is core, by id
  Buffer<Edge> edges;   ///< [n − 1] in ascending order of height
};

}  // namespace epsflow
