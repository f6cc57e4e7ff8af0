// Clusters two distant pairs of points into two clusters.
#include <cstdint>
#include <vector>

#include <epsflow/pipeline/sweep.hpp>

int main() {
  const std::vector<double> xy{0, 0, 0.1, 0, 5, 5, 5.1, 5};
  const epsflow::PointsView points(xy, 2);
  const auto results = epsflow::run(points, epsflow::grid({0.5}, {2}));
  const std::vector<std::int32_t> expected{0, 0, 1, 1};
  return results.size() == 1 && results[0].summary.clusters == 2 && results[0].labels == expected ? 0 : 1;
}
