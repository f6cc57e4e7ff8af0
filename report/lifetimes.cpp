#include <epsflow/report/lifetimes.hpp>

#include <algorithm>
#include <set>

namespace epsflow::report {
namespace {

void keep_largest(std::vector<CellLife>& lives, std::size_t most) {
  const auto before = [](const CellLife& a, const CellLife& b) {
    return a.size > b.size || (a.size == b.size && a.cluster < b.cluster);
  };
  std::ranges::sort(lives, before);
  if (lives.size() > most) lives.resize(most);
}

}  // namespace

std::vector<std::vector<CellLife>> lives_of_cells(const Lineage& lineage, std::size_t most) {
  std::vector<std::vector<CellLife>> of_cells(lineage.cells().size());
  std::set<std::uint32_t> all_minpts;
  for (const LineageCell& cell : lineage.cells()) all_minpts.insert(cell.variant.minpts);
  for (const std::uint32_t minpts : all_minpts) {
    const std::vector<std::size_t> path = lineage.along_eps(minpts);
    for (const Life& life : lineage.lives(path)) {
      const std::vector<std::uint32_t>& born = lineage.cell(path[life.birth]).first_core;
      auto cluster = static_cast<std::uint32_t>(std::ranges::lower_bound(born, life.first_core) - born.begin());
      for (std::size_t place = life.birth; place < life.death; ++place) {
        const LineageCell& cell = lineage.cell(path[place]);
        CellLife here{.cluster = cluster,
                      .size = cell.size.empty() ? cell.core[cluster] : cell.size[cluster],
                      .birth = path[life.birth]};
        if (life.death < path.size()) here.death = path[life.death];
        of_cells[path[place]].push_back(here);
        if (place + 1 < life.death) cluster = cell.in_wider[cluster];
      }
    }
    for (const std::size_t cell : path) keep_largest(of_cells[cell], most);
  }
  return of_cells;
}

}  // namespace epsflow::report
