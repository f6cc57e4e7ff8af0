// Writes results in memory as a results folder at once.
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

/// One variant in memory that the caller owns.
struct HeldVariant {
  SweepEntry entry;
  std::span<const std::int32_t> labels;  ///< [n]
  std::span<const std::uint8_t> core;    ///< [n] 1 for core points, else 0; empty if it is not known
};

struct HeldResults {
  std::vector<HeldVariant> variants;
  std::string input;                   ///< as describe_input() gives it
  RunDescription run;                  ///< whose metric is in the input already
  std::span<const std::int64_t> rows;  ///< [n] the input row of each point; empty if they are 0 to n − 1
};

/// Writes a folder that ResultsFolder can resume. Everything is written aside and takes its place once it is complete.
/// If that fails or is cancelled, the folder is as it was. Throws FolderLocked; InTheWay for existing results that must
/// not be replaced, and for files that epsflow did not write; UsageError for a run there that was killed or
/// interrupted, and for no variants; InputError for counts that are impossible for the points; ResourceError;
/// Cancelled. O(bytes).
void save_results(const std::filesystem::path& folder, const HeldResults& results, Overwrite overwrite,
                  const Notice& notice = {}, const CancelToken& cancel = {});

}  // namespace epsflow::io
