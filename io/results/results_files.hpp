// The files of a results folder: writes, checks, removes and replaces them, and refuses names that are taken. A run
// must not write over files that epsflow did not write, nor elsewhere.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <epsflow/core/error.hpp>
#include <epsflow/io/results/results_manifest.hpp>
#include <epsflow/io/results/results_names.hpp>
#include <epsflow/io/write/npy_writer.hpp>

namespace epsflow::io {

/// A file or folder has the name of an output, and must not be replaced (or not without an option).
class InTheWay : public UsageError {
 public:
  using UsageError::UsageError;
};

/// Creates or overwrites `file`, and returns its digest. Errors name `target`. Not atomic, and durable only after
/// make_durable(). Throws ResourceError.
[[nodiscard]] FileDigest write_array(const std::filesystem::path& file, const std::filesystem::path& target,
                                     const NpyArray& array);

/// An NPY vector of which several processes write a share each.
struct SharedVector {
  std::string name;              ///< name in the results folder
  std::filesystem::path file;    ///< path at which it is written
  std::filesystem::path target;  ///< name in errors
  std::string type;              ///< in NPY's notation: "<i4"
  std::uint64_t n = 0;           ///< number of values of all processes
};

enum class Durable : std::uint8_t { now, later };
/// Writes values from index `first` on, and the header if `first` is 0. Creates the file if it is missing. If `durable`
/// is later, call make_durable() on the same machine. Returns the digest of the values, without the header. Throws
/// ResourceError.
[[nodiscard]] FileDigest write_share(const SharedVector& vector, std::uint64_t first, std::span<const std::byte> values,
                                     Durable durable = Durable::later);
/// Returns the digest of the whole file. shares: results of write_share(), in the order of the values.
[[nodiscard]] FileDigest digest_of_shares(const SharedVector& vector, std::span<const FileDigest> shares);

/// Waits until the files, which must be on one file system, are on the disk. Throws ResourceError.
void make_durable(const std::vector<std::filesystem::path>& files);

/// Returns the offset of the first of the n values in a file of results. type: in NPY's notation, "<i4". Throws
/// InputError if the file is missing or is not such a vector. O(1).
[[nodiscard]] std::uint64_t require_vector(const std::filesystem::path& file, const std::string& type, std::uint64_t n);

/// Throws InputError if a file has another digest, or if it cannot be read. O(bytes).
void require_digest(const std::filesystem::path& file, const FileDigest& digest);

/// Removes every file of the manifest, then summary.csv, empty folders, and sweep.json last. Repeatable. Throws
/// ResourceError.
void remove_results(const std::filesystem::path& folder, const Manifest& manifest);

/// Returns the journal in folder/.epsflow of a run that did not end, or nullopt if there is none. If it lists a
/// complete replacement, replaces the results by that, and returns nullopt. This may be cut off and repeated. Throws
/// ResourceError, and UsageError as read_manifest().
[[nodiscard]] std::optional<JournalContents> recover(const std::filesystem::path& folder);

/// Removes the files of a run in folder/.epsflow except its lock, the journal last.
void clear_hidden(const std::filesystem::path& folder);

/// Returns `folder` without slashes at its end. Throws UsageError for an empty name, and InTheWay if something other
/// than a folder has the name, or if an output folder in it is a link or a file: files would be written or removed
/// elsewhere. A missing folder is accepted.
[[nodiscard]] std::filesystem::path require_folder(std::filesystem::path folder);

/// Throws InTheWay if a file that is not listed in `state` has the name of an output of OutputScope::folder, except
/// sweep.json, or of a requested output: for outputs of each variant, the name that it has for one of `asked`.
void require_no_strangers(const std::filesystem::path& folder, const Manifest& state, const std::vector<Variant>& asked,
                          const FolderOutputs& outputs);

/// Throws UsageError if one of `outputs.inputs` lies in `folder` and has the name of an output there, requested or not.
/// The names of OutputScope::all_variants count only if they are requested or listed in `state`.
void require_no_inputs(const std::filesystem::path& folder, const Manifest& state, const FolderOutputs& outputs);

}  // namespace epsflow::io
