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
  for (const char* name : {".epsflow", kLabelsFolder, kCoreFolder, kLabelledFolder}) {
    const std::filesystem::file_status status = std::filesystem::symlink_status(folder / name, code);
    if (!std::filesystem::exists(status) || std::filesystem::is_directory(status)) continue;
    throw InTheWay((folder / name).string() + " is no folder of its own; move it away, or choose another folder");
  }
}

void require_no_strangers(const std::filesystem::path& folder, const Manifest& state, const std::vector<Variant>& asked,
                          const FolderOutputs& outputs) {
  const auto refuse = [&](const std::string& name) {
    throw InTheWay((folder / name).string() +
                   " was not written by epsflow, and is in the way; move it away, or choose another folder");
  };
  std::error_code code;
  std::vector<std::string> names{kSummaryName, kTraceName, kHdf5Name, kRowsName};
  names.insert(names.end(), outputs.more.begin(), outputs.more.end());
  for (const std::string& name : names) {
    if (state.owns(name)) continue;
    if (std::filesystem::exists(std::filesystem::symlink_status(folder / name, code))) refuse(name);
  }
  for (const char* name : {kLabelsFolder, kCoreFolder, kLabelledFolder}) {
    std::unordered_set<std::string> there;
    for (const auto& entry : std::filesystem::directory_iterator(folder / name, code)) {
      there.insert(std::string(name) + "/" + entry.path().filename().string());
    }
    if (there.empty()) continue;
    for (const Variant& variant : asked) {
      for (const std::string& file : variant_files(variant, outputs)) {
        if (!state.owns(file) && there.contains(file)) refuse(file);
      }
    }
  }
}

void require_no_inputs(const std::filesystem::path& folder, const Manifest& state, const FolderOutputs& outputs) {
  // These are common names, and seldom written.
  const auto spared = [&](const std::string& name) {
    if (!is_of_all_variants(name)) return false;
    return !state.owns(name) && std::ranges::find(outputs.more, name) == outputs.more.end();
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
