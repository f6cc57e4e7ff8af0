// What a results folder says of itself: sweep.json lists its variants, its files, the input and the runs. summary.csv is made of
// it for people. It is read only in folders of older versions, whose sweep.json does not list the variants.
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
  /// describe(Metric), followed by "weighted" if the points have weights. All labels of a folder have the same.
  std::string metric = {};
  std::vector<std::pair<std::string, std::string>> options = {};  ///< name, value, as given
  std::vector<std::pair<std::string, std::string>> machine = {};  ///< name, value
};

/// Files of results, by name.
using Files = std::map<std::string, FileDigest, std::less<>>;

/// What sweep.json holds. Input and runs are kept as JSON text, because epsflow itself reads little of them: status_of() and
/// asked_for_hdf5().
struct Manifest {
  /// checksum_of() the input and, where it is not empty, RunDescription::metric: "crc32:9ae0daaf, cosine".
  std::string checksum = {};
  std::string input = {};                            ///< JSON
  std::vector<std::string> runs = {};                ///< JSON, oldest first; empty: there is no sweep.json
  Entries entries = {};                              ///< finished variants; `files` has the label file of each
  Files files = {};                                  ///< every one but summary.csv and sweep.json
  std::map<std::string, std::string> labelled = {};  ///< LabelledCopy::contents() of the copies, by extension
  /// Version 0.1.0 wrote no checksums. Those in `files` were then made from the files as they are, so only their sizes can be
  /// checked.
  bool unchecked = false;

  /// Whether epsflow wrote this file of the folder, or was about to.
  [[nodiscard]] bool owns(const std::string& name) const;
};

/// `run`, which is JSON, with its status replaced.
[[nodiscard]] std::string with_status(const std::string& run, const std::string& status);
[[nodiscard]] std::string status_of(const std::string& run);

/// The input as JSON.
[[nodiscard]] std::string describe_input(const FilePoints& points, const std::string& checksum);
/// A run as JSON. `reason` may be empty.
[[nodiscard]] std::string describe_run(const RunDescription& run, const std::string& started, const std::string& status,
                                       double seconds, const std::string& reason);
/// The text of sweep.json; `listed`: whether to list variants and files.
[[nodiscard]] std::string manifest_json(const Manifest& manifest, bool listed = true);

/// What `folder`/sweep.json says; an empty manifest if there is no such file. In a folder of an older version, whose sweep.json
/// does not list the variants, this reads summary.csv, too. Throws UsageError where epsflow did not write one of the two files, or
/// where one of them names files that epsflow never writes.
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
/// The row as text, without the line end.
[[nodiscard]] std::string summary_row(const SummaryRow& row);
/// The row that such a text stands for. Throws InputError for a text that summary_row() does not give.
[[nodiscard]] SummaryRow parse_summary_row(const std::string& text);

/// The time, as in 2026-11-20T08:15:00Z.
[[nodiscard]] std::string now_utc();

}  // namespace epsflow::io
