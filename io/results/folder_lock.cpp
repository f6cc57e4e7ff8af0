#include <epsflow/io/results/folder_lock.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include <epsflow/io/write/atomic_file.hpp>

namespace epsflow::io {
namespace {

std::string process_in(int descriptor) {
  std::array<char, 32> text{};
  const ssize_t count = pread(descriptor, text.data(), text.size() - 1, 0);
  return count > 0 ? "process " + std::string(text.data(), static_cast<std::size_t>(count)) : "another process";
}

/// Returns true if the name still leads to the open file, which the run that held the lock before may have removed.
bool is_current(int descriptor, const std::filesystem::path& file) {
  struct stat opened {};
  struct stat named {};
  return fstat(descriptor, &opened) == 0 && stat(file.c_str(), &named) == 0 && opened.st_ino == named.st_ino &&
         opened.st_dev == named.st_dev;
}

}  // namespace

FolderLock::FolderLock(std::filesystem::path folder, std::filesystem::path hidden, const Notice& notice)
    : folder_(std::move(folder)), hidden_(std::move(hidden)) {
  do make_folders();
  while (!try_lock(notice));
}

FolderLock::~FolderLock() {
  std::error_code ignored;
  // Removes the file while the lock is held, so that no other run's lock is removed.
  std::filesystem::remove(hidden_ / "lock", ignored);
  if (rmdir(hidden_.c_str()) == 0 && !topmost_made_.empty()) {
    for (std::filesystem::path made = folder_; rmdir(made.c_str()) == 0 && made != topmost_made_;) {
      made = made.parent_path();
    }
  }
  if (descriptor_ >= 0) close(descriptor_);
}

void FolderLock::make_folders() {
  std::error_code code;
  if (topmost_made_.empty()) {
    for (std::filesystem::path p = folder_; !p.empty() && !std::filesystem::exists(p, code); p = p.parent_path()) {
      topmost_made_ = p;
    }
  }
  make_folder(hidden_, folder_);
}

bool FolderLock::try_lock(const Notice& notice) {
  const std::filesystem::path file = hidden_ / "lock";
  descriptor_ = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (descriptor_ < 0 && errno == ENOENT) return false;  // removed by another run between the two steps
  if (descriptor_ < 0) throw_cannot_write(file, errno);
  if (flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
    const int error = errno;
    const std::string holder = process_in(descriptor_);
    const bool current = is_current(descriptor_, file);
    if (error == EWOULDBLOCK) {
      close(std::exchange(descriptor_, -1));
      if (!current) return false;
      throw FolderLocked(folder_.string() + " is being written by " + holder +
                         "; wait until it has ended, or choose another folder");
    }
    if (notice) {
      notice("the file system of " + folder_.string() +
             " has no locks: see to it that no other run writes there at the same time");
    }
  } else if (!is_current(descriptor_, file)) {
    close(std::exchange(descriptor_, -1));
    return false;
  }
  // The number is only for messages of other processes. A full disk does not prevent the lock.
  const std::string process = std::to_string(getpid());
  if (ftruncate(descriptor_, 0) == 0) static_cast<void>(pwrite(descriptor_, process.data(), process.size(), 0));
  return true;
}

}  // namespace epsflow::io
