// What a results folder says of itself: summary.csv lists the variants with their label files, sweep.json the other files,
// the input and the runs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <epsflow/core/points.hpp>
#include <epsflow/io/checksum.hpp>
#include <epsflow/io/results/sweep_entry.hpp>

namespace epsflow::io {

/// By eps, then minpts.
struct VariantOrder {
  bool operator()(const Variant& a, const Variant& b) const noexcept {
    return a.eps < b.eps || (a.eps == b.eps && a.minpts < b.minpts);
  }
};
using Entries = std::map<Variant, SweepEntry, VariantOrder>;

/// What a caller knows of a run.
struct RunDescription {
  std::string version = {};
  std::string metric = {};  ///< describe(Metric): what the labels of a folder have in common
  std::vector<std::pair<std::string, std::string>> options = {};  ///< name, value, as given
  std::vector<std::pair<std::string, std::string>> machine = {};  ///< name, value
};

/// What sweep.json holds. Input and runs stay JSON, as nothing but people reads them.
struct Manifest {
  std::string checksum = {};           ///< of the input: checksum_of()
  std::string input = {};              ///< JSON
  std::vector<std::string> runs = {};  ///< JSON, the last being the last
  /// Every file but summary.csv, sweep.json and the label files, by name.
  std::map<std::string, FileDigest, std::less<>> files = {};
  std::map<std::string, std::string> labelled = {};  ///< LabelledCopy::contents() by extension
};

/// The run of JSON text with another status.
[[nodiscard]] std::string with_status(const std::string& run, const std::string& status);
[[nodiscard]] std::string status_of(const std::string& run);

/// The input as JSON.
[[nodiscard]] std::string describe_input(const Points& points, const std::string& checksum);
/// A run as JSON. `reason` may be empty.
[[nodiscard]] std::string describe_run(const RunDescription& run, const std::string& started, const std::string& status,
                                       double seconds, const std::string& reason);
/// The text of sweep.json; `files`: whether to list them.
[[nodiscard]] std::string manifest_json(const Manifest& manifest, std::size_t variants, bool files = true);

/// What `folder`/sweep.json says, or nothing where there is none. Throws UsageError where it is not epsflow's, or names
/// files that epsflow never writes.
[[nodiscard]] std::optional<Manifest> read_manifest(const std::filesystem::path& folder);
/// Whether an earlier run was asked for sweep.h5.
[[nodiscard]] bool asked_for_hdf5(const Manifest& manifest);

/// The text of summary.csv.
[[nodiscard]] std::string summary_csv(const Entries& entries);
/// One row, without the line end, and back. Throws InputError for what summary_row() does not give.
[[nodiscard]] std::string summary_row(const SweepEntry& entry);
[[nodiscard]] SweepEntry parse_summary_row(const std::string& row);
/// What `folder`/summary.csv lists; nothing where there is none. Throws UsageError for a line that epsflow did not write.
[[nodiscard]] Entries read_summary(const std::filesystem::path& folder);

/// The time, as in 2026-11-20T08:15:00Z.
[[nodiscard]] std::string now_utc();

}  // namespace epsflow::io
