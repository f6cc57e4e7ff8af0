// What results in a folder consist of, as files: reading, saving, removing them, and letting a replacement take their place.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <epsflow/io/results/results_journal.hpp>
#include <epsflow/io/results/results_manifest.hpp>

namespace epsflow::io {

struct ResultsState {
  Manifest manifest;
  Entries entries;

  /// Whether epsflow wrote this file of the folder, or was about to; label files are in `entries`.
  [[nodiscard]] bool owns(const std::string& name) const;
  /// Takes in what a run left that was killed.
  void merge(const JournalContents& journal);
};

/// What `folder` says; empty where there is no sweep.json. Throws UsageError for one that epsflow did not write.
[[nodiscard]] ResultsState read_state(const std::filesystem::path& folder);

/// Writes sweep.json and summary.csv. The last of the runs is this one. Throws ResourceError.
void save_state(const std::filesystem::path& folder, const ResultsState& state);

/// Removes every file that the state names, summary.csv and sweep.json last, and folders that are empty then. May be
/// repeated. Throws ResourceError.
void remove_results(const std::filesystem::path& folder, const ResultsState& state);

/// Moves the complete results of `replacement` into the place of those of `folder`. May be repeated after it was killed.
/// Throws ResourceError.
void take_place(const std::filesystem::path& replacement, const std::filesystem::path& folder);

}  // namespace epsflow::io
