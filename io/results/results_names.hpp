// The names of files in a results folder. Outside .epsflow, the folder for files of an active run, epsflow writes and
// removes only files with these names.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <epsflow/core/sweep.hpp>

namespace epsflow::io {

inline constexpr const char* kSummaryName = "summary.csv";
inline constexpr const char* kManifestName = "sweep.json";
inline constexpr const char* kTraceName = "trace.json";
inline constexpr const char* kHdf5Name = "sweep.h5";
inline constexpr const char* kMapName = "map.csv";
inline constexpr const char* kLineageName = "lineage.npz";
inline constexpr const char* kExploreName = "explore.json";
// Labels whose clusters were each found at an eps of their own, so no variant has them: the labels that `explore`
// recommends, and the ones that it offers instead.
inline constexpr const char* kRecommendedName = "recommended.npy";
inline constexpr const char* kAlternativeName = "alternative.npy";
inline constexpr const char* kSlicesName = "slices.csv";
inline constexpr const char* kRowsName = "rows.npy";
inline constexpr const char* kHierarchyName = "hierarchy.npz";

/// Folders for the files of variants.
inline constexpr const char* kLabelsFolder = "labels";
inline constexpr const char* kCoreFolder = "core";
inline constexpr const char* kLabelledFolder = "labelled";
inline constexpr const char* kCatalogFolder = "catalog";
inline constexpr const char* kProbabilitiesFolder = "probabilities";
inline constexpr const char* kOutlierScoresFolder = "outlier_scores";

/// How many files an output has, and whether new variants make them outdated.
enum class OutputScope : std::uint8_t {
  each_variant,  ///< a folder that holds a file for each variant
  all_variants,  ///< one file about all variants together, which is outdated once a variant is added
  folder,        ///< one file about the folder or its points
};

/// One kind of output of a results folder. Lists of words are separated by blanks.
struct ResultsOutput {
  std::string_view name;  ///< name of the folder or the file
  OutputScope scope;
  std::string_view extensions;   ///< possible extensions of files in the folder; empty if the output is one file
  std::string_view commands;     ///< commands that write it
  std::string_view options;      ///< options that request it; empty if none is needed. `explore` never needs one
  bool of_labels = false;        ///< its options are refused with `--keep summary`, which keeps only counts
  bool of_points = false;        ///< its options are refused if the input is a table of neighbours
  bool of_one_data_set = false;  ///< its options are refused with `--by`, `--by-file` and `--method each`
  bool of_one_process = false;   ///< its options are refused if mpirun or another launcher starts several processes
  bool copy = false;  ///< a VariantWriter writes it. The value of its option is the extension if there are several
};

/// Every output of a results folder. From this table follow the files that epsflow writes, replaces and removes, the
/// names at which it refuses files of other programs, and the options that it refuses together. Labels are the first.
inline constexpr std::array<ResultsOutput, 18> kResultsOutputs = [] {
  using enum OutputScope;
  constexpr std::string_view kAll = "sweep explore hdbscan";
  constexpr std::string_view kLabelling = "sweep hdbscan";
  constexpr std::string_view kTables = ".csv .fits .h5 .parquet";
  // Columns: name, scope, extensions, commands, options; of labels, of points, of one data set, of one process, copy.
  return std::array<ResultsOutput, 18>{{
      {kLabelsFolder, each_variant, ".npy", kAll, ""},
      {kCoreFolder, each_variant, ".npy", "sweep", "core"},
      {kLabelledFolder, each_variant, kTables, kLabelling, "labelled", true, true, false, true, true},
      {kCatalogFolder, each_variant, kTables, kLabelling, "catalog", true, true, false, true, true},
      {kProbabilitiesFolder, each_variant, ".npy", "hdbscan", "", false, false, false, false, true},
      {kOutlierScoresFolder, each_variant, ".npy", "hdbscan", "outlier-scores", false, false, false, false, true},
      {kSummaryName, folder, "", kAll, ""},
      {kManifestName, folder, "", kAll, ""},
      {kTraceName, folder, "", kAll, ""},
      {kRowsName, folder, "", kAll, ""},
      {kHdf5Name, folder, "", "sweep", "hdf5", true},
      {kMapName, all_variants, "", "explore", ""},
      {kLineageName, all_variants, "", "sweep explore", "lineage report", false, true, true},
      {kExploreName, all_variants, "", "explore", ""},
      {kRecommendedName, all_variants, "", "explore", ""},
      {kAlternativeName, all_variants, "", "explore", ""},
      {kHierarchyName, all_variants, "", "hdbscan", ""},
      {kSlicesName, all_variants, "", "sweep", "by by-file", false, true, false, true},
  }};
}();

/// Calls take(word) for each word of `text`, in order. Exactly one blank separates two words.
template <class Take>
void for_each_word(std::string_view text, Take take) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    take(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}
/// Returns true if `word` is one of the words of `text`.
[[nodiscard]] bool has_word(std::string_view text, std::string_view word);

/// Returns the row of kResultsOutputs with this name, or null.
[[nodiscard]] const ResultsOutput* find_output(std::string_view name) noexcept;

/// Returns the path of a file in the results folder: for kLabelsFolder and ".npy" "labels/eps_0.1_minpts_4.npy", or,
/// for a variant with min_cluster_size, "labels/minpts_4_size_15.npy".
[[nodiscard]] std::string variant_file(std::string_view folder, const Variant& variant, std::string_view extension);
/// Return the path of the labels and of the core mask of a variant, in the results folder.
[[nodiscard]] std::string labels_name(const Variant& variant);
[[nodiscard]] std::string core_name(const Variant& variant);

/// The outputs of a results folder, and files that must stay as they are.
struct FolderOutputs {
  /// The requested outputs: ResultsOutput::name, and the extension of the files (".csv"), which is empty for a single
  /// file. Without kLabelsFolder no labels are written. summary.csv, sweep.json, trace.json and, if
  /// PointsOrigin::renumbered(), rows.npy are written even if they are not listed.
  std::map<std::string, std::string, std::less<>> wanted = {{kLabelsFolder, ".npy"}};
  std::vector<std::filesystem::path> inputs = {};  ///< files that must stay as they are
  bool resumable = true;                           ///< a later run can complete this one if it is interrupted

  [[nodiscard]] bool wants(std::string_view name) const { return wanted.contains(name); }
};

/// Returns the path in the results folder of every requested file of a variant, in the order of kResultsOutputs.
[[nodiscard]] std::vector<std::string> variant_files(const Variant& variant, const FolderOutputs& outputs);

/// Returns the path below .epsflow at which a file is written before it gets its name: for "labels/a.npy"
/// "partial/labels-a.npy". name: the path of the file in the results folder.
[[nodiscard]] std::string partial_name(std::string name);

/// Returns true if `name` is the name of a file in kResultsOutputs, or a path that variant_file() returns for one of
/// its folders. Such a path is relative and has no "..", so it stays in the results folder. Does not read the disk.
[[nodiscard]] bool is_results_name(std::string_view name);

}  // namespace epsflow::io
