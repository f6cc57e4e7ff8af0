// What is in the way of results: a run must neither write over what is not its own, nor to somewhere else.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <epsflow/core/error.hpp>
#include <epsflow/core/sweep.hpp>
#include <epsflow/io/results/results_manifest.hpp>
#include <epsflow/io/results/results_names.hpp>

namespace epsflow::io {

/// What is there, and is not epsflow's to replace, or not without being told.
class InTheWay : public UsageError {
 public:
  using UsageError::UsageError;
};

/// `folder` without slashes at its end. Throws UsageError for an empty name, InTheWay for something that is no folder.
[[nodiscard]] std::filesystem::path require_folder(std::filesystem::path folder);

/// Throws InTheWay where a folder of ours is a link, or no folder: it would lead our files, and what we remove, to
/// somewhere else.
void require_no_links(const std::filesystem::path& folder);

/// Throws InTheWay for a file that has the name of one to be written, and is not of `state`.
void require_no_strangers(const std::filesystem::path& folder, const Manifest& state, const std::vector<Variant>& asked,
                          const FolderOutputs& outputs);

/// Throws UsageError for one of `outputs.inputs` among the files of results, which would replace it.
void require_no_inputs(const std::filesystem::path& folder, const Manifest& state, const FolderOutputs& outputs);

}  // namespace epsflow::io
