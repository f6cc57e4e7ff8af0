#include <epsflow/io/results/results_names.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include <epsflow/core/format.hpp>

namespace epsflow::io {
namespace {

/// The variant of a file's name without folder and extension, "eps_0.1_minpts_4"; what else it may be is for the caller.
std::optional<Variant> variant_of(std::string_view stem) {
  constexpr std::string_view kEps = "eps_";
  constexpr std::string_view kMinpts = "_minpts_";
  const std::size_t middle = stem.find(kMinpts);
  if (!stem.starts_with(kEps) || middle == std::string_view::npos) return std::nullopt;
  Variant variant;
  const char* const end = stem.data() + stem.size();
  const auto eps = std::from_chars(stem.data() + kEps.size(), stem.data() + middle, variant.eps);
  const auto minpts = std::from_chars(stem.data() + middle + kMinpts.size(), end, variant.minpts);
  if (eps.ec != std::errc{} || minpts.ec != std::errc{}) return std::nullopt;
  if (!(variant.eps > 0) || variant.minpts == 0) return std::nullopt;
  return variant;
}

}  // namespace

std::string variant_file(std::string_view folder, const Variant& variant, std::string_view extension) {
  std::string name(folder);
  name += "/eps_" + format_number(variant.eps) + "_minpts_" + std::to_string(variant.minpts);
  return name += extension;
}

std::string labels_name(const Variant& variant) { return variant_file(kLabelsFolder, variant, ".npy"); }
std::string core_name(const Variant& variant) { return variant_file(kCoreFolder, variant, ".npy"); }

std::vector<std::string> variant_files(const Variant& variant, const FolderOutputs& outputs) {
  std::vector<std::string> files;
  if (outputs.labels) files.push_back(labels_name(variant));
  if (outputs.core) files.push_back(core_name(variant));
  if (!outputs.labelled.empty()) files.push_back(variant_file(kLabelledFolder, variant, outputs.labelled));
  if (!outputs.catalog.empty()) files.push_back(variant_file(kCatalogFolder, variant, outputs.catalog));
  return files;
}

std::string partial_name(std::string name) {
  std::replace(name.begin(), name.end(), '/', '-');
  return "partial/" + name;
}

bool is_of_all_variants(std::string_view name) noexcept {
  return name == kMapName || name == kLineageName || name == kExploreName || name == kSlicesName;
}

bool is_results_name(std::string_view name) {
  static constexpr std::array<std::string_view, 5> kFixed{kSummaryName, kManifestName, kTraceName, kHdf5Name,
                                                          kRowsName};
  if (is_of_all_variants(name) || std::find(kFixed.begin(), kFixed.end(), name) != kFixed.end()) return true;
  const std::size_t slash = name.find('/');
  const std::size_t dot = name.rfind('.');
  if (slash == std::string_view::npos || dot == std::string_view::npos || dot < slash) return false;
  const std::string_view folder = name.substr(0, slash);
  const std::string_view extension = name.substr(dot);
  static constexpr std::array<std::string_view, 6> kTables{".csv", ".fits", ".h5", ".parquet", ".geojson", ".vtp"};
  const bool known = folder == kLabelledFolder || folder == kCatalogFolder
                         ? std::find(kTables.begin(), kTables.end(), extension) != kTables.end()
                         : (folder == kLabelsFolder || folder == kCoreFolder) && extension == ".npy";
  const std::optional<Variant> variant = variant_of(name.substr(slash + 1, dot - slash - 1));
  return known && variant && variant_file(folder, *variant, extension) == name;
}

}  // namespace epsflow::io
