// The names of files in a results folder: epsflow writes and removes these and no others.
#pragma once

#include <filesystem>
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
inline constexpr const char* kSlicesName = "slices.csv";
inline constexpr const char* kRowsName = "rows.npy";

/// Folders for the files of variants.
inline constexpr const char* kLabelsFolder = "labels";
inline constexpr const char* kCoreFolder = "core";
inline constexpr const char* kLabelledFolder = "labelled";
inline constexpr const char* kCatalogFolder = "catalog";

/// "labels/eps_0.1_minpts_4.npy" for kLabelsFolder and ".npy".
[[nodiscard]] std::string variant_file(std::string_view folder, const Variant& variant, std::string_view extension);
[[nodiscard]] std::string labels_name(const Variant& variant);
[[nodiscard]] std::string core_name(const Variant& variant);
/// What a folder is to hold beside the counts of its variants, and what it must not touch.
struct FolderOutputs {
  bool labels = true;  ///< labels/….npy; without them the counts of the variants alone are kept
  bool hdf5 = false;   ///< sweep.h5, with everything in one file
  bool core = false;   ///< core/….npy, a mask of core points per variant
  /// Extension of labelled/…, copies of the input with labels per variant, as ".csv"; empty for none.
  std::string labelled = {};
  std::string catalog = {};  ///< that of catalog/…, the clusters of each variant; empty for none
  /// Files that say more of the variants together (is_of_all_variants()).
  std::vector<std::string> more = {};
  std::vector<std::filesystem::path> inputs = {};  ///< files that must stay as they are
  bool resumable = true;  ///< whether who asks for it can be told to go on with FolderMode::resume
};

/// Every file of a variant, the labels first where it has some.
[[nodiscard]] std::vector<std::string> variant_files(const Variant& variant, const FolderOutputs& outputs);

/// Where in .epsflow a file is written before it takes its place.
[[nodiscard]] std::string partial_name(std::string name);

/// Whether `name` is that of a file about all variants together: kMapName, kLineageName, kExploreName, kSlicesName.
[[nodiscard]] bool is_of_all_variants(std::string_view name) noexcept;

/// Whether `name` is one that epsflow gives: one of the fixed names, or of a variant in one of the folders. So it neither
/// is absolute nor leads anywhere else.
[[nodiscard]] bool is_results_name(std::string_view name);

}  // namespace epsflow::io
