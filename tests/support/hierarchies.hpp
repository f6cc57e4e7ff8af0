// Makes hierarchies of points.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <epsflow/core/points.hpp>
#include <epsflow/trees/boruvka.hpp>
#include <epsflow/trees/hierarchy.hpp>

namespace epsflow::test {

/// Returns the hierarchy of the squared distances.
inline Hierarchy hierarchy_of(PointsView points, std::uint32_t minpts) {
  std::vector<Hierarchy> found;
  trees::spanning_trees(points, {}, std::span(&minpts, 1), {},
                        [&](SpanningTree&& tree) { found.emplace_back(std::move(tree)); });
  return std::move(found[0]);
}

}  // namespace epsflow::test
