#include <epsflow/report/lifetimes.hpp>

#include <algorithm>
#include <set>

namespace epsflow::report {
namespace {

void keep_largest(std::vector<CellBar>& bars, std::size_t most) {
  const auto before = [](const CellBar& a, const CellBar& b) {
    return a.size > b.size || (a.size == b.size && a.cluster < b.cluster);
  };
  std::ranges::sort(bars, before);
  if (bars.size() > most) bars.resize(most);
}

}  // namespace

std::vector<std::vector<CellBar>> bars_of_cells(const Lineage& lineage, std::size_t most) {
  std::vector<std::vector<CellBar>> of_cells(lineage.cells().size());
  std::set<std::uint32_t> all_minpts;
  for (const LineageCell& cell : lineage.cells()) all_minpts.insert(cell.variant.minpts);
  for (const std::uint32_t minpts : all_minpts) {
    const std::vector<std::size_t> path = lineage.along_eps(minpts);
    for (const Bar& life : lineage.bars(path)) {
      const std::vector<std::uint32_t>& born = lineage.cell(path[life.birth]).first_core;
      auto cluster = static_cast<std::uint32_t>(std::ranges::lower_bound(born, life.first_core) - born.begin());
      for (std::size_t i = life.birth; i < life.death; ++i) {
        const LineageCell& cell = lineage.cell(path[i]);
        CellBar here{.cluster = cluster,
                     .size = cell.size.empty() ? cell.core[cluster] : cell.size[cluster],
                     .birth = path[life.birth]};
        if (life.death < path.size()) here.death = path[life.death];
        of_cells[path[i]].push_back(here);
        if (i + 1 < life.death) cluster = cell.parent_eps[cluster];
      }
    }
    for (const std::size_t cell : path) keep_largest(of_cells[cell], most);
  }
  return of_cells;
}

}  // namespace epsflow::report
