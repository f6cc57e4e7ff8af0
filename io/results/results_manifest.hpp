// What a results folder says of itself: sweep.json lists its variants, its files, the input and the runs. summary.csv is
// made of it for people, and read only where a folder of before has its variants nowhere else.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <epsflow/io/checksum.hpp>
#include <epsflow/io/file_points.hpp>
#include <epsflow/io/results/sweep_entry.hpp>

namespace epsflow::io {

/// What a caller knows of a run.
struct RunDescription {
  std::string version = {};
  std::string metric = {};  ///< describe(Metric): what the labels of a folder have in common
  std::vector<std::pair<std::string, std::string>> options = {};  ///< name, value, as given
  std::vector<std::pair<std::string, std::string>> machine = {};  ///< name, value
};

/// Files of results, by name.
using Files = std::map<std::string, FileDigest, std::less<>>;

/// What sweep.json holds. Input and runs stay JSON, as nothing but people reads them.
struct Manifest {
  std::string checksum = {};                         ///< of the input, checksum_of(), and behind a comma the metric
  std::string input = {};                            ///< JSON
  std::vector<std::string> runs = {};                ///< JSON, the last being the last; without any, nothing is there
  Entries entries = {};                              ///< each with its labels among the files
  Files files = {};                                  ///< every one but summary.csv and sweep.json
  std::map<std::string, std::string> labelled = {};  ///< LabelledCopy::contents() by extension
  bool unchecked = false;  ///< checksums were made of the files as they are, since version 0.1.0 wrote none

  /// Whether epsflow wrote this file of the folder, or was about to.
  [[nodiscard]] bool owns(const std::string& name) const;
};

/// The run of JSON text with another status.
[[nodiscard]] std::string with_status(const std::string& run, const std::string& status);
[[nodiscard]] std::string status_of(const std::string& run);

/// The input as JSON.
[[nodiscard]] std::string describe_input(const FilePoints& points, const std::string& checksum);
/// A run as JSON. `reason` may be empty.
[[nodiscard]] std::string describe_run(const RunDescription& run, const std::string& started, const std::string& status,
                                       double seconds, const std::string& reason);
/// The text of sweep.json; `listed`: whether to list variants and files.
[[nodiscard]] std::string manifest_json(const Manifest& manifest, bool listed = true);

/// What `folder`/sweep.json says; empty where there is none. Of a folder of an older version summary.csv is read, too.
/// Throws UsageError where one is not epsflow's, or names files that epsflow never writes.
[[nodiscard]] Manifest read_manifest(const std::filesystem::path& folder);
/// Whether an earlier run was asked for sweep.h5.
[[nodiscard]] bool asked_for_hdf5(const Manifest& manifest);

/// The text of summary.csv.
[[nodiscard]] std::string summary_csv(const Manifest& manifest);

/// A row of it: a variant with the checksum of its labels, which version 0.1.0 left out.
struct SummaryRow {
  SweepEntry entry;
  std::optional<std::uint32_t> crc32;
};
/// Without the line end, and back. Throws InputError for what summary_row() does not give.
[[nodiscard]] std::string summary_row(const SummaryRow& row);
[[nodiscard]] SummaryRow parse_summary_row(const std::string& text);

/// The time, as in 2026-11-20T08:15:00Z.
[[nodiscard]] std::string now_utc();

}  // namespace epsflow::io
