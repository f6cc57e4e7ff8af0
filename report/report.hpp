// A sweep as one page for a browser: what is recommended and why, the grid as a heat map, and of each cell its map, the sizes of its
// clusters, how long they live along eps, and the largest of them as a table.
//
// The page is one file that needs nothing else: no network, no server. page.html, page.css and page.js are what it is made of; the data
// stand in it as JSON. Points are pixels (report/raster.hpp), so that a page of many points is no larger than one of few.
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

/// What a page is of. The points outlive it.
struct Subject {
  std::string title;  ///< what the points are called, such as the name of their file
  PointsView points;
  Metric metric = {};
  Columns columns = {};
  /// Where the results come from, as label and text: input, checksum, version, machine, date.
  std::vector<std::pair<std::string, std::string>> provenance = {};
  std::string command = {};         ///< that makes the same results again
  std::string advice_hint = {};     ///< how to get a recommendation, where advise() is not called
  std::string catalogue_hint = {};  ///< how to get the whole catalogue of the cell {eps}, {minpts}
};

/// The most bytes of a page.
inline constexpr std::uint64_t kMostBytes = 8U << 20U;

class Report {
 public:
  /// Finds the planes, in O(n · d) time and 4·n bytes for each. Throws as move_points() does.
  explicit Report(Subject subject);
  ~Report();
  Report(Report&&) noexcept;
  Report& operator=(Report&&) noexcept;

  /// A cell with its labels, [n], which are not kept; without any (empty) it gets counts alone. O(n). Throws UsageError for labels of another
  /// number of points, else as catalog() does.
  void add(const Variant& variant, const LabelSummary& summary, std::span<const std::int32_t> labels,
           const CancelToken& cancel = {});
  /// Lives of clusters; and counts of the cells that have none yet.
  void add_lineage(const Lineage& lineage);
  /// Scores of cells, those below 0 being none.
  void add_scores(std::span<const std::pair<Variant, double>> scores);
  /// What as_json() gives of an exploration, as text. Throws InputError for other text.
  void advise(const std::string& exploration);

  [[nodiscard]] std::size_t cells() const noexcept;
  /// Cells that have a map.
  [[nodiscard]] std::size_t maps() const noexcept;

  /// HTML of at most `most` bytes: maps get coarser where they would not fit, those of recommended cells last. Throws UsageError where even
  /// without maps there are too many cells.
  [[nodiscard]] std::string page(std::uint64_t most = kMostBytes) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace epsflow::report
