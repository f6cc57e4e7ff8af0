// The results folder of a sweep: labels, summary.csv, sweep.json, trace.json. Every file appears whole or not at all,
// and what is finished stays valid whatever happens to the rest.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <epsflow/core/labels.hpp>
#include <epsflow/core/points.hpp>
#include <epsflow/core/trace.hpp>
#include <epsflow/io/hdf5_writer.hpp>

namespace epsflow::io {

/// What a results folder says of its input and its run; becomes sweep.json.
struct RunDescription {
  std::vector<std::string> inputs;  ///< files, as named by the caller
  std::string checksum;             ///< of the coordinates: checksum_of()
  std::uint64_t points = 0;
  std::size_t dims = 0;
  std::string precision;
  std::vector<std::string> columns;  ///< names, or empty
  std::uint64_t dropped_rows = 0;
  std::string version;
  std::vector<std::pair<std::string, std::string>> options;  ///< name, value
  std::vector<std::pair<std::string, std::string>> machine;  ///< name, value
};

/// CRC-32 of the coordinates with their shape and precision: tells one input from another. O(n·d).
[[nodiscard]] std::string checksum_of(PointsView points);

enum class FolderMode : std::uint8_t {
  fresh,      ///< refuse a folder that holds results
  resume,     ///< keep the variants that are there; the input must be the same
  overwrite,  ///< remove the results that are there
};

class ResultsFolder {
 public:
  /// Makes or opens `folder`. Throws UsageError where it holds results and the mode is fresh, InputError where it is to
  /// be resumed and holds results of another input or files that are no results, ResourceError when it cannot be
  /// written.
  ResultsFolder(std::filesystem::path folder, RunDescription description, FolderMode mode);

  /// Whether a variant is there already, complete.
  [[nodiscard]] bool holds(const Variant& variant) const;
  [[nodiscard]] const std::vector<SweepEntry>& entries() const noexcept { return entries_; }
  /// Path of a variant's labels, relative to the folder.
  [[nodiscard]] static std::string labels_name(const Variant& variant);

  /// Writes the labels, then summary.csv with all variants so far. Not thread-safe.
  void add(const VariantResult& result);
  /// Writes sweep.json with how the run ended ("complete" or "interrupted") and its seconds, and trace.json.
  void finish(const std::string& status, double seconds, const Trace& trace);
  /// Writes sweep.h5 with everything that the folder holds; finish() must have been called.
  void write_hdf5() const;

 private:
  void load(FolderMode mode);
  void remove_results();
  void write_summary() const;
  [[nodiscard]] std::string describe(const std::string& status, double seconds) const;

  std::filesystem::path folder_;
  RunDescription description_;
  std::string started_;
  std::vector<SweepEntry> entries_;  // by eps, then minpts
};

/// The trace in Chrome's trace event format, for Perfetto or chrome://tracing.
[[nodiscard]] std::string trace_json(const Trace& trace);

}  // namespace epsflow::io
