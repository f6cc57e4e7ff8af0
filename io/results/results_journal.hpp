// The journal of a run into a results folder: what is finished, told before it takes its place, so that a run that is
// killed at any moment can be gone on with.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <epsflow/io/checksum.hpp>
#include <epsflow/io/results/results_manifest.hpp>
#include <epsflow/io/write/atomic_file.hpp>

namespace epsflow::io {

/// What a journal tells. A line that is torn, and all behind it, is as if it had never been written.
struct JournalContents {
  bool replaces = false;   ///< the run makes a replacement of the results that the folder holds
  bool committed = false;  ///< the replacement is complete and is to take their place
  std::string input = {};  ///< as in Manifest
  std::string checksum = {};
  std::string run = {};
  std::vector<SweepEntry> entries = {};
  Files files = {};
};

/// Nothing for a file that is missing or whose first line is torn.
[[nodiscard]] std::optional<JournalContents> read_journal(const std::filesystem::path& file);

/// Writes a journal. Each line is an event with a checksum of its own. Not thread-safe.
class Journal {
 public:
  /// Begins the journal anew, with `begin` but for its entries and files. Throws ResourceError.
  Journal(const std::filesystem::path& file, const JournalContents& begin);

  void add(const std::string& name, const FileDigest& digest);
  /// To be called behind those of its files.
  void add(const SweepEntry& entry);
  void add_commit();
  /// Has everything added until now on the disk. Throws ResourceError.
  void sync();

 private:
  void add_line(std::string_view event);

  std::string pending_;
  std::unique_ptr<FileStream> stream_;
};

}  // namespace epsflow::io
