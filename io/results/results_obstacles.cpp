#include <epsflow/io/results/results_obstacles.hpp>

#include <algorithm>
#include <system_error>
#include <unordered_set>

namespace epsflow::io {

std::filesystem::path require_folder(std::filesystem::path folder) {
  if (folder.empty())
    throw UsageError("the name of the results folder is empty; give the folder that is to be written");
  while (!folder.has_filename() && folder.has_relative_path()) folder = folder.parent_path();  // "results/"
  std::error_code code;
  const std::filesystem::file_status status = std::filesystem::status(folder, code);
  if (std::filesystem::exists(status) && !std::filesystem::is_directory(status)) {
    throw InTheWay(folder.string() + " is no folder; move it away, or choose another folder");
  }
  return folder;
}

void require_no_links(const std::filesystem::path& folder) {
  std::error_code code;
  const auto require_own = [&](std::string_view name) {
    const std::filesystem::file_status status = std::filesystem::symlink_status(folder / name, code);
    if (!std::filesystem::exists(status) || std::filesystem::is_directory(status)) return;
    throw InTheWay((folder / name).string() + " is no folder of its own; move it away, or choose another folder");
  };
  require_own(".epsflow");
  for (const ResultsOutput& output : kResultsOutputs) {
    if (output.scope == OutputScope::each_variant) require_own(output.name);
  }
}

void require_no_strangers(const std::filesystem::path& folder, const Manifest& state, const std::vector<Variant>& asked,
                          const FolderOutputs& outputs) {
  const auto refuse = [&](const std::string& name) {
    throw InTheWay((folder / name).string() +
                   " was not written by epsflow, and is in the way; move it away, or choose another folder");
  };
  std::error_code code;
  for (const ResultsOutput& output : kResultsOutputs) {
    if (output.scope == OutputScope::each_variant || output.name == kManifestName) continue;
    if (output.scope == OutputScope::all_variants && !outputs.wants(output.name)) continue;
    const std::string name(output.name);
    if (state.owns(name)) continue;
    if (std::filesystem::exists(std::filesystem::symlink_status(folder / name, code))) refuse(name);
  }
  for (const auto& [name, extension] : outputs.wanted) {
    std::unordered_set<std::string> there;
    for (const auto& entry : std::filesystem::directory_iterator(folder / name, code)) {
      there.insert(name + "/" + entry.path().filename().string());
    }
    if (there.empty()) continue;
    for (const Variant& variant : asked) {
      const std::string file = variant_file(name, variant, extension);
      if (!state.owns(file) && there.contains(file)) refuse(file);
    }
  }
}

void require_no_inputs(const std::filesystem::path& folder, const Manifest& state, const FolderOutputs& outputs) {
  // These are common names, and seldom written.
  const auto spared = [&](const std::string& name) {
    const ResultsOutput* const output = find_output(name);
    if (output == nullptr || output->scope != OutputScope::all_variants) return false;
    return !state.owns(name) && !outputs.wants(name);
  };
  std::error_code code;
  const std::filesystem::path canonical = std::filesystem::weakly_canonical(folder, code);
  for (const std::filesystem::path& input : outputs.inputs) {
    const std::filesystem::path file = std::filesystem::weakly_canonical(input, code);
    const std::string name = file.lexically_relative(canonical).string();
    if (!is_results_name(name) || spared(name)) continue;
    throw UsageError("the input " + input.string() + " lies in " + folder.string() +
                     " where results are written; copy it to another place, or choose another folder");
  }
}

}  // namespace epsflow::io
