// The catalogues of clusters that commands write.
#pragma once

#include <epsflow/catalog/catalog.hpp>
#include <epsflow/cli/slicing.hpp>
#include <epsflow/io/write_labels.hpp>

namespace epsflow::cli {

/// Returns --stats, for commands that have --catalog.
[[nodiscard]] OptionSpec stats_option();

/// Makes the catalogue of a result: weighted by --weight, with the columns of --velocity and --stats.
class Cataloguing {
 public:
  /// Reads the columns. slicing: null if there are no slices. All must outlive it. Throws UsageError, InputError.
  Cataloguing(const Input& input, const io::FilePoints& points, const Slicing* slicing);

  /// Makes the catalogue. result: with labels and mask, in the order of the input. Catalog::first_core are rows of the
  /// input: dropped ones, and those of files before, are counted.
  [[nodiscard]] Catalog catalog(const VariantResult& result) const;
  [[nodiscard]] Table table(const VariantResult& result) const;
  /// Writes catalog/… of a results folder.
  [[nodiscard]] io::VariantWriter writer(const std::string& extension) const;

 private:
  const io::FilePoints& points_;
  const Metric& metric_;
  const Slicing* slicing_;
  Words names_;                               ///< of --velocity and --stats
  std::size_t velocities_ = 0;                ///< how many of them are of --velocity: their means are weighted
  std::vector<std::vector<double>> columns_;  ///< in the order of the slices, as the weights
  std::vector<double> weights_;
  std::vector<std::int64_t> rows_;  ///< [n] the input row of each point, if it is not the point's number
};

}  // namespace epsflow::cli
