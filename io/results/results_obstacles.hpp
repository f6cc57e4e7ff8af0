// What is in the way of results: a run must neither write over what is not its own, nor to somewhere else.
#pragma once

#include <filesystem>
#include <vector>

#include <epsflow/core/sweep.hpp>
#include <epsflow/io/results/results_folder.hpp>
#include <epsflow/io/results/results_state.hpp>

namespace epsflow::io {

/// `folder` without slashes at its end. Throws UsageError for an empty name, and for something that is no folder.
[[nodiscard]] std::filesystem::path require_folder(std::filesystem::path folder);

/// Throws UsageError where a folder of ours is a link, or no folder: it would lead our files, and what we remove, to
/// somewhere else.
void require_no_links(const std::filesystem::path& folder);

/// Throws UsageError for a file that has the name of one to be written, and is not of `state`.
void require_no_strangers(const std::filesystem::path& folder, const ResultsState& state,
                          const std::vector<Variant>& asked, const FolderOutputs& outputs);

/// Throws UsageError for an input among the files of results, which would replace it.
void require_no_inputs(const std::filesystem::path& folder, const std::vector<std::filesystem::path>& inputs);

}  // namespace epsflow::io
