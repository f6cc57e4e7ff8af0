// Reads labels and masks of core points from files and results folders.
#pragma once

#include <epsflow/cli/arguments.hpp>
#include <epsflow/core/labels.hpp>
#include <epsflow/core/sweep.hpp>
#include <epsflow/io/read_points.hpp>
#include <epsflow/io/results/results_manifest.hpp>

namespace epsflow::cli {

/// The whole numbers that a column of a file may contain.
struct WholeNumbers {
  std::string_view what;  ///< the plural name of the numbers
  std::string_view one;   ///< the name of one number
  double least = 0;
  double most = 0;
  std::string_view advice = {};   ///< the advice for a file with other contents
  std::string_view columns = {};  ///< accepted names of the column among several, in lower case, separated by blanks
};
inline constexpr WholeNumbers kLabelNumbers{"labels",
                                            "label",
                                            kNoise,
                                            std::numeric_limits<std::int32_t>::max(),
                                            "labels are clusters from 0 on or -1 for noise",
                                            "label labels"};
/// The label of a point in no group, in the numbering of SWIFT.
inline constexpr std::int32_t kNoGroup = std::numeric_limits<std::int32_t>::max();
/// Masks of core points.
inline constexpr WholeNumbers kMaskNumbers{
    "mask of core points", "entry", 0, 1, "it is 1 for core points, else 0", "core"};

/// The labels or the mask of a file. A row may have no number: a labelled copy of the input leaves the label of a row
/// empty if the row was dropped when the points were read.
struct FileColumn {
  std::vector<std::int32_t> values;    ///< the numbers of the rows that have one, in order
  std::vector<std::uint64_t> missing;  ///< the rows without a number, ascending

  [[nodiscard]] std::uint64_t rows() const noexcept { return values.size() + missing.size(); }
};

/// Reads the column that WholeNumbers::columns names, or the only column, unless options.columns names another. Numbers
/// may be missing only in a file that has several columns. If `numbers` are kLabelNumbers, the numbers of points in no
/// group become noise: kNoGroup; 0 in a file that is marked as groups (io::is_marked_as_groups()); and every −0, which
/// CSV files of groups contain in place of 0. The numbers of groups, from 1, stay as they are. Throws InputError for
/// invalid numbers, for missing numbers in a file of one column, and for several columns without an accepted name.
[[nodiscard]] FileColumn read_file_column(const std::filesystem::path& file, const WholeNumbers& numbers,
                                          io::ReadOptions options = {});
/// Returns the number of each point: [n]. If the file has a row for every input row, dropped rows included, points take
/// the number of their row; otherwise numbers are taken in order. Throws InputError as read_file_column(), if there are
/// more or fewer numbers, or if a point has none.
[[nodiscard]] std::vector<std::int32_t> read_for_points(const std::filesystem::path& file, const WholeNumbers& numbers,
                                                        const io::FilePoints& points);

/// Returns the manifest of a results folder. Throws InputError if the folder has no results, or results of several
/// slices, or of hierarchies unless these are allowed; UsageError as io::read_manifest().
[[nodiscard]] io::Manifest read_results(const std::filesystem::path& folder, bool hierarchies = false);

/// Returns the variant of the folder with this minpts and (up to a part in 10^9) this eps; null if there is none.
[[nodiscard]] const io::SweepEntry* find_variant(const io::Manifest& manifest, const Variant& variant);
/// Returns the variant of the folder, as find_variant(). Throws InputError if there is none.
[[nodiscard]] const io::SweepEntry& require_variant(const std::filesystem::path& folder, const io::Manifest& manifest,
                                                    const Variant& variant);

/// Throws InputError for a variant that was stored without labels.
void require_labels(const std::filesystem::path& folder, const io::SweepEntry& entry);
/// Returns the path of a file of results. Throws InputError if it is missing or has changed since it was written.
std::filesystem::path require_unchanged(const std::filesystem::path& folder, const io::Manifest& manifest,
                                        const std::string& name);

/// Returns the variants of all --cell options, in their order. Throws UsageError as parse_variants().
[[nodiscard]] std::vector<Variant> parse_cells(const Arguments& arguments);

}  // namespace epsflow::cli
