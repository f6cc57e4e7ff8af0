#include <epsflow/io/write/atomic_file.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <system_error>
#include <utility>

#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>

namespace epsflow::io {
namespace {

bool is_standard_output(const std::filesystem::path& target) { return target == kStandardOutput; }

const char* way_out(int error) noexcept {
  switch (error) {
    case EACCES:
    case EPERM:
    case EROFS:
      return "get the right to write there, or choose another place";
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return "free space there, or choose another place";
    default:
      return "choose another place";
  }
}

[[noreturn]] void throw_reason(const std::filesystem::path& target, const std::string& reason, std::uint64_t wanted,
                               int error) {
  throw ResourceError("cannot write " + target.string() + ": " + reason +
                      (wanted > 0 ? " (" + format_bytes(wanted) + " wanted)" : "") + "; " + way_out(error));
}

[[noreturn]] void throw_exists(const std::filesystem::path& target) {
  throw UsageError(target.string() +
                   " exists already; replace it with Overwrite::replace, or choose another name for the output");
}

std::filesystem::path folder_of(const std::filesystem::path& target) {
  return target.has_parent_path() ? target.parent_path() : std::filesystem::path(".");
}

/// Returns the names of temporary files of this machine, without the number of the process.
std::string temporary_prefix(const std::filesystem::path& target) {
  std::array<char, 65> host{};
  if (gethostname(host.data(), host.size() - 1) != 0) host.front() = '\0';
  return target.filename().string() + ".part-" + host.data() + "-";
}

/// Removes the temporary files of processes of this machine that have ended.
void remove_orphans(const std::filesystem::path& target) {
  const std::string prefix = temporary_prefix(target);
  std::error_code code;
  for (const auto& entry : std::filesystem::directory_iterator(folder_of(target), code)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(prefix)) continue;
    pid_t process = 0;
    const char* const end = name.data() + name.size();
    const auto [stop, parsed] = std::from_chars(name.data() + prefix.size(), end, process);
    if (parsed != std::errc{} || stop != end || process <= 0) continue;
    if (kill(process, 0) == 0 || errno != ESRCH) continue;
    std::error_code ignored;
    std::filesystem::remove(entry.path(), ignored);
  }
}

/// Moves a file if the target does not exist. Returns 0 or the system's error.
int move_to_free_name(const char* from, const char* to) noexcept {
  if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS) return errno;
  // The file system cannot do it in one step. A hard link fails as well if the name is taken.
  if (link(from, to) != 0) return errno;
  unlink(from);
  return 0;
}

/// Returns the nearest folder above `target` that exists.
std::filesystem::path existing_folder(const std::filesystem::path& target) {
  std::error_code code;
  std::filesystem::path folder = folder_of(std::filesystem::absolute(target, code));
  while (!std::filesystem::exists(folder, code) && folder.has_relative_path()) folder = folder.parent_path();
  return folder;
}

/// Creates and removes a file: only this finds missing permissions, read-only file systems and quotas alike.
void try_to_write_in(const std::filesystem::path& folder, const std::filesystem::path& target) {
  std::string pattern = (folder / ".epsflow-XXXXXX").string();
  const int descriptor = mkstemp(pattern.data());
  if (descriptor < 0) throw_cannot_write(target, errno);
  ::close(descriptor);
  unlink(pattern.c_str());
}

}  // namespace

void throw_cannot_write(const std::filesystem::path& target, const std::string& reason, std::uint64_t wanted) {
  throw_reason(target, reason, wanted, ENOSPC);
}

void throw_cannot_write(const std::filesystem::path& target, int error, std::uint64_t wanted) {
  throw_reason(target, std::generic_category().message(error), wanted, error);
}

void make_folder(const std::filesystem::path& folder, const std::filesystem::path& target) {
  std::error_code code;
  std::filesystem::create_directories(folder, code);
  if (code) throw_cannot_write(target, code.value());
}

bool same_file(const std::filesystem::path& a, const std::filesystem::path& b) {
  std::error_code code;
  return std::filesystem::equivalent(a, b, code) && !code;
}

void require_target(const std::filesystem::path& target, Overwrite overwrite,
                    std::span<const std::filesystem::path> inputs) {
  if (target.empty()) throw UsageError("the name of an output is empty; give the file that is to be written");
  if (is_standard_output(target)) return;
  for (const std::filesystem::path& input : inputs) {
    if (!same_file(target, input)) continue;
    throw UsageError(target.string() + " is the input " + input.string() +
                     "; an output never replaces an input, choose another name");
  }
  std::error_code code;
  const std::filesystem::file_status status = std::filesystem::status(target, code);
  if (std::filesystem::is_directory(status)) {
    throw UsageError(target.string() + " is a folder; name a file in it");
  }
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    throw UsageError(target.string() +
                     " is a device, pipe or socket, and no file; write to a file, or to - for standard " + "output");
  }
  if (overwrite == Overwrite::refuse && std::filesystem::exists(std::filesystem::symlink_status(target, code))) {
    throw_exists(target);
  }
  try_to_write_in(existing_folder(target), target);
}

FileStream::FileStream(const std::filesystem::path& file, std::filesystem::path target, std::optional<std::uint64_t> at)
    : target_(std::move(target)),
      descriptor_(is_standard_output(file)
                      ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0)
                      : open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | (at ? 0 : O_TRUNC), 0666)) {
  if (descriptor_ >= 0 && (!at || lseek(descriptor_, static_cast<off_t>(*at), SEEK_SET) >= 0)) return;
  const int error = errno;
  if (descriptor_ >= 0) ::close(descriptor_);
  if (at && error == ENOENT) {
    throw ResourceError("cannot write " + target_.string() +
                        ": another process has made the folder, and this one does not see it; choose one that all see");
  }
  throw_cannot_write(target_, error);
}

FileStream::~FileStream() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void FileStream::write(std::span<const std::byte> bytes, std::uint64_t wanted) {
  if (wanted == 0) wanted = written_ + bytes.size();
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor_, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EPIPE) throw ReaderGone();
    if (count < 0) throw_cannot_write(target_, errno, wanted);
    written_ += static_cast<std::uint64_t>(count);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
}

void FileStream::start_writeback() noexcept {
  // A hint only: if it fails, sync() does the work.
  static_cast<void>(sync_file_range(descriptor_, 0, 0, SYNC_FILE_RANGE_WRITE));
}

void FileStream::sync() {
  // Pipes and terminals have no disk.
  if (fsync(descriptor_) != 0 && errno != EINVAL && errno != EROFS) throw_cannot_write(target_, errno, written_);
}

void FileStream::close() {
  if (::close(std::exchange(descriptor_, -1)) != 0 && errno != EINTR) throw_cannot_write(target_, errno, written_);
}

std::filesystem::path temporary_beside(const std::filesystem::path& target) {
  make_folder(folder_of(target), target);
  std::error_code code;
  if (std::filesystem::is_directory(target, code)) throw_cannot_write(target, EISDIR);
  remove_orphans(target);
  std::filesystem::path file = folder_of(target) / (temporary_prefix(target) + std::to_string(getpid()));
  std::filesystem::remove(file, code);  // left by an ended process with the same number
  return file;
}

void commit_file(const std::filesystem::path& temporary, const std::filesystem::path& target, Overwrite overwrite) {
  int error = 0;
  try {
    sync_path(temporary);
    if (overwrite == Overwrite::refuse) {
      error = move_to_free_name(temporary.c_str(), target.c_str());
    } else if (rename(temporary.c_str(), target.c_str()) != 0) {
      error = errno;
    }
    if (error == EEXIST) throw_exists(target);
    if (error != 0) throw_cannot_write(target, error);
  } catch (const Error&) {
    std::error_code ignored;
    std::filesystem::remove(temporary, ignored);
    throw;
  }
  sync_path(folder_of(target));
}

void sync_path(const std::filesystem::path& file) {
  const int descriptor = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) throw_cannot_write(file, errno);
  // Some file systems cannot do this for folders, and return EINVAL.
  const int error = fsync(descriptor) != 0 && errno != EINVAL && errno != EROFS ? errno : 0;
  ::close(descriptor);
  if (error != 0) throw_cannot_write(file, error);
}

void write_atomically(const std::filesystem::path& target, Overwrite overwrite,
                      const std::function<void(const std::filesystem::path& file)>& write) {
  if (is_standard_output(target)) return write(target);
  const std::filesystem::path temporary = temporary_beside(target);
  try {
    write(temporary);
  } catch (...) {
    std::error_code ignored;
    std::filesystem::remove(temporary, ignored);
    throw;
  }
  commit_file(temporary, target, overwrite);
}

void write_text_file(const std::filesystem::path& target, std::string_view text, Overwrite overwrite) {
  write_atomically(target, overwrite, [&](const std::filesystem::path& temporary) {
    FileStream out(temporary, target);
    out.write(text);
    out.close();
  });
}

}  // namespace epsflow::io
