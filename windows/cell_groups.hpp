// Groups of cells that are linked, as links come and go.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include <epsflow/core/labels.hpp>
#include <epsflow/windows/cell_map.hpp>

namespace epsflow::windows {

/// Numbers of groups that can be joined. Each has a label.
class CellGroups {
 public:
  /// Begins a step. If there are far more numbers than groups, calls rename_all(rename), which must replace each number
  /// that is in use by rename(number). So the labels of groups stay in the cache.
  template <class RenameAll>
  void begin(std::size_t groups, RenameAll&& rename_all) {
    if (parents_.size() < 4 * groups + 4096) return;
    std::vector<std::uint32_t> names(parents_.size(), kNone);
    std::uint32_t count = 0;
    rename_all([&](std::uint32_t group) {
      if (group == kNone) return group;
      std::uint32_t& name = names[find(group)];
      if (name == kNone) name = count++;
      return name;
    });
    parents_.resize(count);
    std::iota(parents_.begin(), parents_.end(), 0U);
    labels_.assign(count, kNoise);
  }

  [[nodiscard]] std::uint32_t add() {
    parents_.push_back(static_cast<std::uint32_t>(parents_.size()));
    labels_.push_back(kNoise);
    return parents_.back();
  }
  void join(std::uint32_t a, std::uint32_t b) noexcept {
    a = find(a);
    b = find(b);
    parents_[a < b ? b : a] = a < b ? a : b;
  }
  /// Returns the number that all numbers joined to this one have in common. Halves the path.
  std::uint32_t find(std::uint32_t group) noexcept {
    while (parents_[group] != group) group = parents_[group] = parents_[parents_[group]];
    return group;
  }

  /// Sets the label of each group to kNoise, and flattens all paths.
  void forget_labels() noexcept {
    for (std::uint32_t g = 0; g < parents_.size(); ++g) parents_[g] = parents_[parents_[g]];  // parents come first
    labels_.assign(labels_.size(), kNoise);
  }
  /// Valid after forget_labels() until groups are joined.
  [[nodiscard]] std::int32_t& label(std::uint32_t group) noexcept { return labels_[parents_[group]]; }
  [[nodiscard]] std::int32_t label(std::uint32_t group) const noexcept { return labels_[parents_[group]]; }

  [[nodiscard]] std::uint64_t bytes() const noexcept { return parents_.capacity() * 2 * sizeof(std::uint32_t); }

 private:
  std::vector<std::uint32_t> parents_;  ///< not larger than the number itself
  std::vector<std::int32_t> labels_;
};

/// Finds the parts into which a group of cells fell when links were lost.
class SplitSearch {
 public:
  /// cells: the number of all cells. ends: at least two cells, at least one in each part. for_each_linked(c, f): calls
  /// f for the cells that c is linked to. on_part(cells): is called for each part but one, which may be the largest.
  /// From each end a search goes on, in turns, so that the costs are about the ends times the largest of the other
  /// parts, and small if the ends are still connected nearby.
  template <class ForEachLinked, class OnPart>
  void separate(std::size_t cells, std::span<const std::uint32_t> ends, ForEachLinked&& for_each_linked,
                OnPart&& on_part) {
    seen_.resize(cells, kNone);
    searches_.clear();
    sets_.clear();
    for (const std::uint32_t end : ends) {
      seen_[end] = static_cast<std::uint32_t>(searches_.size());
      sets_.push_back(seen_[end]);
      searches_.push_back({{end}, 0, false});
    }
    std::size_t open = ends.size();
    std::vector<std::uint32_t> turns(sets_);
    while (open > 1) {
      std::size_t kept = 0;
      for (const std::uint32_t s : turns) {
        if (find(s) != s || searches_[s].ended) continue;  // another search goes on for it
        if (open <= 1) break;
        Search& search = searches_[s];
        if (search.next == search.cells.size()) {
          search.ended = true;
          on_part(std::span<const std::uint32_t>(search.cells));
          --open;
          continue;
        }
        advance(s, for_each_linked, open);
        turns[kept++] = find(s);
      }
      turns.resize(kept);
    }
    for (const Search& search : searches_) {
      for (const std::uint32_t c : search.cells) seen_[c] = kNone;
    }
  }

 private:
  /// A breadth-first search: cells from `next` on have not been expanded.
  struct Search {
    std::vector<std::uint32_t> cells;
    std::size_t next;
    bool ended;
  };

  std::uint32_t find(std::uint32_t s) noexcept {
    while (sets_[s] != s) s = sets_[s] = sets_[sets_[s]];
    return s;
  }

  /// Expands some cells of a search. Searches that meet become one.
  template <class ForEachLinked>
  void advance(std::uint32_t s, ForEachLinked&& for_each_linked, std::size_t& open) {
    constexpr std::size_t kAtOnce = 8;
    for (std::size_t i = 0; i < kAtOnce; ++i) {
      s = find(s);
      if (searches_[s].next == searches_[s].cells.size()) return;
      const std::uint32_t c = searches_[s].cells[searches_[s].next++];
      for_each_linked(c, [&](std::uint32_t other) {
        if (seen_[other] == kNone) {
          seen_[other] = s;
          searches_[s].cells.push_back(other);
          return;
        }
        const std::uint32_t met = find(seen_[other]);
        if (met == s) return;
        s = merge(s, met);
        --open;
      });
    }
  }

  /// Makes one search of two: the cells that were expanded come first. Returns its number.
  std::uint32_t merge(std::uint32_t a, std::uint32_t b) {
    if (searches_[a].cells.size() < searches_[b].cells.size()) std::swap(a, b);
    Search& to = searches_[a];
    Search& from = searches_[b];
    for (std::size_t i = 0; i < from.cells.size(); ++i) {
      to.cells.push_back(from.cells[i]);
      if (i < from.next) std::swap(to.cells.back(), to.cells[to.next++]);
    }
    from = {};
    sets_[b] = a;
    return a;
  }

  std::vector<std::uint32_t> seen_;  ///< of each cell: the search that found it, or kNone
  std::vector<std::uint32_t> sets_;  ///< of each search: itself, or one that it was merged with
  std::vector<Search> searches_;
};

}  // namespace epsflow::windows
