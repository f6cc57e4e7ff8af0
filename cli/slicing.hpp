// Many data sets in one input: slices by the values of a column, or by file.
#pragma once

#include <algorithm>

#include <epsflow/cli/input.hpp>
#include <epsflow/core/labels.hpp>
#include <epsflow/core/slice_rows.hpp>
#include <epsflow/core/slices.hpp>
#include <epsflow/core/table.hpp>

namespace epsflow::cli {

/// Returns --by, --by-width, --by-file.
[[nodiscard]] OptionGroup slicing_options();

/// Options that name columns which are no coordinates, as far as a command has them that makes one data set of its
/// input.
inline constexpr std::array kColumnsBeside{"weight", "stats", "velocity"};
[[nodiscard]] inline bool names_columns_beside(const std::map<std::string, std::string, std::less<>>& options) {
  return std::ranges::any_of(kColumnsBeside, [&](const char* option) { return options.contains(option); });
}
/// Returns these columns as --columns takes them: by name, or by number if they have none.
[[nodiscard]] std::string columns_text(Words names, const std::vector<std::size_t>& numbers);

/// The slices that the command line asks for, and the points in their order.
class Slicing {
 public:
  /// Reads the column. Points without a value there, or in the column of --ids, are taken out with --on-nan drop.
  /// Throws UsageError, InputError naming the row that is in no slice.
  Slicing(const Input& input, io::FilePoints& points);

  [[nodiscard]] const SliceRows& rows() const noexcept { return rows_; }
  [[nodiscard]] const Slices& slices() const noexcept { return slices_; }
  /// Returns what each slice is called, as a column.
  [[nodiscard]] const TableColumn& called() const noexcept { return called_; }
  /// Returns the points in the order of the slices; those of the constructor if that is their order.
  [[nodiscard]] PointsView points() const { return rows_.order.empty() ? points_.view() : ordered_.view(); }

  /// Returns the weights of points(), in the same order. Empty if there are no weights.
  [[nodiscard]] std::span<const double> weights() const { return rows_.order.empty() ? points_.weights : weights_; }

  /// Loads the points, with their weights.
  [[nodiscard]] Dataset load(const Engine& engine, const Metric& metric) const;
  /// Puts labels and mask of a result in the order of the input.
  void restore(VariantResult& result) const;
  /// Brings values in the order of the input into that of the slices. [n], or empty.
  template <class T>
  [[nodiscard]] std::vector<T> in_order(std::span<const T> by_row) const {
    std::vector<T> made(by_row.begin(), by_row.end());
    if (by_row.empty()) return made;  // there are none, such as weights
    for (std::size_t place = 0; place < rows_.order.size(); ++place) made[place] = by_row[rows_.order[place]];
    return made;
  }
  /// Tells these slices from others of the same points, for results.
  [[nodiscard]] std::string describe() const;

 private:
  const io::FilePoints& points_;
  SliceRows rows_;
  Slices slices_;
  TableColumn called_;
  Points ordered_;
  std::vector<double> weights_;  ///< in the order of the slices
};

/// The counts of all slices under all variants.
class SliceCounts {
 public:
  explicit SliceCounts(const Slicing& slicing) : slicing_(slicing) {}

  void add(const VariantResult& result);
  /// A row for each slice and variant, by slice, then eps and minpts: what the slice is called, its points, eps,
  /// minpts, clusters, noise, core, border, largest. Throws ResourceError.
  void write(const std::filesystem::path& file) const;

 private:
  struct Counted {
    Variant variant;
    std::vector<LabelSummary> slices;
  };

  const Slicing& slicing_;
  std::vector<Counted> variants_;
};

}  // namespace epsflow::cli
