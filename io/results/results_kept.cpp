#include <epsflow/io/results/results_kept.hpp>

#include <algorithm>
#include <optional>
#include <system_error>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

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
  if (state.manifest.files.erase(name) == 0 && !name.starts_with(kLabelsFolder)) return;
  std::error_code ignored;
  std::filesystem::remove(base / name, ignored);
}

void KeptResults::drop_unsound(std::uint64_t points) {
  const auto say = [&](const std::string& name, const char* what) {
    if (notice) notice((base / name).string() + " " + what);
  };
  const std::uint64_t bytes = npy_labels(std::vector<std::int32_t>(points)).bytes();
  bool unchecked = false;
  for (auto at = state.entries.begin(); at != state.entries.end();) {
    const std::string name = labels_name(at->first);
    SweepEntry& entry = at->second;
    if (!entry.crc32) {  // of a version that had no checksums: the size has to do
      const std::optional<FileDigest> found = digest_of(base / name);
      if (found && found->bytes == bytes) entry.crc32 = found->crc32;
      unchecked = true;
    }
    if (entry.crc32 && is_sound(name, {bytes, *entry.crc32})) {
      ++at;
      continue;
    }
    say(name, "is missing or has changed since it was written: it is made again where its variant is asked for");
    remove_file(name);
    at = state.entries.erase(at);
  }
  if (unchecked) say(kSummaryName, "has no checksums, as of version 0.1.0: label files were told by their sizes alone");
  std::vector<std::string> changed;
  for (const auto& [name, digest] : state.manifest.files) {
    if (name.find('/') != std::string::npos && !is_sound(name, digest)) changed.push_back(name);
  }
  for (const std::string& name : changed) {
    say(name, "is missing or has changed since it was written: it is made again where it is asked for");
    remove_file(name);
  }
}

void KeptResults::drop_unasked() {
  Entries kept;
  for (const Variant& variant : asked) {
    if (auto node = state.entries.extract(variant); !node.empty()) kept.insert(std::move(node));
  }
  for (const auto& [variant, entry] : state.entries) remove_file(labels_name(variant));
  state.entries = std::move(kept);
  std::unordered_set<std::string> wanted;
  for (const Variant& variant : asked) {
    for (std::string& file : variant_files(variant, outputs.core, outputs.labelled)) wanted.insert(std::move(file));
  }
  std::vector<std::string> unwanted;
  for (const auto& [name, digest] : state.manifest.files) {
    if (!wanted.contains(name)) unwanted.push_back(name);
  }
  for (const std::string& name : unwanted) remove_file(name);
}

void KeptResults::drop_outdated_copies(const LabelledCopy& copy) {
  std::string& contents = state.manifest.labelled[outputs.labelled];
  if (contents == copy.contents()) return;
  contents = copy.contents();
  std::vector<std::string> outdated;
  for (const auto& [name, digest] : state.manifest.files) {
    if (name.starts_with(std::string(kLabelledFolder) + "/") && name.ends_with(outputs.labelled)) {
      outdated.push_back(name);
    }
  }
  for (const std::string& name : outdated) remove_file(name);
  if (outdated.empty() || !notice) return;
  notice(
      fmt::format("{} in {} were made of other columns, or of the input as it was before: they are made again where "
                  "their variants are asked for",
                  format_count(outdated.size(), "file"), (base / kLabelledFolder).string()));
}

std::vector<Variant> KeptResults::missing() const {
  std::vector<Variant> missing;
  for (const Variant& variant : asked) {
    const std::vector<std::string> files = variant_files(variant, outputs.core, outputs.labelled);
    const bool whole = state.entries.contains(variant) &&
                       std::all_of(files.begin() + 1, files.end(), [&](const std::string& f) { return state.owns(f); });
    if (!whole) missing.push_back(variant);
  }
  return missing;
}

}  // namespace epsflow::io
