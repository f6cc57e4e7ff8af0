// Writes results in memory as a results folder.
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

/// A view of one variant in memory.
struct HeldVariant {
  SweepEntry entry;
  std::span<const std::int32_t> labels;  ///< [n]
  std::span<const std::uint8_t> core;    ///< [n] 1 for core points, else 0; empty if it is not known
};

struct HeldResults {
  std::vector<HeldVariant> variants;
  std::string input;                   ///< result of describe_input()
  RunDescription run;                  ///< its metric is not used, because `input` contains the metric
  std::span<const std::int64_t> rows;  ///< [n] the input row of each point; empty if they are 0 to n − 1
};

/// Writes a folder that ResultsFolder can resume if its variants have an eps. Results are written to a hidden folder
/// first, and get their names once they are complete. If it fails or is cancelled before that, the folder is unchanged.
/// If it fails while files get their names, the next save_results() or ResultsFolder completes this. Throws
/// FolderLocked; InTheWay for existing results that must not be replaced, and if a file that epsflow did not write has
/// the name of the folder or of an output; UsageError for an empty list of variants, and if the folder has a killed or
/// interrupted run, or a sweep.json that is damaged or that epsflow did not write; InputError if a number of a
/// SweepEntry is impossible for the number of points that `input` states; ResourceError; Cancelled. O(bytes).
void save_results(const std::filesystem::path& folder, const HeldResults& results, Overwrite overwrite,
                  const Notice& notice = {}, const CancelToken& cancel = {});

}  // namespace epsflow::io
