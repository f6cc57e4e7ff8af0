// The catalogues that commands write.
#pragma once

#include <epsflow/catalog/catalog.hpp>
#include <epsflow/cli/slicing.hpp>
#include <epsflow/io/write_labels.hpp>

namespace epsflow::cli {

/// Returns --stats, for commands that have --catalog.
[[nodiscard]] OptionSpec stats_option();
/// Throws UsageError for --stats without --catalog.
void require_catalog_of_stats(const Arguments& arguments);

/// Makes the catalogue of a result. It is weighted by FilePoints::weights: the column of --weight, or for fof the
/// masses of a snapshot. It has the columns of --velocity and --stats.
class Cataloguing {
 public:
  /// Reads the columns of --velocity and --stats from the input files. slicing: null without slices. All arguments must
  /// outlive the object.
  /// Throws UsageError, InputError.
  Cataloguing(const Input& input, const io::FilePoints& points, const Slicing* slicing);

  /// Returns the catalogue. result: has labels, and the mask if core points are known, in input order.
  /// Catalog::first_core becomes an input row, counted over all files including dropped rows. Throws as
  /// epsflow::catalog().
  [[nodiscard]] Catalog catalog(const VariantResult& result) const;
  /// Returns the same catalogue as a table, with the column names and units of the input.
  [[nodiscard]] Table table(const VariantResult& result) const;
  /// Returns the writer of the files catalog/… of a results folder. The writer must not outlive the object. extension:
  /// of a table (io::kTableFormats), such as ".csv". add: adds columns to each table; null for none.
  [[nodiscard]] io::VariantWriter writer(const std::string& extension, std::function<void(Table&)> add = nullptr) const;

 private:
  const io::FilePoints& points_;
  const Metric& metric_;
  const Slicing* slicing_;
  Words names_;                               ///< the columns of --velocity, then of --stats
  std::size_t velocities_ = 0;                ///< the number of columns of --velocity, whose means are weighted
  std::vector<std::vector<double>> columns_;  ///< in the order of the slices, as the weights are
  std::vector<double> weights_;
  std::vector<std::int64_t> rows_;  ///< [n] the input row of each point; empty if rows are point numbers
};

}  // namespace epsflow::cli
