#include <epsflow/stages/group_by_eps.hpp>

#include <algorithm>
#include <functional>
#include <map>

namespace epsflow::stages {

std::vector<EpsGroup> group_by_eps(const Sweep& sweep, const Metric& metric) {
  std::map<double, std::vector<std::uint32_t>, std::greater<>> by_eps;
  for (const Variant& v : sweep.variants()) by_eps[v.eps].push_back(v.minpts);
  std::vector<EpsGroup> groups;
  for (auto& [eps, minpts] : by_eps) {
    std::sort(minpts.begin(), minpts.end(), std::greater<>());
    groups.push_back({eps, std::move(minpts), transformed_radius(metric, eps)});
  }
  return groups;
}

std::size_t most_levels(std::span<const EpsGroup> groups) noexcept {
  std::size_t most = 1;
  for (const EpsGroup& group : groups) most = std::max(most, group.minpts.size());
  return most;
}

}  // namespace epsflow::stages
