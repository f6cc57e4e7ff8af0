// The description of a results folder. sweep.json lists its variants, its files, the input and the runs. summary.csv is
// made from it for people, and is never read. The journal lists finished work that sweep.json may not list yet.
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

#include <epsflow/core/labels.hpp>
#include <epsflow/io/checksum.hpp>
#include <epsflow/io/file_points.hpp>
#include <epsflow/io/write/atomic_file.hpp>

namespace epsflow::io {

/// One variant on the disk.
struct SweepEntry {
  Variant variant;
  LabelSummary summary;
  double seconds = 0;
  bool has_labels = true;  ///< false if only the counts of the variant were kept
  double persistence = 0;  ///< mean persistence of the clusters; only if Variant::min_cluster_size is given
};

using Entries = std::map<Variant, SweepEntry, VariantOrder>;

/// The description of a run by its caller.
struct RunDescription {
  std::string version = {};
  std::string metric = {};  ///< describe(Metric), the same for all labels of a folder
  std::vector<std::pair<std::string, std::string>> options = {};  ///< name, value, as given
  std::vector<std::pair<std::string, std::string>> machine = {};  ///< name, value
};

/// Files of results, by name.
using Files = std::map<std::string, FileDigest, std::less<>>;

/// The contents of sweep.json. Input and runs are kept as JSON text, because epsflow itself reads few of their values.
struct Manifest {
  /// Identifies everything that labels depend on, except the variant: checksum_of_input(), or a text of the Python
  /// package in the same form.
  std::string checksum = {};
  std::string input = {};              ///< JSON
  std::vector<std::string> runs = {};  ///< JSON, oldest first; empty without sweep.json
  Entries entries = {};                ///< finished variants; if has_labels, `files` has its label file
  Files files = {};                    ///< all files except summary.csv and sweep.json
  /// Folder and extension map to the VariantWriter::contents of their files.
  std::map<std::string, std::map<std::string, std::string>> contents = {};

  /// Returns true if epsflow wrote this file of the folder, or was about to do so.
  [[nodiscard]] bool owns(const std::string& name) const;
  /// Returns true if the variants have a min_cluster_size in place of eps. A folder has one kind of variants.
  [[nodiscard]] bool of_hierarchies() const { return !entries.empty() && entries.begin()->first.min_cluster_size > 0; }
  /// Returns true if an earlier run requested sweep.h5.
  [[nodiscard]] bool asked_for_hdf5() const;
  /// Marks the last run as killed if its status is "running".
  void end_running();
  /// Adds the finished work of a killed run.
  void merge(const Manifest& journal);
};

/// The input of results. The points themselves may be anywhere.
struct ResultsInput {
  PointsOrigin origin = {};
  std::uint64_t points = 0;
  std::size_t dims = 0;
  Precision precision = Precision::float64;
  std::string checksum = {};  ///< checksum_of() the points, or of a table of their neighbours
  std::string weights = {};   ///< checksum_of() the weights; empty if there are none
  std::string slices = {};    ///< identifies the slices of the points; empty if they are one data set
};

/// Describes the input of results. O(n·d).
[[nodiscard]] ResultsInput results_input(const FilePoints& points);

/// Returns the checksums of the points and of their weights, the metric and the slices, if there are any:
/// "crc32:9ae0daaf" or "crc32:9ae0daaf weights crc32:4f1b22c0, cosine, weighted". metric: describe(Metric), which is
/// empty for euclidean.
[[nodiscard]] std::string checksum_of_input(const ResultsInput& input, std::string_view metric);
[[nodiscard]] inline std::string checksum_of_input(const FilePoints& points, std::string_view metric) {
  return checksum_of_input(results_input(points), metric);
}
/// Throws InputError if the folder holds results of hierarchies, which have no eps.
void require_sweep(const std::filesystem::path& folder, const Manifest& manifest);
/// Returns a checksum_of_input() without the part of the weights.
[[nodiscard]] std::string without_weights(const std::string& checksum);
/// Returns ResultsInput::slices of the results. Empty if they are one data set.
[[nodiscard]] std::string slices_of(const Manifest& manifest);
/// Describes how the input of the results differs from one with another `checksum`: "another metric (cosine, not
/// euclidean)".
[[nodiscard]] std::string describe_difference(const Manifest& manifest, const std::string& checksum);

/// Returns the input as JSON.
[[nodiscard]] std::string describe_input(const ResultsInput& input, const std::string& checksum);
/// Returns a run as JSON. `reason` may be empty.
[[nodiscard]] std::string describe_run(const RunDescription& run, const std::string& started, const std::string& status,
                                       double seconds, const std::string& reason);
/// Throws InputError if a number of `entry` is impossible for the points of `input`, or if `input` has values that
/// describe_input() never writes.
void require_possible(const SweepEntry& entry, std::string_view input);

/// Returns the text of sweep.json, without the lists of variants and files if `listed` is false. The manifest must have
/// a run.
[[nodiscard]] std::string manifest_json(const Manifest& manifest, bool listed = true);
/// Writes sweep.json and summary.csv. The last run of the manifest is the current one. Throws ResourceError.
void save_manifest(const std::filesystem::path& folder, const Manifest& manifest);
/// Reads `folder`/sweep.json. Returns an empty manifest if the file is missing. Throws UsageError if epsflow did not
/// write it, if it is damaged, or if it lists files that epsflow never writes; ResourceError if it is not readable.
[[nodiscard]] Manifest read_manifest(const std::filesystem::path& folder);
/// Writes summary.csv. Throws ResourceError.
void save_summary(const std::filesystem::path& folder, const Manifest& manifest);

/// The contents of a journal. A torn line, and everything after it, is ignored.
struct JournalContents {
  bool replaces = false;   ///< the run's results will replace those that the folder holds
  bool committed = false;  ///< the run's results are complete, and are about to replace the old ones
  Manifest state = {};     ///< the run and its finished work
};

/// Reads a journal. Returns nullopt if the file is missing or its first line is torn.
[[nodiscard]] std::optional<JournalContents> read_journal(const std::filesystem::path& file);

/// Writes a journal. Finished work is on the disk here before its files get their names, so that a run that is killed
/// at any moment can be resumed. Each line is an event with a checksum of its own. Lines that are added are in memory
/// until sync(). Not thread-safe.
class Journal {
 public:
  /// Begins a new journal, with the input and the last run of `state`. JournalContents explains the two flags.
  /// Throws ResourceError.
  Journal(const std::filesystem::path& file, const Manifest& state, bool replaces, bool committed = false);

  void add(const std::string& name, const FileDigest& digest);
  /// Adds a variant. Call it after its files are added.
  void add(const SweepEntry& entry);
  void add_commit() { add_line("commit"); }
  /// Waits until everything added so far is on the disk. Throws ResourceError.
  void sync();

 private:
  void add_line(const std::string& event);

  std::string pending_;
  FileStream stream_;
};

/// Returns the time, as in 2026-11-20T08:15:00Z.
[[nodiscard]] std::string now_utc();

}  // namespace epsflow::io
