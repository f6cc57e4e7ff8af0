// The results folder of a sweep: sweep.json, summary.csv, labels, trace.json. Every file appears whole or not at all,
// finished files stay valid if the run fails, and other programs' files stay as they are.
//
// While a run is active, its own files are in FOLDER/.epsflow: `lock`, which ends with the process; `journal`, which
// lists each finished variant before its files get their names; `partial/`, files that are being written; and
// `replacement/`, new results until they are complete and replace the old ones. So after a kill at any moment the next
// run can find out which results are there.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <epsflow/core/labels.hpp>
#include <epsflow/core/trace.hpp>
#include <epsflow/io/results/folder_lock.hpp>
#include <epsflow/io/results/results_files.hpp>

namespace epsflow::io {

class CommitThread;
struct PendingFile;
struct PendingVariant;

/// Writes one more file for each variant.
struct VariantWriter {
  std::string folder;     ///< name of an output whose ResultsOutput::copy is true, such as kCatalogFolder
  std::string extension;  ///< ".csv"
  /// Identifies the data of the files: an older file is still valid if this text was the same when it was written.
  std::string contents = {};
  std::uint64_t bytes = 0;  ///< approximate size of a file
  /// Creates or overwrites the file at the first path. Names the second path in errors.
  std::function<void(const std::filesystem::path&, const std::filesystem::path&, const VariantResult&)> write;
};

enum class FolderMode : std::uint8_t {
  fresh,      ///< refuses a folder that holds a finished variant
  resume,     ///< keeps the variants that are there and whole; the input must be the same
  overwrite,  ///< makes new results; once they are complete, they replace the old ones
};

/// The data that other processes need to write their shares of labels and masks.
struct SharedResults {
  std::filesystem::path folder;   ///< name in errors
  std::filesystem::path partial;  ///< FOLDER/.epsflow, absolute; the vectors are written to its folder partial/
  std::uint64_t points = 0;       ///< number of points of all processes
  bool labels = false;            ///< true if labels are written
  bool core = false;              ///< true if masks of core points are written

  /// Returns the vectors of a variant that the processes write, labels first.
  [[nodiscard]] std::vector<SharedVector> vectors(const Variant& variant) const;
};

/// Writes the results of one run to a folder. Calls, in order: the constructor, ask() if needed, begin(), add() or
/// add_shared() for each variant, add_file(), finish(). Not thread-safe.
class ResultsFolder {
 public:
  /// Locks `folder`, creates it if it is missing, and finds existing results. Call it before the input is read.
  /// Existing results stay unchanged, with one exception: if an earlier run was killed while its complete new results
  /// replaced the old ones, this is finished. Throws UsageError if the folder holds results and the mode is fresh, or
  /// resume although they are of hierarchies or outputs.resumable is false; if another run writes to it; and if a file
  /// that epsflow did not write, or one of `outputs.inputs`, has the name of an output. Throws ResourceError if the
  /// folder cannot be written. O(variants of the sweep and the folder).
  ResultsFolder(std::filesystem::path folder, const Sweep& sweep, FolderMode mode, FolderOutputs outputs, Notice notice)
      : ResultsFolder(std::move(folder), sweep.variants(), mode, std::move(outputs), std::move(notice)) {}
  /// variants: all with a min_cluster_size, or none.
  ResultsFolder(std::filesystem::path folder, std::vector<Variant> variants, FolderMode mode, FolderOutputs outputs,
                Notice notice);
  /// Without finish(), finished variants stay, and the next run treats this one as killed. If there are none,
  /// removes everything that this run wrote.
  ~ResultsFolder();
  ResultsFolder(const ResultsFolder&) = delete;
  ResultsFolder& operator=(const ResultsFolder&) = delete;

  /// Sets the variants to be made, if the folder was opened with an empty sweep. Call it before begin(). Throws
  /// UsageError if a file that epsflow did not write has the name of one of their files.
  void ask(const Sweep& sweep);

  /// Begins a run over the points of `input`, and returns the variants of the sweep that are still to be made. An
  /// existing variant whose eps differs by at most a relative 1e-9 stands for a requested one. Compares the files of
  /// existing variants with their checksums: O(their bytes). writers: one for each requested output with
  /// ResultsOutput::copy; their data must outlive finish(). Throws UsageError for other writers, InputError if the mode
  /// is resume and the existing results have another input or metric, and ResourceError if the folder cannot be
  /// written. sweep.h5 needs the labels of all variants. If a variant will have none, throws UsageError if this run
  /// requests sweep.h5, and removes it if only an earlier run did. Removes files of OutputScope::all_variants if
  /// variants are added, except from a folder of an exploration.
  [[nodiscard]] std::vector<Variant> begin(const ResultsInput& input, RunDescription run,
                                           std::vector<VariantWriter> writers = {});

  /// Adds a variant; within about a second it is on the disk under its name. persistence: SweepEntry::persistence.
  /// Throws ResourceError, also for variants before it, and the exceptions of VariantWriter::write().
  void add(const VariantResult& result, double persistence = 0);

  /// Returns the data for other processes. Call it after begin().
  [[nodiscard]] SharedResults shared() const;
  /// Adds a variant whose vectors (SharedResults::vectors()) the processes have written. Ignores labels and mask in
  /// `result`, and makes no files of VariantWriters. digests: [vectors] of their values. Throws ResourceError as add().
  void add_shared(const VariantResult& result, std::span<const FileDigest> digests);

  /// Calls write(path) for a requested file of OutputScope::all_variants; `name` is its ResultsOutput::name. Call it
  /// between the last add() and finish(). Throws ResourceError.
  void add_file(const std::string& name, const std::function<void(const std::filesystem::path&)>& write);

  /// Ends the run. Waits for the variants that were added, and writes trace.json, summary.csv and sweep.json with the
  /// status: "complete", "interrupted" or "failed" with a reason. A complete run also writes sweep.h5, if this run or
  /// an earlier one requested it; then its replacement, if replacing(), takes the place of the old results. A run
  /// without any finished variant leaves no files. seconds: duration of the run. Throws ResourceError, and InputError
  /// if labels for sweep.h5 are damaged; then sweep.json, if possible, has the status "failed".
  void finish(const std::string& status, double seconds, const Trace& trace, const std::string& reason = {});

  /// Returns every variant that the folder (or its replacement, if replacing()) holds, by eps, minpts and
  /// min_cluster_size. Call it between begin() and the first add(), or after finish(): in between, a thread changes the
  /// list.
  [[nodiscard]] const Entries& entries() const noexcept { return state_.entries; }
  /// Returns true if the folder, or its replacement, holds a file of results of this name.
  [[nodiscard]] bool holds(const std::string& name) const { return state_.owns(name); }
  /// Returns true if the run makes a replacement. The existing results stay until it is complete.
  [[nodiscard]] bool replacing() const noexcept { return replacing_; }

 private:
  using WriteFile = std::function<void(const std::filesystem::path&)>;
  using FileTest = std::function<bool(const std::string&, const FileDigest&)>;

  // Existing results that a run keeps (results_kept.cpp).
  void choose_base(const std::string& checksum);
  void keep_results();
  std::size_t remove_files(const FileTest& unwanted);
  [[nodiscard]] bool is_sound(const std::string& name, const FileDigest& digest) const;
  void drop_unsound();
  void drop_unasked();
  void drop_outdated(const VariantWriter& writer);
  void drop_incomplete(const std::vector<Variant>& missing);
  [[nodiscard]] Variant held(const Variant& variant, const Entries& others) const;
  [[nodiscard]] std::vector<Variant> missing() const;
  void settle_hdf5(const std::vector<Variant>& missing);

  void clear_partial() const;
  void warn_of_full_disk(std::size_t variants) const;
  void stage(PendingVariant& variant, const std::string& name,
             const std::function<FileDigest(const std::filesystem::path&, const std::filesystem::path&)>& write) const;
  [[nodiscard]] PendingVariant pending(const VariantResult& result) const;
  void commit(const std::vector<PendingVariant>& batch);
  void place(const std::string& name, const WriteFile& write);
  void write_hdf5(double seconds);
  void leave();

  // While thread_ runs, only it uses state_ and journal_.
  std::filesystem::path folder_;
  std::filesystem::path hidden_;  ///< folder_/.epsflow
  std::filesystem::path base_;    ///< folder for results: folder_, or hidden_/replacement
  std::vector<Variant> asked_;
  FolderMode mode_;
  FolderOutputs outputs_;
  Notice notice_;  ///< never empty
  FolderLock lock_;
  Manifest state_;                       ///< contents of base_
  bool replacing_ = false;               ///< true if the run makes a replacement of the results in folder_
  std::optional<JournalContents> left_;  ///< journal of a run that was killed, or whose replacement is incomplete
  RunDescription run_;
  std::string started_;
  std::uint64_t points_ = 0;
  std::vector<VariantWriter> writers_;
  std::unique_ptr<Journal> journal_;
  std::chrono::steady_clock::time_point next_publication_;
  std::unique_ptr<CommitThread> thread_;
};

}  // namespace epsflow::io
