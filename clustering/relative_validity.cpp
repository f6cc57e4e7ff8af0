#include <epsflow/clustering/relative_validity.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include <epsflow/core/parallel.hpp>

namespace epsflow {
namespace {

constexpr std::uint32_t kNever = std::numeric_limits<std::uint32_t>::max();

/// The clusters of a cell. An index numbers the cells of the same minpts by ascending eps.
struct CellHistory {
  std::vector<std::uint32_t> birth;   ///< index at which the oldest of the clusters that merged into it appeared
  std::vector<std::uint32_t> joined;  ///< index at which its core points were first one cluster
  // Births of the clusters of the previous cell that lie in it.
  std::vector<std::uint32_t> oldest;
  std::vector<std::uint32_t> second_oldest;
};

CellHistory history_of(const LineageCell& cell, std::uint32_t i) {
  const std::size_t n = cell.clusters();
  return {std::vector(n, i), std::vector(n, i), std::vector(n, kNever), std::vector(n, kNever)};
}

void follow(const LineageCell& before, const CellHistory& from, const LineageCell& cell, CellHistory& to) {
  for (std::size_t k = 0; k < before.clusters(); ++k) {
    const std::uint32_t holder = before.parent_eps[k];
    const std::uint32_t birth = from.birth[k];
    to.second_oldest[holder] = std::min(to.second_oldest[holder], std::max(birth, to.oldest[holder]));
    to.oldest[holder] = std::min(to.oldest[holder], birth);
    to.birth[holder] = std::min(to.birth[holder], birth);
    if (before.core[k] == cell.core[holder]) to.joined[holder] = from.joined[k];
  }
}

/// Returns the last index at which no other cluster of the cell at index i has joined `cluster`.
std::uint32_t last_apart(const Lineage& lineage, std::span<const std::size_t> path,
                         const std::vector<CellHistory>& history, std::uint32_t i, std::uint32_t cluster) {
  std::uint32_t at = i;
  for (; at + 1 < path.size(); ++at) {
    const std::uint32_t holder = lineage.cell(path[at]).parent_eps[cluster];
    const CellHistory& next = history[at + 1];
    const bool eldest = history[at].birth[cluster] == next.oldest[holder];
    const std::uint32_t other = eldest ? next.second_oldest[holder] : next.oldest[holder];
    if (other <= i) break;  // otherwise all clusters that join it appeared later
    cluster = holder;
  }
  return at;
}

void add_path(const Lineage& lineage, std::span<const std::size_t> path, std::vector<double>& validity) {
  std::vector<CellHistory> history;
  for (std::uint32_t i = 0; i < path.size(); ++i) {
    history.push_back(history_of(lineage.cell(path[i]), i));
    if (i > 0) follow(lineage.cell(path[i - 1]), history[i - 1], lineage.cell(path[i]), history[i]);
  }
  for (std::uint32_t i = 0; i < path.size(); ++i) {
    const LineageCell& cell = lineage.cell(path[i]);
    if (cell.clusters() == 1) {
      validity[path[i]] = std::numeric_limits<double>::quiet_NaN();
      continue;
    }
    double sum = 0;
    for (std::uint32_t k = 0; k < cell.clusters(); ++k) {
      const double joined = lineage.cell(path[history[i].joined[k]]).variant.eps;
      const double apart = lineage.cell(path[last_apart(lineage, path, history, i, k)]).variant.eps;
      sum += cell.size[k] * (1 - joined / apart);
    }
    const auto points = static_cast<double>(cell.summary.core + cell.summary.border + cell.summary.noise);
    validity[path[i]] = points > 0 ? sum / points : 0;
  }
}

}  // namespace

std::vector<double> relative_validity(const Lineage& lineage) {
  if (!lineage.has_sizes()) {
    throw UsageError(
        "relative validity weighs clusters by their points, and the lineage has none but core points: make it with "
        "RunOptions::keep = "
        "Keep::summary");
  }
  const std::span<const LineageCell> cells = lineage.cells();
  std::vector<std::uint8_t> follows(cells.size(), 0);
  for (const LineageCell& cell : cells) {
    if (cell.wider) follows[*cell.wider] = 1;
  }
  std::vector<std::vector<std::size_t>> paths;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (follows[i] != 0) continue;
    std::vector<std::size_t>& path = paths.emplace_back();
    for (std::optional<std::size_t> at = i; at; at = cells[*at].wider) path.push_back(*at);
  }
  std::vector<double> validity(cells.size(), 0);
  parallel_for(paths.size(), [&](std::size_t p) { add_path(lineage, paths[p], validity); });
  return validity;
}

}  // namespace epsflow
