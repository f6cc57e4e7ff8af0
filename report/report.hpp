// A sweep, or clusters selected in hierarchies, as one page for a browser: the recommendation and its reasons, the grid
// as a heat map, and for each cell (a variant) its map, the sizes of its clusters, their persistence along eps or the
// tree that they are from, and a table of the largest.
//
// The page is one file that needs no network and no server. It joins page.html, page.css, page.js and the data as JSON.
// Points are drawn as pixels (report/raster.hpp), so pages do not grow with their number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <epsflow/clustering/lineage.hpp>
#include <epsflow/core/cancel.hpp>
#include <epsflow/core/labels.hpp>
#include <epsflow/core/metric.hpp>
#include <epsflow/core/points.hpp>
#include <epsflow/core/sweep.hpp>
#include <epsflow/report/planes.hpp>

namespace epsflow::report {

/// The subject of a page. The points must outlive it.
struct Subject {
  std::string title;  ///< the name of the points, such as the name of their file
  PointsView points;
  Metric metric = {};
  Columns columns = {};
  /// The origin of the results, as label and text: input, checksum, version, machine, date.
  std::vector<std::pair<std::string, std::string>> provenance = {};
  std::string command = {};      ///< the command that reproduces the results
  std::string advice_hint = {};  ///< how to get a recommendation, if advise() is not called; may be empty
  /// How to get the whole catalogue of a cell. The page replaces {minpts}, and {eps} or {min_cluster_size}, in it.
  std::string catalogue_hint = {};
};

/// A cluster of a condensed tree (trees/condensed_tree.hpp). The root is the first, and parents come before children.
struct TreeCluster {
  std::int64_t parent = -1;  ///< −1 for the root
  double birth = 0;          ///< the eps at which it separates from others; infinite for the root
  double death = 0;          ///< the eps at which it splits or ends
  std::uint32_t size = 0;    ///< number of points at its birth
  std::int32_t label = -1;   ///< −1 if it is not selected
  /// Pairs of an eps and the number of points that the cluster has below it, in descending order of eps.
  std::vector<std::pair<double, std::uint32_t>> steps = {};
};

/// The largest size of a page in bytes.
inline constexpr std::uint64_t kMostBytes = 8U << 20U;

class Report {
 public:
  /// Computes the planes in O(n · d) time, with 4·n bytes for each. Throws as planes_of().
  explicit Report(Subject subject);
  ~Report();
  Report(Report&&) noexcept;
  Report& operator=(Report&&) noexcept;

  /// Adds a cell, or replaces its counts and, with labels, its map. labels: [n], which are not stored; if they are
  /// empty, the cell gets only counts. O(n). Throws UsageError if the number of labels differs from the number of
  /// points; otherwise as catalog() does.
  void add(const Variant& variant, const LabelSummary& summary, std::span<const std::int32_t> labels,
           const CancelToken& cancel = {});
  /// Adds the persistence of clusters and, if the lineage has sizes, the relative validity of cells. Adds cells that
  /// are not on the page yet, with their counts.
  void add_lineage(const Lineage& lineage);
  /// Adds the tree of a cell of hierarchies. The largest clusters are shown. Throws std::out_of_range if add() has not
  /// added the cell.
  void add_tree(const Variant& variant, std::span<const TreeCluster> clusters);
  /// Adds the scores of cells. Scores below 0, and scores of cells that are not on the page yet, are ignored.
  void add_scores(std::span<const std::pair<Variant, double>> scores);
  /// Sets the recommendation. exploration: text that as_json() made. recommended: [n] labels of the recommendation if
  /// its clusters have an eps each, so that it is outside the grid; if empty, the page has no map of it. Throws
  /// InputError for other text, and for offers whose counts do not fit the points; and as add().
  void advise(const std::string& exploration, std::span<const std::int32_t> recommended = {},
              const CancelToken& cancel = {});

  [[nodiscard]] std::size_t cells() const noexcept;
  /// Returns the number of cells that have a map.
  [[nodiscard]] std::size_t maps() const noexcept;

  /// Returns HTML of at most `most` bytes. If maps do not fit, they become coarser and are left out in the end, except
  /// the maps of the recommended cell and its alternatives. Throws UsageError if the page is too large even with these
  /// maps alone.
  [[nodiscard]] std::string page(std::uint64_t most = kMostBytes) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace epsflow::report
