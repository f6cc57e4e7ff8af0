// The results folder of a sweep: sweep.json, summary.csv, labels, trace.json. Every file appears whole or not at all,
// finished files stay valid whatever happens to the rest, and files of others are left alone.
//
// While a run is active, everything of its own is in FOLDER/.epsflow: `lock`, which dies with the process; `journal`,
// which names each finished variant before its files take their places; `partial/`, files that are being written; and
// `replacement/`, new results until they are complete and take the place of the old ones. So after a kill at any moment
// the next run finds out what is there.
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

/// Writes a file of each variant beside its labels.
struct VariantWriter {
  std::string folder;     ///< kLabelledFolder or kCatalogFolder
  std::string extension;  ///< ".csv"
  /// An older file is still good if this was the same when it was written.
  std::string contents = {};
  std::uint64_t bytes = 0;  ///< about the size of a file
  /// Makes or overwrites the file at the first path. Names the second path in errors.
  std::function<void(const std::filesystem::path&, const std::filesystem::path&, const VariantResult&)> write;
};

enum class FolderMode : std::uint8_t {
  fresh,      ///< refuse a folder that holds a finished variant
  resume,     ///< keep the variants that are there and whole; the input must be the same
  overwrite,  ///< make new results; once they are complete, they replace the old ones
};

/// What other processes need, to write their shares of labels and masks.
struct SharedResults {
  std::filesystem::path folder;   ///< the name in errors
  std::filesystem::path partial;  ///< where the vectors are written
  std::uint64_t points = 0;       ///< of all processes
  bool labels = false;
  bool core = false;

  /// Labels first.
  [[nodiscard]] std::vector<SharedVector> vectors(const Variant& variant) const;
};

class ResultsFolder {
 public:
  /// Locks `folder`, making it if it is missing, and finds out what is there. To be called before the input is read.
  /// Existing results stay unchanged, with one exception: if an earlier run was killed while its complete new results
  /// took the place of the old ones, this is finished. Throws UsageError if the folder holds results and the mode is
  /// fresh, if another run writes to it, if a file is in the way that epsflow did not write, and if one of
  /// `outputs.inputs` is among the files of results; ResourceError if the folder cannot be written. O(variants of the
  /// sweep + variants there).
  ResultsFolder(std::filesystem::path folder, const Sweep& sweep, FolderMode mode, FolderOutputs outputs,
                Notice notice);
  /// Without finish(): finished variants stay, and the next run treats this one as killed. If there are none,
  /// everything that this run wrote is removed.
  ~ResultsFolder();
  ResultsFolder(const ResultsFolder&) = delete;
  ResultsFolder& operator=(const ResultsFolder&) = delete;

  /// Sets the variants to be made, if they were not known when the folder was opened with an empty sweep. To be called
  /// before begin(). Throws UsageError if a file of one of them is in the way.
  void ask(const Sweep& sweep);

  /// Begins a run over the points of `input`, and returns the variants of the sweep that are still to be made. The
  /// files of existing variants are compared with their checksums: O(their bytes). writers: one for each
  /// ResultsOutput::copy that is wanted; what they refer to must outlive finish(). Throws UsageError for other writers,
  /// InputError if the mode is resume and the existing results are of another input or metric, and ResourceError if the
  /// folder cannot be written. sweep.h5 has labels of all variants. If it is requested and a variant will have none,
  /// UsageError is thrown. If an earlier run requested it, it is removed. kLineageName, too, is removed if variants are
  /// added and it is not requested again.
  [[nodiscard]] std::vector<Variant> begin(const ResultsInput& input, RunDescription run,
                                           std::vector<VariantWriter> writers = {});

  /// Adds a variant; within about a second it is on the disk and in its place. Throws ResourceError, also for variants
  /// before it, and what VariantWriter::write() throws. Not thread-safe.
  void add(const VariantResult& result);

  /// Call it after begin().
  [[nodiscard]] SharedResults shared() const;
  /// Adds a variant whose vectors are written. The labels and the mask of `result` are not read. digests: of each
  /// vector. Otherwise as add().
  void add_shared(const VariantResult& result, std::span<const FileDigest> digests);

  /// Has write(path) write a wanted file of OutputScope::all_variants. Call it between the last add() and finish().
  /// Throws ResourceError.
  void add_file(const std::string& name, const std::function<void(const std::filesystem::path&)>& write);

  /// Ends the run: writes what is left, summary.csv, trace.json, sweep.h5 if this run or an earlier one requested it,
  /// and sweep.json with the status, "complete", "interrupted" or "failed" with a reason. A run without any finished
  /// variant leaves no trace. Throws ResourceError; then sweep.json, if it can be written, says that the run failed,
  /// and why.
  void finish(const std::string& status, double seconds, const Trace& trace, const std::string& reason = {});

  /// Every variant that the folder holds, or its replacement if replacing(), by eps, then minpts. Call it between
  /// begin() and the first add(), or after finish(): in between, a thread changes the list.
  [[nodiscard]] const Entries& entries() const noexcept { return state_.entries; }
  /// Returns true if the folder, or its replacement, holds a file of results of this name.
  [[nodiscard]] bool holds(const std::string& name) const { return state_.owns(name); }
  /// Returns true if the run makes a replacement, and so leaves the existing results alone until it is complete.
  [[nodiscard]] bool replacing() const noexcept { return replacing_; }

 private:
  using WriteFile = std::function<void(const std::filesystem::path&)>;
  using FileTest = std::function<bool(const std::string&, const FileDigest&)>;

  // What a run keeps of the results that are there (results_kept.cpp).
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
  std::filesystem::path base_;    ///< where results go: folder_, or hidden_/replacement
  std::vector<Variant> asked_;
  FolderMode mode_;
  FolderOutputs outputs_;
  Notice notice_;  ///< never empty
  FolderLock lock_;
  Manifest state_;                       ///< what base_ holds
  bool replacing_ = false;               ///< the run makes a replacement of what folder_ holds
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
