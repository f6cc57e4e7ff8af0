// Labels and masks that this program wrote, in files and in results folders.
#pragma once

#include <epsflow/cli/arguments.hpp>
#include <epsflow/core/labels.hpp>
#include <epsflow/core/sweep.hpp>
#include <epsflow/io/read_points.hpp>
#include <epsflow/io/results/results_manifest.hpp>

namespace epsflow::cli {

/// What the one column of a file holds.
struct WholeNumbers {
  std::string_view what;  ///< in words
  std::string_view one;   ///< of them
  double least = 0;
  double most = 0;
  std::string_view advice = {};   ///< for a file that holds something else
  std::string_view columns = {};  ///< what the column is called in lower case if there are several, separated by blanks
};
inline constexpr WholeNumbers kLabelNumbers{"labels",
                                            "label",
                                            kNoise,
                                            std::numeric_limits<std::int32_t>::max(),
                                            "labels are clusters from 0 on or -1 for noise",
                                            "label labels"};
/// The label of a point in no group, in the numbering of SWIFT.
inline constexpr std::int32_t kNoGroup = std::numeric_limits<std::int32_t>::max();
inline constexpr WholeNumbers kMaskNumbers{
    "mask of core points", "entry", 0, 1, "it is 1 for core points, else 0", "core"};

/// Reads a file of such numbers, one for each point. Throws InputError for one that is missing, NaN, no whole number or
/// not in the range, and for more than one column.
[[nodiscard]] std::vector<std::int32_t> read_numbers(const std::filesystem::path& file, const WholeNumbers& numbers,
                                                     io::ReadOptions options = {});

/// The labels or the mask of a file. Some rows may lack a number: in a labelled copy, those that were dropped.
struct FileColumn {
  std::vector<std::int32_t> values;    ///< of the rows that have one, in their order
  std::vector<std::uint64_t> missing;  ///< the rows that have none, ascending

  [[nodiscard]] std::uint64_t rows() const noexcept { return values.size() + missing.size(); }
};

/// Reads the column that WholeNumbers::columns names, or the only one, unless options.columns names another. Numbers
/// are missing only in a file that has other columns, too. Of labels, numbers of groups become labels: 0 is noise in a
/// file that is marked so (io::is_marked_as_groups()) and if it has a sign, and 2147483647 in any. Throws InputError as
/// read_numbers().
[[nodiscard]] FileColumn read_file_column(const std::filesystem::path& file, const WholeNumbers& numbers,
                                          io::ReadOptions options = {});
/// Returns the numbers of these points that a file has. [n] If it has one row for each row of the input, also for those
/// that were dropped, points take theirs by row; else they take them one after the other. Throws InputError as
/// read_file_column(), if there are more or fewer numbers, or if a point has none.
[[nodiscard]] std::vector<std::int32_t> read_for_points(const std::filesystem::path& file, const WholeNumbers& numbers,
                                                        const io::FilePoints& points);

/// Returns what a results folder says of itself. Throws InputError if it holds no results, UsageError as
/// io::read_manifest().
[[nodiscard]] io::Manifest read_results(const std::filesystem::path& folder);

/// Returns the variant that the folder holds, with an eps that differs from the one asked for by no more than rounding
/// (a part in 10^9); null if there is none.
[[nodiscard]] const io::SweepEntry* find_variant(const io::Manifest& manifest, const Variant& variant);
/// Returns the same. Throws InputError if there is none.
[[nodiscard]] const io::SweepEntry& require_variant(const std::filesystem::path& folder, const io::Manifest& manifest,
                                                    const Variant& variant);

/// Throws InputError for a variant whose counts alone were kept.
void require_labels(const std::filesystem::path& folder, const io::SweepEntry& entry);
/// Returns the path of a file of results. Throws InputError if it is not what it was when it was written.
std::filesystem::path require_unchanged(const std::filesystem::path& folder, const io::Manifest& manifest,
                                        const std::string& name);

/// Returns the variants that --cell names.
[[nodiscard]] std::vector<Variant> parse_cells(const Arguments& arguments);

}  // namespace epsflow::cli
