// What a results folder says of itself: sweep.json lists its variants, its files, the input and the runs. summary.csv is made of
// it for people, and never read.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <epsflow/io/checksum.hpp>
#include <epsflow/io/file_points.hpp>
#include <epsflow/io/results/sweep_entry.hpp>

namespace epsflow::io {

/// What a caller knows of a run.
struct RunDescription {
  std::string version = {};
  std::string metric = {};  ///< describe(Metric). All labels of a folder have the same.
  std::vector<std::pair<std::string, std::string>> options = {};  ///< name, value, as given
  std::vector<std::pair<std::string, std::string>> machine = {};  ///< name, value
};

/// Files of results, by name.
using Files = std::map<std::string, FileDigest, std::less<>>;

/// What sweep.json holds. Input and runs are kept as JSON text, because epsflow itself reads little of them: status_of() and
/// asked_for_hdf5().
struct Manifest {
  /// What labels depend on besides the variant: checksum_of_input(), or what the Python package writes in the same words.
  std::string checksum = {};
  std::string input = {};              ///< JSON
  std::vector<std::string> runs = {};  ///< JSON, oldest first; empty: there is no sweep.json
  Entries entries = {};                ///< finished variants; `files` has the label file of each
  Files files = {};                    ///< every one but summary.csv and sweep.json
  /// VariantWriter::contents of the files beside labels, by folder and extension.
  std::map<std::string, std::map<std::string, std::string>> contents = {};

  /// Whether epsflow wrote this file of the folder, or was about to.
  [[nodiscard]] bool owns(const std::string& name) const;
};

/// `run`, which is JSON, with its status replaced.
[[nodiscard]] std::string with_status(const std::string& run, const std::string& status);
[[nodiscard]] std::string status_of(const std::string& run);

/// What results are of, as they tell it. The points themselves may be anywhere.
struct ResultsInput {
  PointsOrigin origin = {};
  std::uint64_t points = 0;
  std::size_t dims = 0;
  Precision precision = Precision::float64;
  std::string checksum = {};  ///< checksum_of() the points, or of a table of their neighbours
  std::string weights = {};   ///< checksum_of() their weights; empty where there are none
  std::string slices = {};    ///< what tells the slices that they are in from others; empty where they are one data set
};

/// O(n·d).
[[nodiscard]] ResultsInput results_input(const FilePoints& points);

/// Checksums of the points and of their weights, and the metric, where these are not the usual ones: "crc32:9ae0daaf" or
/// "crc32:9ae0daaf weights crc32:4f1b22c0, cosine, weighted".
[[nodiscard]] std::string checksum_of_input(const ResultsInput& input, std::string_view metric);
[[nodiscard]] inline std::string checksum_of_input(const FilePoints& points, std::string_view metric) {
  return checksum_of_input(results_input(points), metric);
}
/// ResultsInput::slices of the results; empty where they are of one data set.
[[nodiscard]] std::string slices_of(const Manifest& manifest);

/// A checksum_of_input() as it would be if the points had no weights.
[[nodiscard]] std::string without_weights(const std::string& checksum);

/// The input as JSON.
[[nodiscard]] std::string describe_input(const ResultsInput& input, const std::string& checksum);
/// How many points such an input has; nothing if it does not tell. Throws InputError for JSON with other numbers than describe_input()
/// writes.
[[nodiscard]] std::optional<std::uint64_t> points_of(std::string_view input);
/// What the results are of and a run with this other `checksum` is not, in words: "another metric (cosine, not euclidean)".
[[nodiscard]] std::string describe_difference(const Manifest& manifest, const std::string& checksum);
/// A run as JSON. `reason` may be empty.
[[nodiscard]] std::string describe_run(const RunDescription& run, const std::string& started, const std::string& status,
                                       double seconds, const std::string& reason);
/// Throws InputError for JSON that describe_run() does not write.
void require_run(std::string_view run);
/// The text of sweep.json; `listed`: whether to list variants and files.
[[nodiscard]] std::string manifest_json(const Manifest& manifest, bool listed = true);

/// What `folder`/sweep.json says; an empty manifest if there is no such file. Throws UsageError where epsflow did not write it, or
/// where it names files that epsflow never writes.
[[nodiscard]] Manifest read_manifest(const std::filesystem::path& folder);
/// Whether an earlier run was asked for sweep.h5.
[[nodiscard]] bool asked_for_hdf5(const Manifest& manifest);

/// The text of summary.csv.
[[nodiscard]] std::string summary_csv(const Manifest& manifest);

/// A variant, or a file of results, as a line of JSON, and what such a line says. parse_variant() and parse_file() throw
/// InputError for a line that epsflow does not write, and for counts that are not those of so many points, if it is known how many.
[[nodiscard]] std::string variant_json(const SweepEntry& entry);
[[nodiscard]] std::string file_json(const std::string& name, const FileDigest& digest);
[[nodiscard]] SweepEntry parse_variant(std::string_view line, std::optional<std::uint64_t> points);
[[nodiscard]] std::pair<std::string, FileDigest> parse_file(std::string_view line);

/// The time, as in 2026-11-20T08:15:00Z.
[[nodiscard]] std::string now_utc();

}  // namespace epsflow::io
