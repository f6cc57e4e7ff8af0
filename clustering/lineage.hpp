// How the clusters of a sweep lie in each other.
//
// A point that is core stays core at a larger eps and at a smaller minpts, and what is connected stays connected. So the core points of
// each cluster of (eps, minpts) lie in one cluster of (eps', minpts') for eps' >= eps and minpts' <= minpts. Border points may go from one
// cluster to another on the way: a lineage is of core points. Over a whole grid this is what topology calls the degree-Rips
// bifiltration in dimension 0, at the values of the grid: exactly, as counted with the distance test of DBSCAN.
//
// Sources: Lesnick & Wright 2015 for the bifiltration; Rolle & Scoccola, JMLR 2024, for its use in clustering.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <epsflow/clustering/agreement.hpp>
#include <epsflow/core/labels.hpp>
#include <epsflow/core/sweep.hpp>

namespace epsflow {

/// One variant in a lineage. The arrays have an entry for each of its clusters.
struct LineageCell {
  Variant variant;
  LabelSummary summary;
  std::vector<std::uint32_t> first_core;  ///< smallest id of a core point, ascending
  std::vector<std::uint32_t> core;        ///< core points
  std::vector<std::uint32_t> size;        ///< core and border points; empty unless LabelSummary::borders_told
  std::optional<std::size_t> wider;       ///< the cell of the same minpts and the next larger eps of the sweep
  std::optional<std::size_t> looser;      ///< the cell of the same eps and the next smaller minpts of the sweep
  std::vector<std::uint32_t> in_wider;    ///< the cluster there that holds each; empty where there is no such cell
  std::vector<std::uint32_t> in_looser;

  [[nodiscard]] std::size_t clusters() const noexcept { return first_core.size(); }
};

/// The life of a cluster along a path of cells: from the cell in which it comes up to the one in which it becomes part of an older one.
struct Life {
  std::size_t birth = 0;         ///< place in the path
  std::size_t death = 0;         ///< place in the path; its length for those that live to the end
  std::uint32_t cluster = 0;     ///< its number in the last cell of its life,
  std::uint32_t core = 0;        ///< its core points there,
  std::uint32_t size = 0;        ///< and all its points; 0 in a lineage without sizes
  std::uint32_t first_core = 0;  ///< the smallest id of a core point at its birth

  friend bool operator==(const Life&, const Life&) = default;
};

/// The clusters of all variants of a sweep, and in which clusters of wider and looser variants each of them lies.
class Lineage {
 public:
  Lineage() = default;
  /// Of cells that another lineage had, as when it was stored meanwhile. Throws InputError where they do not belong together, and for
  /// counts that are not those of their clusters.
  explicit Lineage(std::vector<LineageCell> cells);

  /// Whether it has the sizes of clusters, and counts of border points and noise: not where it was made with Keep::core.
  [[nodiscard]] bool has_sizes() const noexcept;
  /// In the order of the sweep.
  [[nodiscard]] std::span<const LineageCell> cells() const noexcept { return cells_; }
  [[nodiscard]] const LineageCell& cell(std::size_t i) const { return cells_.at(i); }
  /// Throws UsageError where the sweep has no such variant. eps: within a part in 10^9.
  [[nodiscard]] std::size_t find(double eps, std::uint32_t minpts) const;

  /// The cluster of cell `to` that holds each cluster of cell `from`. O(clusters · steps between them). Throws UsageError where the
  /// eps of `to` is smaller, its minpts larger, or the sweep has no way from cell to cell between them.
  [[nodiscard]] std::vector<std::uint32_t> holders(std::size_t from, std::size_t to) const;
  /// How many clusters of `to` hold one of `from`: the rank of the map between them. Throws as holders() does.
  [[nodiscard]] std::size_t rank(std::size_t from, std::size_t to) const;

  /// How the core points of `from`, as its clusters part them, lie in the clusters of `to`: what agreement() compares without a look at
  /// points. Each cluster lies in one, so its overlaps are as many as the clusters of `from`. Throws as holders() does.
  [[nodiscard]] Contingency contingency(std::size_t from, std::size_t to) const;

  /// Lives along cells, each of which is wider than the one before, looser, or both. Where clusters merge the oldest goes on (the
  /// elder rule): of equally old ones that of more core points, then that of the smaller first core point. By birth, then by first
  /// core point. O(clusters of the cells · log). Throws as holders() does.
  [[nodiscard]] std::vector<Life> lives(std::span<const std::size_t> path) const;
  /// The cells of one minpts by ascending eps, and of one eps by descending minpts.
  [[nodiscard]] std::vector<std::size_t> along_eps(std::uint32_t minpts) const;
  [[nodiscard]] std::vector<std::size_t> along_minpts(double eps) const;

 private:
  friend class LineageBuilder;
  std::vector<LineageCell> cells_;
};

/// Makes a lineage of the results of a sweep as they come. Not thread-safe.
class LineageBuilder {
 public:
  /// The births of some points, which `births` holds: given their ids. Once for each two eps that are tied to each other.
  using BirthsOf = std::function<std::vector<std::int32_t>(const Labels& births, std::span<const std::uint32_t> ids)>;

  /// births_of: of points that are in several places; else births are those of all points.
  explicit LineageBuilder(const Sweep& sweep, BirthsOf births_of = {});

  /// Takes what RunOptions::clusters has filled, and leaves the rest. Results of one eps must come by descending minpts, as they do;
  /// eps may come in any order. Keeps 4·n bytes for an eps until the next smaller and the next larger one are there. O(clusters).
  void add(VariantResult& result);
  /// Once all results of the sweep were added.
  [[nodiscard]] Lineage finish() { return std::exchange(lineage_, {}); }

 private:
  struct Group {
    std::vector<std::size_t> cells;   ///< by descending minpts
    Labels births;                    ///< Clusters::births, until nobody asks any more
    std::vector<std::size_t> asking;  ///< groups whose clusters lie in clusters of this one
    std::size_t added = 0;
    [[nodiscard]] bool complete() const noexcept { return added == cells.size(); }
  };

  template <class F>
  void for_clusters(const Group& from, const Group& to, F&& f);
  void link(Group& from, const Group& to);
  void link_complete(std::size_t group);

  Lineage lineage_;
  BirthsOf births_of_;
  std::vector<Group> groups_;  ///< by ascending eps
  std::map<std::pair<double, std::uint32_t>, std::size_t> cell_of_;
  std::vector<std::size_t> group_of_;  ///< [cells]
};

}  // namespace epsflow
