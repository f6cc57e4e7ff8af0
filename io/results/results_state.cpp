#include <epsflow/io/results/results_state.hpp>

#include <array>
#include <cerrno>
#include <cstdio>

#include <unistd.h>

#include <epsflow/core/error.hpp>
#include <epsflow/io/results/results_names.hpp>

namespace epsflow::io {
namespace {

constexpr std::array kVariantFolders{kLabelsFolder, kCoreFolder, kLabelledFolder};

/// Everything but sweep.json, which stands for the whole and so goes and comes last.
std::vector<std::string> names_of(const ResultsState& state) {
  std::vector<std::string> names;
  for (const auto& [variant, entry] : state.entries) names.push_back(labels_name(variant));
  for (const auto& [name, digest] : state.manifest.files) names.push_back(name);
  names.emplace_back(kSummaryName);
  return names;
}

void remove_name(const std::filesystem::path& file) {
  // unlink() rather than remove(), which takes folders as well.
  if (unlink(file.c_str()) != 0 && errno != ENOENT && errno != ENOTDIR) {
    const int error = errno;
    throw ResourceError("cannot remove " + file.string() + ": " + std::generic_category().message(error) +
                        "; get the right to do so, or choose another folder");
  }
}

void move_up(const std::filesystem::path& replacement, const std::filesystem::path& folder, const std::string& name) {
  const std::filesystem::path target = folder / name;
  if (rename((replacement / name).c_str(), target.c_str()) == 0) return;
  // A repeated call: this file has been moved.
  if (errno != ENOENT || !std::filesystem::exists(target)) throw_cannot_write(target, errno);
}

void sync_folders(const std::filesystem::path& folder) {
  std::error_code code;
  for (const char* name : kVariantFolders) {
    if (std::filesystem::exists(folder / name, code)) sync_path(folder / name);
  }
  sync_path(folder);
}

}  // namespace

bool ResultsState::owns(const std::string& name) const {
  if (name == kSummaryName || name == kManifestName) return !manifest.runs.empty();
  return manifest.files.contains(name);
}

void ResultsState::merge(const JournalContents& journal) {
  if (manifest.checksum.empty()) {
    manifest.checksum = journal.checksum;
    manifest.input = journal.input;
  }
  if (manifest.runs.empty() || status_of(manifest.runs.back()) != "running") manifest.runs.push_back(journal.run);
  for (const SweepEntry& entry : journal.entries) entries.insert_or_assign(entry.variant, entry);
  for (const auto& [name, digest] : journal.files) manifest.files[name] = digest;
}

ResultsState read_state(const std::filesystem::path& folder) {
  std::optional<Manifest> manifest = read_manifest(folder);
  if (!manifest) return {};
  return {std::move(*manifest), read_summary(folder)};
}

void save_state(const std::filesystem::path& folder, const ResultsState& state) {
  write_text_file(folder / kManifestName, manifest_json(state.manifest, state.entries.size()));
  write_text_file(folder / kSummaryName, summary_csv(state.entries));
}

void remove_results(const std::filesystem::path& folder, const ResultsState& state) {
  for (const std::string& name : names_of(state)) remove_name(folder / name);
  for (const char* name : kVariantFolders) rmdir((folder / name).c_str());  // those that hold files of others stay
  sync_path(folder);
  remove_name(folder / kManifestName);
}

void take_place(const std::filesystem::path& replacement, const std::filesystem::path& folder) {
  // Once sweep.json has moved, which is the last step, there is nothing left to do.
  if (!std::filesystem::exists(replacement / kManifestName)) return;
  const ResultsState next = read_state(replacement);
  // The old results go first: while their sweep.json is there none of the new ones has moved.
  if (std::filesystem::exists(folder / kManifestName)) remove_results(folder, read_state(folder));
  std::error_code code;
  for (const char* name : kVariantFolders) {
    if (!std::filesystem::exists(replacement / name, code)) continue;
    std::filesystem::create_directories(folder / name, code);
    if (code) throw_cannot_write(folder / name, code.value());
  }
  for (const std::string& name : names_of(next)) move_up(replacement, folder, name);
  sync_folders(folder);
  move_up(replacement, folder, kManifestName);
  sync_path(folder);
}

}  // namespace epsflow::io
