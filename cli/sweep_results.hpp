// What a sweep does with its results folder, whether one process makes it or several.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <epsflow/cli/arguments.hpp>
#include <epsflow/core/metric.hpp>
#include <epsflow/io/file_points.hpp>
#include <epsflow/io/results/results_folder.hpp>
#include <epsflow/io/results/results_names.hpp>
#include <epsflow/pipeline/options.hpp>

namespace epsflow::cli {

/// --resume, --overwrite, or neither. Throws UsageError for both.
[[nodiscard]] io::FolderMode folder_mode(const Arguments& arguments);

/// The options that ask for outputs of the results folder which have this property.
[[nodiscard]] Words options_of_outputs(bool io::ResultsOutput::*property);
/// The options that ask for outputs of the results folder.
[[nodiscard]] Words options_of_outputs();

/// What the options ask the results folder to hold, by kResultsOutputs. Inputs are those of inputs_of(). Throws UsageError if this build
/// does not write a format that is asked for.
[[nodiscard]] io::FolderOutputs folder_outputs(const Arguments& arguments);

/// Throws UsageError for options that need labels where none are kept, and as check_options() does.
void check_kept(const Arguments& arguments, const RunOptions& run);

/// Those that the folder holds and those that are missing, by eps, then minpts.
[[nodiscard]] std::vector<Variant> all_variants(const io::ResultsFolder& folder, const std::vector<Variant>& missing);
/// Whether all variants of the folder are to be clustered together, as their clusters are to be tied to each other; those that are there are
/// not made again otherwise. An exploration has a lineage of its own.
[[nodiscard]] bool lineage_is_missing(const io::ResultsFolder& folder, const std::vector<Variant>& missing);

/// What a sweep was of.
struct Swept {
  const io::PointsOrigin& origin;
  std::uint64_t points;
  const Metric* metric;  ///< null where the input was a table of neighbours
  std::size_t variants;  ///< those that were made
  bool labels = true;
};

/// Prints what the folder holds after finish(): a table and where its files are, or JSON with --json, or nothing with --quiet. Of a sweep that
/// was interrupted it says how to go on. status: that of finish().
void print_sweep(const io::ResultsFolder& folder, const Swept& swept, const Arguments& arguments,
                 std::string_view status, double seconds);

}  // namespace epsflow::cli
