// The results folder of a sweep: sweep.json, summary.csv, labels, trace.json. Every file appears whole or not at all,
// what is finished stays valid whatever happens to the rest, and files of others are left alone.
//
// While a run is active everything of its own lies in FOLDER/.epsflow: `lock`, which dies with the process; `journal`,
// which names each finished variant before its files take their places; `partial/`, files that are being written; and
// `replacement/`, new results until they are complete and take the place of the old ones. So whenever a run is killed the
// next one knows what is there.
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
#include <epsflow/io/file_points.hpp>
#include <epsflow/io/results/folder_lock.hpp>
#include <epsflow/io/results/results_manifest.hpp>
#include <epsflow/io/results/results_names.hpp>
#include <epsflow/io/results/shared_vector.hpp>
#include <epsflow/io/results/variant_writer.hpp>

namespace epsflow::io {

class CommitThread;
class Journal;
struct JournalContents;
struct KeptResults;
struct NpyArray;
struct PendingFile;
struct PendingVariant;

enum class FolderMode : std::uint8_t {
  fresh,      ///< refuse a folder that holds a finished variant
  resume,     ///< keep the variants that are there and whole; the input must be the same
  overwrite,  ///< make new results; once they are complete, they replace the old ones
};

/// Where the vectors of variants go that several processes write, each the values of its points.
struct SharedResults {
  std::filesystem::path folder;   ///< that errors name
  std::filesystem::path partial;  ///< where they are written
  std::uint64_t points = 0;       ///< of all processes
  bool labels = false;
  bool core = false;

  /// Labels first.
  [[nodiscard]] std::vector<SharedVector> vectors(const Variant& variant) const;
};

class ResultsFolder {
 public:
  /// Locks `folder`, making it where it is missing, and finds out what is there. To be done before the input is read. Results that
  /// are there stay unchanged, with one exception: an earlier run may have been killed while its complete new results were taking
  /// the place of the old ones; this is then finished. Throws UsageError where the folder holds results and the mode is fresh,
  /// where another run writes to it, where a file is in the way that epsflow did not write, and where one of `outputs.inputs` is
  /// among the files of results; ResourceError when the folder cannot be written. O(variants asked for + variants there).
  ResultsFolder(std::filesystem::path folder, const Sweep& sweep, FolderMode mode, FolderOutputs outputs,
                Notice notice);
  /// Without finish(): finished variants stay, and the next run takes this one for a run that was killed. If there are none, all
  /// that this run wrote is removed.
  ~ResultsFolder();
  ResultsFolder(const ResultsFolder&) = delete;
  ResultsFolder& operator=(const ResultsFolder&) = delete;

  /// Takes the variants of this sweep for those that are asked for: for who does not know them when the folder is opened, and so
  /// opens it with an empty sweep. To be called before begin(). Throws UsageError where a file of one of them is in the way.
  void ask(const Sweep& sweep);

  /// Begins a run over the points of `input`, and returns the variants of the sweep that are still to be made. The files of variants that are
  /// there are compared with their checksums: O(their bytes). writers: one for each ResultsOutput::copy
  /// that is wanted; what they refer to must outlive finish(). Throws UsageError where they are not those, InputError where the mode is
  /// resume and the results there are of another input or metric, and ResourceError when the folder cannot be written.
  /// sweep.h5 has labels of all variants: throws UsageError where it is asked for and a variant will have none, and lets go of one that
  /// was asked for before. So it does with kLineageName where variants are added and it is not asked for again.
  [[nodiscard]] std::vector<Variant> begin(const ResultsInput& input, RunDescription run,
                                           std::vector<VariantWriter> writers = {});

  /// Takes a variant; it is on the disk, and in its place, within about a second. Throws ResourceError, also for variants
  /// before it, and what VariantWriter::write() throws. Not thread-safe.
  void add(const VariantResult& result);

  /// What other processes need to know, to write their shares of labels and masks. Call it after begin().
  [[nodiscard]] SharedResults shared() const;
  /// Takes a variant whose vectors are written. result: its labels and mask are not looked at. digests: of each vector. Otherwise as add().
  void add_shared(const VariantResult& result, std::span<const FileDigest> digests);

  /// Has write(path) write a wanted file of OutputScope::all_variants. Call it between the last add() and finish(). Throws ResourceError.
  void add_file(const std::string& name, const std::function<void(const std::filesystem::path&)>& write);

  /// Ends the run: writes what is left, summary.csv, trace.json, sweep.h5 where asked for now or before, and sweep.json
  /// with the status, "complete", "interrupted" or "failed" with a reason. A run without any finished variant leaves no
  /// trace. Throws ResourceError; then sweep.json, where it can be written, says that the run failed, and why.
  void finish(const std::string& status, double seconds, const Trace& trace, const std::string& reason = {});

  /// Every variant that the folder holds, or its replacement if replacing(), by eps, then minpts. Call it between begin() and the
  /// first add(), or after finish(): in between, a thread changes the list.
  [[nodiscard]] const Entries& entries() const noexcept { return state_.entries; }
  /// Whether the folder, or its replacement, holds a file of results of this name.
  [[nodiscard]] bool holds(const std::string& name) const { return state_.owns(name); }
  /// Whether the run makes a replacement, and so leaves the results that are there alone until it is complete.
  [[nodiscard]] bool replacing() const noexcept { return old_.has_value(); }

 private:
  void settle_hdf5(KeptResults& kept, const std::vector<Variant>& left_to_do);
  void clear_partial() const;
  void warn_of_full_disk(std::uint64_t points, std::size_t variants) const;

  /// A function that writes a file at the first path, names the second path in errors, and returns the size and checksum of the
  /// file.
  using Write = std::function<FileDigest(const std::filesystem::path&, const std::filesystem::path&)>;
  [[nodiscard]] PendingFile stage(const std::string& name, const Write& write) const;
  [[nodiscard]] PendingFile stage(const std::string& name, const NpyArray& array) const;
  void commit(const std::vector<PendingVariant>& batch);
  void publish();
  void place(const std::string& name, const std::function<void(const std::filesystem::path&)>& write);
  void write_hdf5(double seconds);
  void leave();

  // While thread_ runs, only it uses state_ and journal_.
  std::filesystem::path folder_;
  std::filesystem::path hidden_;  ///< folder_/.epsflow
  std::filesystem::path base_;    ///< where results go: folder_, or hidden_/replacement
  std::vector<Variant> asked_;
  FolderMode mode_;
  FolderOutputs outputs_;
  Notice notice_;
  FolderLock lock_;
  Manifest state_;                         ///< what base_ holds
  std::optional<Manifest> old_;            ///< what folder_ holds, if this run is to replace it
  std::unique_ptr<JournalContents> left_;  ///< journal of a run that was killed, or whose replacement is incomplete
  RunDescription run_;
  std::string started_;
  std::uint64_t points_ = 0;
  std::vector<VariantWriter> writers_;
  std::unique_ptr<Journal> journal_;
  std::chrono::steady_clock::time_point next_publication_;
  std::unique_ptr<CommitThread> thread_;
};

}  // namespace epsflow::io
