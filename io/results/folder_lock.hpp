// One run at a time in a folder.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include <epsflow/core/error.hpp>

namespace epsflow::io {

/// A function that is called with one sentence for information, on which the caller need not act. May be empty.
using Notice = std::function<void(const std::string&)>;

/// Another process holds the lock.
class FolderLocked : public UsageError {
 public:
  using UsageError::UsageError;
};

/// A lock on a folder that dies with the process that holds it, however that ends.
class FolderLock {
 public:
  /// Locks `folder` by the file `hidden`/lock, and makes both folders if they are missing. Throws FolderLocked
  /// naming the process that holds it, and ResourceError if the file cannot be made. If the file system has no locks,
  /// `notice` gets a sentence about it, and nothing is locked.
  FolderLock(std::filesystem::path folder, std::filesystem::path hidden, const Notice& notice);
  /// Releases the lock, and removes the folders that this made and that are empty.
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  void make_folders();
  [[nodiscard]] bool try_lock(const Notice& notice);

  std::filesystem::path folder_;
  std::filesystem::path hidden_;
  std::filesystem::path topmost_made_;  ///< the outermost folder that was missing and that this made; or empty
  int descriptor_ = -1;
};

}  // namespace epsflow::io
