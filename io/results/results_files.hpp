// What results consist of, as files: writing, checking and removing them, and letting a replacement take the place of others.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <epsflow/io/results/results_journal.hpp>
#include <epsflow/io/results/results_manifest.hpp>
#include <epsflow/io/write/npy_writer.hpp>

namespace epsflow::io {

/// Writes `file`, which errors call `target`; not atomic, and on the disk after make_durable() only. Throws ResourceError.
[[nodiscard]] FileDigest write_array(const std::filesystem::path& file, const std::filesystem::path& target,
                                     const NpyArray& array);

/// Waits until the files, which are of one file system, are on the disk. Throws ResourceError.
void make_durable(const std::vector<std::filesystem::path>& files);

/// Where in a file of results its n values begin, of a type as NPY names it: "<i4". Throws InputError for a file that is
/// missing or is no such vector. O(1).
[[nodiscard]] std::uint64_t require_vector(const std::filesystem::path& file, const std::string& type, std::uint64_t n);

/// Throws InputError for a file that has changed since it was written. O(bytes).
void require_digest(const std::filesystem::path& file, const FileDigest& digest);

/// Writes sweep.json and summary.csv. The last of the runs is this one. Throws ResourceError.
void save_manifest(const std::filesystem::path& folder, const Manifest& manifest);

/// Takes in what a run left that was killed.
void merge(const JournalContents& journal, Manifest& manifest);

/// Removes every file that the manifest names, summary.csv and sweep.json last, and folders that are empty then. May be
/// repeated. Throws ResourceError.
void remove_results(const std::filesystem::path& folder, const Manifest& manifest);

/// What the journal in folder/.epsflow tells of a run that did not end. Where it says that a replacement is complete this
/// takes the place of the results that are there, which may be cut off and repeated, and nothing is left. Throws
/// ResourceError.
[[nodiscard]] std::optional<JournalContents> recover(const std::filesystem::path& folder);

/// Removes what a run has in folder/.epsflow but its lock, the journal last.
void clear_hidden(const std::filesystem::path& folder);

}  // namespace epsflow::io
