#include <epsflow/io/results/results_kept.hpp>

#include <algorithm>
#include <cmath>
#include <system_error>
#include <unordered_set>
#include <utility>

#include <epsflow/core/format.hpp>
#include <epsflow/io/results/results_names.hpp>
#include <epsflow/io/write/npy_writer.hpp>

namespace epsflow::io {

bool KeptResults::is_sound(const std::string& name, const FileDigest& digest) const {
  if (digest_of(base / name) == digest) return true;
  if (digest_of(hidden / partial_name(name)) != digest) return false;
  std::error_code code;
  std::filesystem::create_directories((base / name).parent_path(), code);
  std::filesystem::rename(hidden / partial_name(name), base / name, code);
  return !code;
}

void KeptResults::remove_file(const std::string& name) {
  if (state.files.erase(name) == 0) return;
  std::error_code ignored;
  std::filesystem::remove(base / name, ignored);
  if (const auto folder = std::filesystem::path(name).parent_path(); !folder.empty()) {
    std::filesystem::remove(base / folder, ignored);  // it stays if it holds other files
  }
}

void KeptResults::drop_unsound(std::uint64_t points) {
  const std::uint64_t bytes = npy_vector_header("<i4", points).size() + points * sizeof(std::int32_t);
  std::vector<std::string> changed;
  for (const auto& [name, digest] : state.files) {
    const ResultsOutput* const output = find_output(name.substr(0, name.find('/')));
    if (output == nullptr || output->scope == OutputScope::folder) continue;
    const bool fits = output->name != kLabelsFolder || digest.bytes == bytes;
    if (!fits || !is_sound(name, digest)) changed.push_back(name);
  }
  for (const std::string& name : changed) {
    if (notice) {
      notice((base / name).string() +
             " is missing or has changed since it was written: it is made again where it is asked for");
    }
    remove_file(name);
  }
  std::erase_if(state.entries,
                [&](const auto& entry) { return entry.second.has_labels && !state.owns(labels_name(entry.first)); });
}

void KeptResults::drop_unasked() {
  Entries kept;
  std::unordered_set<std::string> wanted;
  for (const Variant& variant : asked) {
    if (auto node = state.entries.extract(variant); !node.empty()) kept.insert(std::move(node));
    for (std::string& file : variant_files(variant, outputs)) wanted.insert(std::move(file));
  }
  state.entries = std::move(kept);
  std::vector<std::string> unwanted;
  for (const auto& [name, digest] : state.files) {
    if (!wanted.contains(name)) unwanted.push_back(name);
  }
  for (const std::string& name : unwanted) remove_file(name);
  for (auto& [variant, entry] : state.entries) entry.has_labels = state.owns(labels_name(variant));
}

void KeptResults::drop_outdated(const VariantWriter& writer) {
  std::string& contents = state.contents[writer.folder][writer.extension];
  if (contents == writer.contents) return;
  contents = writer.contents;
  std::vector<std::string> outdated;
  for (const auto& [name, digest] : state.files) {
    if (name.starts_with(writer.folder + "/") && name.ends_with(writer.extension)) outdated.push_back(name);
  }
  for (const std::string& name : outdated) remove_file(name);
  if (outdated.empty() || !notice) return;
  notice(format_count(outdated.size(), "file") + " in " + (base / writer.folder).string() +
         " were made of other columns, or of the input as it was before: they are made again where their variants are "
         "asked for");
}

/// The nearest of `others` with the same minpts, where it is near enough; else the variant itself.
Variant KeptResults::held(const Variant& variant, const Entries& others) const {
  constexpr double kNear = 1e-9;
  Variant nearest = variant;
  double distance = kNear * variant.eps;
  const auto end = others.upper_bound({variant.eps + distance, variant.minpts});
  for (auto at = others.lower_bound({variant.eps - distance, variant.minpts}); at != end; ++at) {
    const double away = std::abs(at->first.eps - variant.eps);
    if (at->first.minpts != variant.minpts || away > distance) continue;
    nearest = at->first;
    distance = away;
  }
  if (nearest != variant && notice) {
    notice((base / labels_name(nearest)).string() + " is taken for eps " + format_number(variant.eps) +
           ", which differs by less than a billionth");
  }
  return nearest;
}

std::vector<Variant> KeptResults::missing() const {
  Entries others = state.entries;
  for (const Variant& variant : asked) others.erase(variant);
  std::vector<Variant> missing;
  for (const Variant& wanted : asked) {
    const Variant variant = state.entries.contains(wanted) ? wanted : held(wanted, others);
    const std::vector<std::string> files = variant_files(variant, outputs);
    const bool whole = state.entries.contains(variant) &&
                       std::all_of(files.begin(), files.end(), [&](const std::string& f) { return state.owns(f); });
    if (!whole) missing.push_back(variant);
  }
  return missing;
}

}  // namespace epsflow::io
