#include <epsflow/io/results/save_results.hpp>

#include <algorithm>
#include <nlohmann/json.hpp>

#include <epsflow/core/error.hpp>
#include <epsflow/io/results/results_files.hpp>

namespace epsflow::io {
namespace {

/// Throws InputError if read_manifest() would refuse the results, so that no unreadable folder is written.
void require_readable(const HeldResults& results) {
  try {
    for (const HeldVariant& held : results.variants) require_possible(held.entry, results.input);
  } catch (const InputError& e) {
    throw InputError(std::string("the results are those of no clustering, or are damaged: ") + e.what() +
                     "; make them again");
  }
}

/// Writes everything except the manifest into `replacement`. Returns the manifest.
Manifest write_files(const std::filesystem::path& folder, const std::filesystem::path& replacement,
                     const HeldResults& results, const CancelToken& cancel) {
  Manifest manifest;
  std::vector<std::filesystem::path> files;
  const auto write = [&](const std::string& name, const NpyArray& array) {
    cancel.check();
    files.push_back(replacement / name);
    make_folder(files.back().parent_path(), folder / name);
    manifest.files[name] = write_array(files.back(), folder / name, array);
  };
  double seconds = 0;
  for (const auto& [entry, labels, core] : results.variants) {
    write(labels_name(entry.variant), npy_labels(labels));
    if (!core.empty()) write(core_name(entry.variant), npy_mask(core));
    manifest.entries.insert_or_assign(entry.variant, entry);
    seconds += entry.seconds;
  }
  if (!results.rows.empty()) write(kRowsName, npy_rows(results.rows));
  make_durable(files);
  manifest.input = results.input;
  manifest.checksum = nlohmann::ordered_json::parse(results.input).at("checksum");
  manifest.runs.push_back(describe_run(results.run, now_utc(), "complete", seconds, {}));
  return manifest;
}

}  // namespace

void save_results(const std::filesystem::path& folder, const HeldResults& results, Overwrite overwrite,
                  const Notice& notice, const CancelToken& cancel) {
  if (results.variants.empty()) throw UsageError("there are no variants to save");
  require_readable(results);
  const std::filesystem::path path = require_folder(folder);
  const FolderLock lock(path, path / ".epsflow", notice);
  if (const std::optional<JournalContents> left = recover(path)) {
    throw UsageError(path.string() + " holds a run that was killed or interrupted; " +
                     (left->state.of_hierarchies() ? "" : "go on with it by FolderMode::resume, or ") +
                     "choose another folder");
  }
  const Manifest old = read_manifest(path);
  if (overwrite == Overwrite::refuse && !old.runs.empty()) {
    throw InTheWay(path.string() +
                   " holds results already; replace them with Overwrite::replace, or choose another folder");
  }
  std::vector<Variant> variants;
  for (const HeldVariant& held : results.variants) variants.push_back(held.entry.variant);
  const bool core = std::ranges::any_of(results.variants, [](const HeldVariant& held) { return !held.core.empty(); });
  FolderOutputs outputs;
  if (core) outputs.wanted[kCoreFolder] = ".npy";
  require_no_strangers(path, old, variants, outputs);
  const std::filesystem::path replacement = path / ".epsflow/replacement";
  try {
    clear_hidden(path);  // files of an earlier save that was killed before it was complete
    const Manifest manifest = write_files(path, replacement, results, cancel);
    save_manifest(replacement, manifest);
    cancel.check();
    const Journal complete(path / ".epsflow/journal", manifest, true, true);
  } catch (...) {
    clear_hidden(path);
    throw;
  }
  static_cast<void>(recover(path));
}

}  // namespace epsflow::io
