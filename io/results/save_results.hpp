// Results that somebody has, as a results folder at once.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include <epsflow/core/cancel.hpp>
#include <epsflow/io/results/folder_lock.hpp>
#include <epsflow/io/results/results_manifest.hpp>
#include <epsflow/io/write/atomic_file.hpp>

namespace epsflow::io {

/// One variant in memory that somebody else owns.
struct HeldVariant {
  SweepEntry entry;
  std::span<const std::int32_t> labels;  ///< [n]
  std::span<const std::uint8_t> core;    ///< [n] 1 for core points, else 0; empty where it is not known
};

struct HeldResults {
  std::vector<HeldVariant> variants;
  std::string input;                   ///< as describe_input() gives it
  RunDescription run;                  ///< whose metric is in the input already
  std::span<const std::int64_t> rows;  ///< [n] the input row of each point; empty where they are 0 to n − 1
};

/// Writes a folder that ResultsFolder goes on with. Everything is written aside and takes its place when it is complete; where
/// that fails or is cancelled the folder is as it was. Throws FolderLocked, InTheWay for results that are there and not to be
/// replaced and for files of others, UsageError for a run there that was killed or interrupted and for no variants,
/// InputError for counts that are those of no clustering of the points, ResourceError, Cancelled. O(bytes).
void save_results(const std::filesystem::path& folder, const HeldResults& results, Overwrite overwrite,
                  const Notice& notice = {}, const CancelToken& cancel = {});

}  // namespace epsflow::io
