// The nesting of the clusters of a sweep.
//
// A core point stays core at a larger eps and at a smaller minpts, and connected points stay connected. So the core
// points of each cluster of (eps, minpts) lie in one cluster of (eps', minpts') for eps' >= eps and minpts' <= minpts.
// Border points may change their cluster, so a lineage is about core points. Over a full grid this is the degree-Rips
// bifiltration of topology in dimension 0, at the values of the grid: exactly, by the distance test of DBSCAN.
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
  std::vector<std::uint32_t> core;        ///< number of core points
  std::vector<std::uint32_t> size;        ///< number of core and border points; empty unless LabelSummary::borders_told
  std::optional<std::size_t> wider;       ///< index of the cell with the same minpts and the next larger eps
  std::optional<std::size_t> looser;      ///< index of the cell with the same eps and the next smaller minpts
  std::vector<std::uint32_t> parent_eps;  ///< the cluster of `wider` that holds each; empty without such a cell
  std::vector<std::uint32_t> parent_minpts;  ///< the cluster of `looser` that holds each; empty without such a cell

  [[nodiscard]] std::size_t clusters() const noexcept { return first_core.size(); }
};

/// The persistence of a cluster along a path of cells: from its first cell to the merge into an older one.
struct Bar {
  std::size_t birth = 0;         ///< index in the path
  std::size_t death = 0;         ///< index in the path; the length of the path if the cluster persists to its end
  std::uint32_t cluster = 0;     ///< its number in the last cell before death
  std::uint32_t core = 0;        ///< its core points there
  std::uint32_t size = 0;        ///< all its points there; 0 in a lineage without sizes
  std::uint32_t first_core = 0;  ///< the smallest id of a core point at birth

  friend bool operator==(const Bar&, const Bar&) = default;
};

/// The clusters of all variants of a sweep, and for each the clusters of wider and looser variants that hold it.
class Lineage {
 public:
  Lineage() = default;
  /// Restores the cells of another lineage, for example after storage. Throws InputError if the cells are inconsistent,
  /// or if counts do not match the clusters.
  explicit Lineage(std::vector<LineageCell> cells);

  /// Returns true if sizes, border points and noise are counted; false if made with Keep::core.
  [[nodiscard]] bool has_sizes() const noexcept;
  /// Returns the cells in the order of the sweep.
  [[nodiscard]] std::span<const LineageCell> cells() const noexcept { return cells_; }
  [[nodiscard]] const LineageCell& cell(std::size_t i) const { return cells_.at(i); }
  /// Returns the index of a variant. Throws UsageError if the sweep has no such variant. eps: within a part in 10^9.
  [[nodiscard]] std::size_t find(double eps, std::uint32_t minpts) const;

  /// Returns for each cluster of cell `from` the cluster of cell `to` that holds it. Steps lead from cell to cell: to
  /// the next smaller minpts or the next larger eps. O(clusters · steps + cells). Throws UsageError if the eps of `to`
  /// is smaller, its minpts larger, or no steps lead to it, which is possible only if the sweep is not a full grid.
  [[nodiscard]] std::vector<std::uint32_t> ancestors(std::size_t from, std::size_t to) const;
  /// Returns the number of clusters of `to` that hold a cluster of `from`: the rank of the map between the cells.
  /// Throws as ancestors().
  [[nodiscard]] std::size_t rank(std::size_t from, std::size_t to) const;

  /// Returns the contingency table of the core points of `from`, by their clusters in `from` and `to`, for agreement()
  /// without points. There is one overlap per cluster of `from`. Throws as ancestors().
  [[nodiscard]] Contingency contingency(std::size_t from, std::size_t to) const;

  /// Returns the bars of clusters along a path of cells. Each cell of the path is wider than the one before, looser, or
  /// both. If clusters merge, the oldest persists (the elder rule); among equally old ones the one with more core
  /// points, then the one with the smaller first core point. Sorted by birth, then by first core point. Takes the time
  /// of ancestors() for each step of the path. Throws as ancestors().
  [[nodiscard]] std::vector<Bar> bars(std::span<const std::size_t> path) const;
  /// Returns the indices of the cells of one minpts, by ascending eps.
  [[nodiscard]] std::vector<std::size_t> along_eps(std::uint32_t minpts) const;
  /// Returns the indices of the cells of one eps (within a part in 10^9), by descending minpts.
  [[nodiscard]] std::vector<std::size_t> along_minpts(double eps) const;

 private:
  friend class LineageBuilder;
  std::vector<LineageCell> cells_;
};

/// Makes a lineage from the results of a sweep, one at a time. Not thread-safe.
class LineageBuilder {
 public:
  /// Returns for each id the entry of `core_since`, the Clusters::core_since of one eps. Called once for each pair of
  /// neighbouring eps.
  using CoreSinceOf =
      std::function<std::vector<std::int32_t>(const Labels& core_since, std::span<const std::uint32_t> ids)>;

  /// core_since_of: reads core_since that are stored in several parts; by default `core_since` holds all points.
  explicit LineageBuilder(const Sweep& sweep, CoreSinceOf core_since_of = {});

  /// Adds a result, made with RunOptions::clusters. Moves VariantResult::clusters out of it, and leaves the rest.
  /// Results of one eps must be added by descending minpts, as a sweep emits them; eps may come in any order. An eps
  /// holds 4·n bytes until all smaller eps are complete whose cells have a cell of this eps as `wider`: in a full grid,
  /// only the next smaller eps. O(clusters).
  void add(VariantResult& result);
  /// Returns the lineage after all results of the sweep were added.
  [[nodiscard]] Lineage finish() { return std::exchange(lineage_, {}); }

 private:
  struct EpsCells {
    std::vector<std::size_t> cells;   ///< by descending minpts
    Labels core_since;                ///< Clusters::core_since, until no other group needs them
    std::vector<std::size_t> asking;  ///< groups of smaller eps that are still to be linked to this group
    std::size_t added = 0;
    [[nodiscard]] bool complete() const noexcept { return added == cells.size(); }
  };

  template <class F>
  void for_clusters(const EpsCells& from, const EpsCells& to, F&& f);
  void link(EpsCells& from, const EpsCells& to);
  void link_complete(std::size_t group);

  Lineage lineage_;
  CoreSinceOf core_since_of_;
  std::vector<EpsCells> groups_;  ///< by ascending eps
  std::map<std::pair<double, std::uint32_t>, std::size_t> cell_of_;
  std::vector<std::size_t> group_of_;  ///< [cells]
};

}  // namespace epsflow
