// Several data sets in one input: slices by the values of a column, or by file.
#pragma once

#include <map>

#include <epsflow/cli/input.hpp>
#include <epsflow/core/labels.hpp>
#include <epsflow/core/slice_rows.hpp>
#include <epsflow/core/slices.hpp>
#include <epsflow/core/sweep.hpp>
#include <epsflow/core/table.hpp>

namespace epsflow::cli {

/// Returns --by, --by-width, --by-file.
[[nodiscard]] OptionGroup slicing_options();

/// The slices of the command line, and the points in the order of the slices.
class Slicing {
 public:
  /// Makes a slice for each value or interval of the column of --by, which is read from the files, or with --by-file
  /// for each file. With --on-nan drop, points without a value in this column, or in a column of --ids, are removed
  /// from `points`, which must outlive the object. Throws UsageError if --by-width does not fit the values,
  /// InputError if a row is in no slice or if no point remains, and as Input::read_beside().
  Slicing(const Input& input, io::FilePoints& points);

  [[nodiscard]] const SliceRows& rows() const noexcept { return rows_; }
  [[nodiscard]] const Slices& slices() const noexcept { return slices_; }
  /// Returns the name of each slice, as a column: the value of --by, the beginning of its interval, or a file name.
  [[nodiscard]] const TableColumn& called() const noexcept { return called_; }
  /// Returns the points in the order of the slices; the original points if they already have it.
  [[nodiscard]] PointsView points() const { return rows_.order.empty() ? points_.view() : ordered_.view(); }

  /// Returns the weights in the order of points(); empty if there are none.
  [[nodiscard]] std::span<const double> weights() const { return rows_.order.empty() ? points_.weights : weights_; }

  /// Loads the points and their weights. Throws as Engine::load() and Dataset::weighted().
  [[nodiscard]] Dataset load(const Engine& engine, const Metric& metric) const;
  /// Restores labels and mask of a result from the order of the slices to input order.
  void restore(VariantResult& result) const;
  /// Reorders values from input order to the order of the slices. [n], or empty.
  template <class T>
  [[nodiscard]] std::vector<T> in_order(std::span<const T> by_row) const {
    std::vector<T> made(by_row.begin(), by_row.end());
    if (by_row.empty()) return made;
    for (std::size_t i = 0; i < rows_.order.size(); ++i) made[i] = by_row[rows_.order[i]];
    return made;
  }
  /// Returns a text that distinguishes these slices from other slices of the same points. Results folders store it.
  [[nodiscard]] std::string describe() const;

 private:
  const io::FilePoints& points_;
  SliceRows rows_;
  Slices slices_;
  TableColumn called_;
  Points ordered_;
  std::vector<double> weights_;  ///< in the order of the slices
};

/// VariantResult::slices of each variant.
using SliceCounts = std::map<Variant, std::vector<LabelSummary>, VariantOrder>;

/// Writes a row for each slice and variant, by slice, then eps and minpts: the name of the slice, its points, eps,
/// minpts, clusters, noise, core, border, largest. Throws ResourceError.
void write_slice_counts(const std::filesystem::path& file, const Slicing& slicing, const SliceCounts& counts);

}  // namespace epsflow::cli
