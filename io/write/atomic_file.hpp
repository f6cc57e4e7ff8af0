// Files that appear whole or not at all, and are on the disk when they appear.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <epsflow/core/error.hpp>

namespace epsflow::io {

/// The action for an output whose name is taken by a file.
enum class Overwrite : std::uint8_t { refuse, replace };

/// The name that stands for standard output. It is written to directly, without a temporary file.
inline constexpr const char* kStandardOutput = "-";

/// The reader of standard output or of another pipe has closed it (EPIPE). This is not a failure: end without a
/// message.
class ReaderGone : public ResourceError {
 public:
  ReaderGone() : ResourceError("the reader of the output has gone") {}
};

/// Checks that `target` can be written, before anything is read or computed. Accepts standard output. Throws UsageError
/// for an empty name, a folder, a device or pipe, one of `inputs` under any name, and, with Overwrite::refuse, anything
/// that exists. Throws ResourceError if its folder, or the nearest existing folder above it, cannot be written to.
/// Leaves no files. O(inputs).
void require_target(const std::filesystem::path& target, Overwrite overwrite,
                    std::span<const std::filesystem::path> inputs);

/// Returns true if both names lead to the same existing file.
[[nodiscard]] bool same_file(const std::filesystem::path& a, const std::filesystem::path& b);

/// Throws ResourceError for a failed write, with the file, the reason, the bytes `wanted` (0: not known) and a remedy.
/// error: the errno of the failure.
[[noreturn]] void throw_cannot_write(const std::filesystem::path& target, int error, std::uint64_t wanted = 0);
[[noreturn]] void throw_cannot_write(const std::filesystem::path& target, const std::string& reason,
                                     std::uint64_t wanted = 0);

/// Creates a folder and those above it if they are missing. Errors name `target`. Throws ResourceError.
void make_folder(const std::filesystem::path& folder, const std::filesystem::path& target);

/// Writes bytes to a file one after the other. Not thread-safe.
class FileStream {
 public:
  /// Creates `file`, or empties it if it exists; kStandardOutput stands for standard output. at: if given, the bytes of
  /// an existing file stay, and write() begins at this byte, so that several processes can write parts of one file.
  /// Errors name `target`. Throws ResourceError.
  FileStream(const std::filesystem::path& file, std::filesystem::path target, std::optional<std::uint64_t> at = {});
  ~FileStream();
  FileStream(const FileStream&) = delete;  // owns the descriptor
  FileStream& operator=(const FileStream&) = delete;

  /// Throws ResourceError if the bytes cannot be written, as on a full disk. The message names the bytes that the whole
  /// file needs: `wanted`, or, if that is 0, all up to the end of this call. Throws ReaderGone if the other end of a
  /// pipe is closed.
  void write(std::span<const std::byte> bytes, std::uint64_t wanted = 0);
  void write(std::string_view text) { write(std::as_bytes(std::span(text.data(), text.size()))); }
  /// Requests the system to start writing the bytes to the disk. Does not wait.
  void start_writeback() noexcept;
  /// Waits until the bytes are on the disk. Throws ResourceError.
  void sync();
  /// Must be called after the last write(), as the destructor ignores errors. Throws ResourceError if the system could
  /// not write bytes that it had accepted.
  void close();

 private:
  std::filesystem::path target_;
  int descriptor_ = -1;
  std::uint64_t written_ = 0;
};

/// Returns a name beside `target` for a file that commit_file() will move there. In one process it is the same for each
/// call, so only one file for a target can be written at a time. Creates the parent folder if it is missing, and
/// removes files that ended processes of this machine left there for the same target. Throws ResourceError.
[[nodiscard]] std::filesystem::path temporary_beside(const std::filesystem::path& target);

/// Renames `temporary` to `target` in one step. The content is on the disk before the rename, and the new name when
/// this returns. Throws UsageError if `target` exists and must not be replaced, else ResourceError. Removes `temporary`
/// if it cannot be renamed.
void commit_file(const std::filesystem::path& temporary, const std::filesystem::path& target, Overwrite overwrite);

/// Waits until the content of a file, or the names in a folder, are on the disk. Throws ResourceError.
void sync_path(const std::filesystem::path& file);

/// Calls `write` with the name of a new file beside `target`, and then moves it to `target`, as commit_file() does. If
/// `write` throws, no file stays. If `target` is standard output, `write` gets its name and writes to it directly.
/// Throws the exceptions of `write`, and as temporary_beside() and commit_file().
void write_atomically(const std::filesystem::path& target, Overwrite overwrite,
                      const std::function<void(const std::filesystem::path& file)>& write);

/// Writes `text` as the file `target`, as write_atomically() does. Errors as FileStream::write() and commit_file().
void write_text_file(const std::filesystem::path& target, std::string_view text,
                     Overwrite overwrite = Overwrite::replace);

}  // namespace epsflow::io
