// The files of a results folder: writing, checking and removing them, replacing old results by new ones, and refusing
// whatever is in their way. A run must not write over files that are not its own, nor into another place.
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

/// Something is there that epsflow must not replace, or must not replace unless it is told to.
class InTheWay : public UsageError {
 public:
  using UsageError::UsageError;
};

/// Writes `file`, which errors call `target`. Not atomic. The bytes are on the disk only after make_durable(). Throws
/// ResourceError.
[[nodiscard]] FileDigest write_array(const std::filesystem::path& file, const std::filesystem::path& target,
                                     const NpyArray& array);

/// An NPY vector that several processes write, each its share.
struct SharedVector {
  std::string name;  ///< among the results
  std::filesystem::path file;
  std::filesystem::path target;  ///< the name in errors
  std::string type;              ///< as NPY names it: "<i4"
  std::uint64_t n = 0;           ///< values of all processes
};

enum class Durable : std::uint8_t { now, later };
/// Writes values from index `first` on, and the header if `first` is 0. Makes the file if it is missing. The values are
/// on the disk at once, or after make_durable() on the same machine. Returns the digest of the values. Throws
/// ResourceError.
[[nodiscard]] FileDigest write_share(const SharedVector& vector, std::uint64_t first, std::span<const std::byte> values,
                                     Durable durable = Durable::later);
/// Returns the digest of the whole file. shares: what write_share() returned, in the order of the values.
[[nodiscard]] FileDigest digest_of_shares(const SharedVector& vector, std::span<const FileDigest> shares);

/// Waits until the files, which are of one file system, are on the disk. Throws ResourceError.
void make_durable(const std::vector<std::filesystem::path>& files);

/// Returns the offset of the first of the n values in a file of results, of a type as NPY names it: "<i4". Throws
/// InputError if the file is missing or is not such a vector. O(1).
[[nodiscard]] std::uint64_t require_vector(const std::filesystem::path& file, const std::string& type, std::uint64_t n);

/// Throws InputError if a file has changed since it was written. O(bytes).
void require_digest(const std::filesystem::path& file, const FileDigest& digest);

/// Removes every file that the manifest names, summary.csv and sweep.json last, and then folders that are empty. May be
/// repeated. Throws ResourceError.
void remove_results(const std::filesystem::path& folder, const Manifest& manifest);

/// Returns the journal in folder/.epsflow of a run that did not end. If the journal says that a replacement is
/// complete, the replacement takes the place of the results that are there, and nothing is returned. This may be cut
/// off and repeated. Throws ResourceError.
[[nodiscard]] std::optional<JournalContents> recover(const std::filesystem::path& folder);

/// Removes what a run has in folder/.epsflow except its lock, the journal last.
void clear_hidden(const std::filesystem::path& folder);

/// Returns `folder` without slashes at its end. Throws UsageError for an empty name, and InTheWay if the name is not a
/// folder's, or if a folder in it that epsflow writes to is a link or a file: files, also those to be removed, would be
/// in another place.
[[nodiscard]] std::filesystem::path require_folder(std::filesystem::path folder);

/// Throws InTheWay if a file has the name of one to be written and is not listed in `state`.
void require_no_strangers(const std::filesystem::path& folder, const Manifest& state, const std::vector<Variant>& asked,
                          const FolderOutputs& outputs);

/// Throws UsageError if one of `outputs.inputs` is among the files of results, which would replace it.
void require_no_inputs(const std::filesystem::path& folder, const Manifest& state, const FolderOutputs& outputs);

}  // namespace epsflow::io
