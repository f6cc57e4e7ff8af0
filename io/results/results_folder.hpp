// The results folder of a sweep: sweep.json, summary.csv, labels, trace.json. Every file appears whole or not at all,
// finished files stay valid if the run fails, and other programs' files stay as they are.
//
// While a run is active, its own files are in FOLDER/.epsflow: `lock`, a file whose lock the system releases when the
// process ends; `journal`, which lists each finished variant before its files get their names; `partial/`, files that
// are being written; and `replacement/`, new results until they are complete and replace the old ones. So after a kill
// at any moment the next run can find out which results are there.
//
// A folder "holds results" if it holds a finished variant.
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
  /// Identifies the data that the files are made of. A file of an earlier run is kept if this text was the same then.
  std::string contents = {};
  std::uint64_t bytes = 0;  ///< approximate size of a file
  /// write(file, target, result) creates or overwrites `file`. Its errors name `target`, the file's later path.
  std::function<void(const std::filesystem::path&, const std::filesystem::path&, const VariantResult&)> write;
};

enum class FolderMode : std::uint8_t {
  fresh,      ///< refuses a folder that holds results
  resume,     ///< keeps the finished variants whose files are unchanged; the input must be the same
  overwrite,  ///< makes new results (a replacement); once they are complete, they replace the old ones
};

/// The data that other processes need to write their shares of labels and masks.
struct SharedResults {
  std::filesystem::path folder;   ///< the results folder, as errors name it
  std::filesystem::path partial;  ///< FOLDER/.epsflow, absolute; the vectors are written to its subfolder partial/
  std::uint64_t points = 0;       ///< number of points of all processes
  bool labels = false;            ///< true if labels are written
  bool core = false;              ///< true if masks of core points are written

  /// Returns the vectors of a variant that the processes write, labels first.
  [[nodiscard]] std::vector<SharedVector> vectors(const Variant& variant) const;
};

/// Writes the results of one run to a folder. Calls, in order: the constructor, ask() if needed, begin(), add() or
/// add_shared() for each variant, add_file(), finish(). Not thread-safe.
///
/// If a run with FolderMode::overwrite does not complete, the old results stay. The finished variants of its
/// replacement wait in .epsflow, but finish() removes them if `outputs.resumable` is false. The next run continues the
/// replacement if it is resumable and has the same mode and input. Any other run removes it in begin().
class ResultsFolder {
 public:
  /// Locks `folder`, creates it if it is missing, and finds existing results. Call it before the input is read.
  /// Existing results stay unchanged, with one exception: if an earlier run was killed while its complete replacement
  /// took the place of the old results, the constructor finishes that. Throws UsageError in these cases:
  ///  - The folder holds results, and the mode is fresh.
  ///  - The folder holds results, the mode is resume, and their variants have a min_cluster_size, or
  ///    `outputs.resumable` is false.
  ///  - Another run writes to the folder.
  ///  - A file that epsflow did not write, or one of `outputs.inputs`, has the name of an output. Some names count only
  ///    if the output is requested: see require_no_strangers() and require_no_inputs().
  ///  - sweep.json is damaged, or epsflow did not write it.
  /// Throws ResourceError if the folder cannot be written. O(variants of the sweep and the folder).
  ResultsFolder(std::filesystem::path folder, const Sweep& sweep, FolderMode mode, FolderOutputs outputs, Notice notice)
      : ResultsFolder(std::move(folder), sweep.variants(), mode, std::move(outputs), std::move(notice)) {}
  /// variants: the variants to be made. Either all have a min_cluster_size, or none has.
  ResultsFolder(std::filesystem::path folder, std::vector<Variant> variants, FolderMode mode, FolderOutputs outputs,
                Notice notice);
  /// If finish() was not called: finished variants stay, and the next run treats this one as killed. If the
  /// folder (or its replacement, if replacing()) has no finished variant, removes everything that this run wrote.
  ~ResultsFolder();
  ResultsFolder(const ResultsFolder&) = delete;
  ResultsFolder& operator=(const ResultsFolder&) = delete;

  /// Sets the variants to be made. Use it if they are not known before the folder is opened, and open the folder with
  /// an empty sweep. Throws UsageError if a file that epsflow did not write has the name of one of their files.
  void ask(const Sweep& sweep);

  /// Begins a run over the points of `input`, and returns the requested variants of which a file is missing. Compares
  /// the files of existing variants with their checksums, O(their bytes); a file that has changed counts as missing. An
  /// existing variant whose eps differs by at most a relative 1e-9 takes the place of a requested one; it is returned,
  /// with its own eps, if a file of it is missing.
  ///
  /// writers: one for each requested output with ResultsOutput::copy, with the requested extension. Only add() calls
  /// their `write`, on the thread of its caller. Throws UsageError if a writer is missing or its output is not
  /// requested; InputError if the mode is resume and the existing results have another input or metric; ResourceError
  /// if the folder cannot be written.
  ///
  /// sweep.h5 holds the labels of all variants. If a variant of this run or a kept variant will have no labels, throws
  /// UsageError if this run requests sweep.h5, and removes sweep.h5 if only an earlier run requested it. If a variant
  /// is missing, begin() removes files of OutputScope::all_variants. They stay if the folder has explore.json: then
  /// they describe the variants of that exploration only, also when others are added.
  [[nodiscard]] std::vector<Variant> begin(const ResultsInput& input, RunDescription run,
                                           std::vector<VariantWriter> writers = {});

  /// Adds a variant. Within about a second its files are on the disk under their names. persistence: the mean
  /// persistence of its clusters; 0 if it has no min_cluster_size. Throws ResourceError if its files, or the files of a
  /// variant that was added before, cannot be written; the exceptions of VariantWriter::write().
  void add(const VariantResult& result, double persistence = 0);

  /// Returns the data for other processes. Call it after begin().
  [[nodiscard]] SharedResults shared() const;
  /// Adds a variant whose vectors (SharedResults::vectors()) the processes have written. Ignores labels and mask in
  /// `result`, and makes no files of VariantWriters. digests: [vectors] of each whole file, digest_of_shares(). Throws
  /// ResourceError as add().
  void add_shared(const VariantResult& result, std::span<const FileDigest> digests);

  /// Calls write(path) for a requested file of OutputScope::all_variants; `name` is its ResultsOutput::name. Call it
  /// between the last add() and finish(). Throws ResourceError.
  void add_file(const std::string& name, const std::function<void(const std::filesystem::path&)>& write);

  /// Ends the run. Waits for the variants that were added, and writes trace.json, summary.csv and sweep.json with the
  /// status: "complete", "interrupted" or "failed" with a reason. A complete run also writes sweep.h5 if this run, or
  /// an earlier one whose results it keeps, requested it. If replacing(), a complete run then puts the replacement in
  /// the place of the old results. If the folder (or the replacement) has no finished variant, removes everything that
  /// this run wrote. seconds: duration of the run. Throws ResourceError, and InputError if labels for sweep.h5 are
  /// damaged; before that, if possible, it writes the status "failed" to sweep.json.
  void finish(const std::string& status, double seconds, const Trace& trace, const std::string& reason = {});

  /// Returns every finished variant of the folder, or of its replacement if replacing(), sorted by eps, minpts and
  /// min_cluster_size. Call it between begin() and the first add(), or after finish(): in between, a thread changes the
  /// list.
  [[nodiscard]] const Entries& entries() const noexcept { return state_.entries; }
  /// Returns true if the folder, or its replacement if replacing(), holds a file of results with this name. From
  /// begin() on always true for summary.csv and sweep.json, which may not exist yet.
  [[nodiscard]] bool holds(const std::string& name) const { return state_.owns(name); }
  /// Returns true if the mode is overwrite and the folder holds results. The run then makes a replacement, and the
  /// existing results stay until it is complete. Call it after begin(); false once finish() has put it in their place.
  [[nodiscard]] bool replacing() const noexcept { return replacing_; }

 private:
  using WriteFile = std::function<void(const std::filesystem::path&)>;
  using FileTest = std::function<bool(const std::string&, const FileDigest&)>;

  // Existing results that a run keeps (results_reuse.cpp).
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
  void choose_hdf5(const std::vector<Variant>& missing, bool before);

  void clear_partial() const;
  void warn_of_full_disk(std::size_t variants) const;
  void stage(PendingVariant& variant, const std::string& name,
             const std::function<FileDigest(const std::filesystem::path&, const std::filesystem::path&)>& write) const;
  [[nodiscard]] PendingVariant pending(const VariantResult& result) const;
  void commit(const std::vector<PendingVariant>& batch);
  void store_file(const std::string& name, const WriteFile& write);
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
