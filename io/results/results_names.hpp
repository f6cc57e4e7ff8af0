// The names of files in a results folder. epsflow writes and removes these and no others.
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
// Labels of clusters that have an eps each: of the recommendation, and of an alternative.
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

/// The number and life of the files of an output.
enum class OutputScope : std::uint8_t {
  each_variant,  ///< a folder that holds a file for each variant
  all_variants,  ///< one file about all variants together, which is outdated once a variant is added
  folder,        ///< one file about the folder or its points
};

/// One kind of output of a results folder. Lists of words are separated by blanks.
struct ResultsOutput {
  std::string_view name;  ///< name of the folder or the file
  OutputScope scope;
  std::string_view extensions;   ///< possible extensions of files in the folder; empty for a file
  std::string_view commands;     ///< commands that write it
  std::string_view options;      ///< options that request it; empty if none is needed. `explore` writes it without
  bool of_labels = false;        ///< it cannot be made from counts alone
  bool of_points = false;        ///< it cannot be made from a table of neighbours
  bool of_one_data_set = false;  ///< it cannot be made from slices
  bool of_one_process = false;   ///< several processes of a launcher do not write it
  bool copy = false;             ///< a VariantWriter writes it; if it has several extensions, the option names one
};

/// Every output of a results folder. This table decides which files are written, replaced, removed, protected from
/// other writers and refused together. Labels come first: a variant that has labels is finished.
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

/// Calls take(word) for each word of `text`. One blank separates two words.
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
/// Return the paths of the labels and of the core mask of a variant, in the results folder.
[[nodiscard]] std::string labels_name(const Variant& variant);
[[nodiscard]] std::string core_name(const Variant& variant);

/// The outputs of a results folder, and files that must stay as they are.
struct FolderOutputs {
  /// Names of kResultsOutputs with the extension of their files (".csv"), which is empty for a single file. Without
  /// kLabelsFolder only counts are kept. summary.csv, sweep.json, trace.json and, if PointsOrigin::renumbered(),
  /// rows.npy are always written.
  std::map<std::string, std::string, std::less<>> wanted = {{kLabelsFolder, ".npy"}};
  std::vector<std::filesystem::path> inputs = {};  ///< files that must stay as they are
  bool resumable = true;                           ///< a later run can complete what this one leaves

  [[nodiscard]] bool wants(std::string_view name) const { return wanted.contains(name); }
};

/// Returns the path in the results folder of every file of a variant, the labels first if it has labels.
[[nodiscard]] std::vector<std::string> variant_files(const Variant& variant, const FolderOutputs& outputs);

/// Returns the path, in the folder .epsflow, at which a file is written before it gets its name. name: the path of the
/// file in the results folder.
[[nodiscard]] std::string partial_name(std::string name);

/// Returns true if epsflow uses this name in a results folder: the name of a file in kResultsOutputs, or the path of a
/// variant's file in one of its folders. Such a name is not absolute and does not lead to another folder.
[[nodiscard]] bool is_results_name(std::string_view name);

}  // namespace epsflow::io
