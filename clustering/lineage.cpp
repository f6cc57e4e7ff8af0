#include <epsflow/clustering/lineage.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <string>
#include <tuple>

#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>

namespace epsflow {
namespace {

constexpr std::uint32_t kNone = 0xFFFFFFFFU;

std::string words_of(const Variant& variant) {
  return "(" + format_number(variant.eps) + ", " + std::to_string(variant.minpts) + ")";
}

/// Returns true if `holders` has a cluster of the cell `in` for each cluster of `cell`, or both are empty.
bool leads(const std::vector<LineageCell>& cells, const LineageCell& cell, std::optional<std::size_t> in,
           const std::vector<std::uint32_t>& ancestors) {
  if (!in) return ancestors.empty();
  return *in < cells.size() && ancestors.size() == cell.clusters() &&
         std::ranges::all_of(ancestors, [&](std::uint32_t k) { return k < cells[*in].clusters(); });
}

/// Returns true if `of` is wider or looser than another cell, and not both.
bool follows(const LineageCell& cell, const LineageCell& of) {
  const bool wider = of.variant.eps > cell.variant.eps && of.variant.minpts == cell.variant.minpts;
  const bool looser = of.variant.eps == cell.variant.eps && of.variant.minpts < cell.variant.minpts;
  return wider || looser;
}

/// Returns true if a sweep may have the variant, and its counts match its clusters. Any number of points may be noise.
bool is_counted(const LineageCell& cell) {
  const LabelSummary& s = cell.summary;
  const auto sum = [](const std::vector<std::uint32_t>& counts) {
    return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  };
  if (!(cell.variant.eps > 0) || !std::isfinite(cell.variant.eps) || cell.variant.minpts < 1) return false;
  if (s.clusters != cell.clusters() || s.core != sum(cell.core)) return false;
  if (!s.borders_told) return true;
  const std::uint32_t largest = cell.size.empty() ? 0 : std::ranges::max(cell.size);
  return s.core + s.border == sum(cell.size) && s.largest == largest &&
         std::ranges::equal(cell.core, cell.size, std::ranges::less_equal());
}

}  // namespace

Lineage::Lineage(std::vector<LineageCell> cells) : cells_(std::move(cells)) {
  for (const LineageCell& cell : cells_) {
    const bool whole =
        is_counted(cell) && cell.core.size() == cell.clusters() &&
        cell.size.size() == (cell.summary.borders_told ? cell.clusters() : 0) &&
        leads(cells_, cell, cell.wider, cell.parent_eps) && leads(cells_, cell, cell.looser, cell.parent_minpts) &&
        (!cell.wider || follows(cell, cells_[*cell.wider])) && (!cell.looser || follows(cell, cells_[*cell.looser]));
    if (!whole) throw InputError("the cells of a lineage do not belong together: " + words_of(cell.variant));
  }
}

bool Lineage::has_sizes() const noexcept {
  return std::ranges::all_of(cells_, [](const LineageCell& cell) { return cell.summary.borders_told; });
}

std::size_t Lineage::find(double eps, std::uint32_t minpts) const {
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    const Variant& v = cells_[i].variant;
    if (v.minpts == minpts && std::abs(v.eps - eps) <= 1e-9 * std::abs(eps)) return i;
  }
  throw UsageError("the sweep has no variant " + words_of({eps, minpts}) + "; Lineage::cells() lists those it has");
}

std::vector<std::uint32_t> Lineage::ancestors(std::size_t from, std::size_t to) const {
  const Variant& begin = cells_.at(from).variant;
  const Variant& end = cells_.at(to).variant;
  if (end.eps < begin.eps || end.minpts > begin.minpts) {
    throw UsageError("clusters of " + words_of(begin) + " do not lie in those of " + words_of(end) +
                     ": ask for a cell of no smaller eps and no larger minpts");
  }
  // Looser first, then wider: any path leads to the same clusters. A sweep that is not a full grid has dead ends.
  std::vector<std::size_t> path{from};
  std::vector<bool> dead(cells_.size());
  while (path.back() != to) {
    const LineageCell& cell = cells_[path.back()];
    if (cell.looser && !dead[*cell.looser] && cells_[*cell.looser].variant.minpts >= end.minpts) {
      path.push_back(*cell.looser);
    } else if (cell.wider && !dead[*cell.wider] && cells_[*cell.wider].variant.eps <= end.eps) {
      path.push_back(*cell.wider);
    } else {
      dead[path.back()] = true;
      path.pop_back();
    }
    if (path.empty()) {
      throw UsageError("the sweep has no way from " + words_of(begin) + " to " + words_of(end) +
                       " from cell to cell: sweep a full grid");
    }
  }
  std::vector<std::uint32_t> at(cells_[from].clusters());
  std::iota(at.begin(), at.end(), std::uint32_t{0});
  for (std::size_t p = 1; p < path.size(); ++p) {
    const LineageCell& cell = cells_[path[p - 1]];
    const std::vector<std::uint32_t>& next = cell.looser == path[p] ? cell.parent_minpts : cell.parent_eps;
    for (std::uint32_t& k : at) k = next[k];
  }
  return at;
}

std::size_t Lineage::rank(std::size_t from, std::size_t to) const {
  std::vector<std::uint32_t> at = ancestors(from, to);
  std::sort(at.begin(), at.end());
  return static_cast<std::size_t>(std::unique(at.begin(), at.end()) - at.begin());
}

Contingency Lineage::contingency(std::size_t from, std::size_t to) const {
  const std::vector<std::uint32_t> at = ancestors(from, to);
  std::vector<Overlap> overlaps(at.size());
  for (std::size_t k = 0; k < at.size(); ++k) {
    overlaps[k] = {static_cast<std::int32_t>(k), static_cast<std::int32_t>(at[k]), cells_[from].core[k]};
  }
  return Contingency(std::move(overlaps));
}

std::vector<Bar> Lineage::bars(std::span<const std::size_t> path) const {
  std::vector<Bar> bars;
  std::vector<std::size_t> living;  // [clusters of the cell] oldest life of each
  for (std::size_t i = 0; i < path.size(); ++i) {
    const LineageCell& cell = cells_.at(path[i]);
    std::vector<std::size_t> now(cell.clusters(), kNone);
    if (i > 0) {
      const std::vector<std::uint32_t> holder = ancestors(path[i - 1], path[i]);
      const auto older = [&](const Bar& a, const Bar& b) {
        return std::make_tuple(a.birth, -std::int64_t{a.core}, a.first_core) <
               std::make_tuple(b.birth, -std::int64_t{b.core}, b.first_core);
      };
      for (std::size_t k = 0; k < holder.size(); ++k) {
        std::size_t& elder = now[holder[k]];
        if (elder == kNone) {
          elder = living[k];
          continue;
        }
        const bool goes_on = older(bars[elder], bars[living[k]]);
        bars[goes_on ? living[k] : elder].death = i;
        if (!goes_on) elder = living[k];
      }
    }
    for (std::uint32_t k = 0; k < cell.clusters(); ++k) {
      if (now[k] == kNone) {
        now[k] = bars.size();
        bars.push_back({.birth = i, .death = path.size(), .first_core = cell.first_core[k]});
      }
      Bar& life = bars[now[k]];
      life.cluster = k;
      life.core = cell.core[k];
      life.size = cell.size.empty() ? 0 : cell.size[k];
    }
    living = std::move(now);
  }
  return bars;
}

std::vector<std::size_t> Lineage::along_eps(std::uint32_t minpts) const {
  std::vector<std::size_t> path;
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    if (cells_[i].variant.minpts == minpts) path.push_back(i);
  }
  std::sort(path.begin(), path.end(), [&](auto a, auto b) { return cells_[a].variant.eps < cells_[b].variant.eps; });
  return path;
}

std::vector<std::size_t> Lineage::along_minpts(double eps) const {
  std::vector<std::size_t> path;
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    if (std::abs(cells_[i].variant.eps - eps) <= 1e-9 * std::abs(eps)) path.push_back(i);
  }
  std::sort(path.begin(), path.end(),
            [&](auto a, auto b) { return cells_[a].variant.minpts > cells_[b].variant.minpts; });
  return path;
}

LineageBuilder::LineageBuilder(const Sweep& sweep, CoreSinceOf core_since_of)
    : core_since_of_(std::move(core_since_of)) {
  std::vector<LineageCell>& cells = lineage_.cells_;
  cells.resize(sweep.size());
  std::map<double, std::size_t> group_of;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    cells[i].variant = sweep.variants()[i];
    cell_of_[{cells[i].variant.eps, cells[i].variant.minpts}] = i;
    group_of[cells[i].variant.eps] = 0;
  }
  for (auto& [eps, group] : group_of) {
    group = groups_.size();
    groups_.emplace_back();
  }
  for (std::size_t i = 0; i < cells.size(); ++i) {
    group_of_.push_back(group_of[cells[i].variant.eps]);
    groups_[group_of_[i]].cells.push_back(i);
  }
  std::map<std::uint32_t, std::size_t> wider;  // last cell of each minpts
  for (std::size_t g = groups_.size(); g-- > 0;) {
    std::vector<std::size_t>& of_eps = groups_[g].cells;
    std::sort(of_eps.begin(), of_eps.end(),
              [&](auto a, auto b) { return cells[a].variant.minpts > cells[b].variant.minpts; });
    for (std::size_t l = 0; l < of_eps.size(); ++l) {
      LineageCell& cell = cells[of_eps[l]];
      if (l + 1 < of_eps.size()) cell.looser = of_eps[l + 1];
      const auto found = wider.find(cell.variant.minpts);
      if (found != wider.end()) {
        cell.wider = found->second;
        std::vector<std::size_t>& asking = groups_[group_of[cells[found->second].variant.eps]].asking;
        if (std::find(asking.begin(), asking.end(), g) == asking.end()) asking.push_back(g);
      }
      wider[cell.variant.minpts] = of_eps[l];
    }
  }
}

void LineageBuilder::add(VariantResult& result) {
  const std::size_t i = cell_of_.at({result.variant.eps, result.variant.minpts});
  LineageCell& cell = lineage_.cells_[i];
  Clusters& clusters = result.clusters;
  cell.summary = result.summary;
  cell.first_core = std::move(clusters.first_core);
  cell.core = std::move(clusters.core);
  cell.size = std::move(clusters.size);
  EpsCells& group = groups_[group_of_[i]];
  if (group.added > 0) lineage_.cells_[group.cells[group.added - 1]].parent_minpts = std::move(clusters.joined);
  group.core_since = std::move(clusters.core_since);
  if (++group.added == group.cells.size()) link_complete(group_of_[i]);
}

/// Links a group that has just become complete to other complete groups.
void LineageBuilder::link_complete(std::size_t group) {
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    EpsCells& to = groups_[g];
    if (!to.complete()) continue;
    std::erase_if(to.asking, [&](std::size_t asking) {
      if (!groups_[asking].complete() || (g != group && asking != group)) return false;
      link(groups_[asking], to);
      return true;
    });
    if (to.asking.empty()) to.core_since = {};
  }
}

/// Calls f(cell, before, k, b) for the clusters k of the cells of `from` that lie in cells of `to`. before: the
/// previous one of these cells; b: its cluster with the same first core point. Both are null if there is none.
template <class F>
void LineageBuilder::for_clusters(const EpsCells& from, const EpsCells& to, F&& f) {
  std::vector<LineageCell>& cells = lineage_.cells_;
  const LineageCell* before = nullptr;
  for (const std::size_t i : from.cells) {
    LineageCell& cell = cells[i];
    if (!cell.wider || std::find(to.cells.begin(), to.cells.end(), *cell.wider) == to.cells.end()) continue;
    std::size_t b = 0;
    for (std::size_t k = 0; k < cell.clusters(); ++k) {
      const std::uint32_t first = cell.first_core[k];
      while (before != nullptr && b < before->clusters() && before->first_core[b] < first) ++b;
      const bool same = before != nullptr && b < before->clusters() && before->first_core[b] == first;
      f(cell, same ? before : nullptr, k, b);
    }
    before = &cell;
  }
}

/// Finds for the clusters of `from` the clusters of the larger eps that hold their first core points. If the level
/// before had the same first core point, its result is continued by one step; others are followed from
/// the cluster in which their first core point became core.
void LineageBuilder::link(EpsCells& from, const EpsCells& to) {
  std::vector<LineageCell>& cells = lineage_.cells_;
  std::vector<std::uint64_t> ends;  // where the clusters of each level end in core_since
  std::map<std::size_t, std::size_t> level_of;
  std::uint64_t end = 0;
  for (std::size_t l = 0; l < to.cells.size(); ++l) {
    level_of[to.cells[l]] = l;
    ends.push_back(end += cells[to.cells[l]].clusters());
  }
  const auto follow = [&](std::uint32_t k, std::size_t level, std::size_t last) {
    for (; level < last; ++level) k = cells[to.cells[level]].parent_minpts[k];
    return k;
  };
  std::vector<std::uint32_t> asked;
  for_clusters(from, to, [&](LineageCell& cell, const LineageCell* before, std::size_t k, std::size_t) {
    if (before == nullptr) asked.push_back(cell.first_core[k]);
  });
  std::vector<std::int32_t> core_since;
  if (core_since_of_) {
    core_since = core_since_of_(to.core_since, asked);
  } else {
    for (const std::uint32_t id : asked) core_since.push_back(to.core_since[id]);
  }
  auto next = core_since.begin();
  for_clusters(from, to, [&](LineageCell& cell, const LineageCell* before, std::size_t k, std::size_t b) {
    cell.parent_eps.resize(cell.clusters());
    const std::size_t level = level_of[*cell.wider];
    if (before != nullptr) {
      cell.parent_eps[k] = follow(before->parent_eps[b], level_of[*before->wider], level);
      return;
    }
    const auto birth = static_cast<std::uint64_t>(*next++);
    const auto born = static_cast<std::size_t>(std::upper_bound(ends.begin(), ends.end(), birth) - ends.begin());
    const std::uint64_t offset = born == 0 ? 0 : ends[born - 1];
    cell.parent_eps[k] = follow(static_cast<std::uint32_t>(birth - offset), born, level);
  });
}

}  // namespace epsflow
