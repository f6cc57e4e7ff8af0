// Groups of cells that are linked, as links come and go.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include <epsflow/windows/block_map.hpp>

namespace epsflow::windows {

/// Numbers of groups that can be joined.
class CellGroups {
 public:
  /// Returns how many numbers there are, of joined groups too.
  [[nodiscard]] std::size_t size() const noexcept { return parents_.size(); }
  /// Adds a group. Returns its number.
  [[nodiscard]] std::uint32_t add() {
    parents_.push_back(static_cast<std::uint32_t>(parents_.size()));
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

  /// Flattens all paths.
  void flatten() noexcept {
    for (std::uint32_t& parent : parents_) parent = parents_[parent];  // parents come first
  }
  /// Returns the result of find() after flatten(), as long as no groups are joined. Thread-safe.
  [[nodiscard]] std::uint32_t root(std::uint32_t group) const noexcept { return parents_[group]; }

  /// Gives new numbers 0, 1, … to the groups for which used(root) is true, and removes the other groups. Returns for
  /// each old number the new number of its group, or kNone if the group is removed.
  template <class Used>
  [[nodiscard]] std::vector<std::uint32_t> rename(Used&& used) {
    flatten();
    std::vector<std::uint32_t> names(parents_.size(), kNone);
    std::uint32_t count = 0;
    for (std::uint32_t g = 0; g < names.size(); ++g) {
      if (parents_[g] != g) names[g] = names[parents_[g]];
      if (parents_[g] == g && used(g)) names[g] = count++;
    }
    parents_.resize(count);
    std::iota(parents_.begin(), parents_.end(), 0U);
    return names;
  }

  [[nodiscard]] std::uint64_t bytes() const noexcept { return parents_.capacity() * sizeof(std::uint32_t); }

 private:
  std::vector<std::uint32_t> parents_;  ///< not larger than the number itself
};

/// Finds the parts into which a group of cells fell when links were lost.
class SplitSearch {
 public:
  /// Searches one group. Searches of different groups may run on several threads at once. seen: [cells], kNone for each
  /// cell before and after. ends: at least two different cells of the group, at least one in each part.
  /// for_each_linked(c, f): calls f for the cells that c is linked to.
  template <class ForEachLinked>
  SplitSearch(std::span<std::uint32_t> seen, std::span<const std::uint32_t> ends, ForEachLinked&& for_each_linked)
      : seen_(seen) {
    for (const std::uint32_t end : ends) {
      seen_[end] = static_cast<std::uint32_t>(searches_.size());
      sets_.push_back(seen_[end]);
      searches_.push_back({{end}, 0, false});
    }
    std::size_t open = ends.size();
    std::vector<std::uint32_t> turns(sets_);
    while (open > 1) {
      std::size_t remaining = 0;
      for (const std::uint32_t s : turns) {
        if (find(s) != s || searches_[s].ended) continue;  // another search goes on for it
        if (open <= 1) break;
        Search& search = searches_[s];
        if (search.next == search.cells.size()) {
          search.ended = true;
          parts_.push_back(search.cells);
          --open;
          continue;
        }
        advance(s, for_each_linked, open);
        turns[remaining++] = find(s);
      }
      turns.resize(remaining);
    }
    for (const Search& search : searches_) {
      for (const std::uint32_t c : search.cells) seen_[c] = kNone;
    }
  }

  /// Returns the cells of each part except one, whose search was the last; no part if all ends are still connected. The
  /// part that is left out is usually the largest: the searches from all ends advance in turns, so that the costs are
  /// about the number of ends times the largest returned part, and small if the ends are still connected nearby.
  [[nodiscard]] std::vector<std::vector<std::uint32_t>> take_parts() && { return std::move(parts_); }

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
    for (std::size_t i = 0; i < kAtOnce && open > 1; ++i) {
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

  std::span<std::uint32_t> seen_;    ///< of each cell: the search that found it, or kNone
  std::vector<std::uint32_t> sets_;  ///< of each search: itself, or one that it was merged with
  std::vector<Search> searches_;
  std::vector<std::vector<std::uint32_t>> parts_;
};

}  // namespace epsflow::windows
