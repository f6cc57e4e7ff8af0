// Allows one run at a time in a folder.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include <epsflow/core/error.hpp>

namespace epsflow::io {

/// Receives one sentence of information, which needs no action. May be empty.
using Notice = std::function<void(const std::string&)>;

/// Another FolderLock, of this or another process, holds the lock.
class FolderLocked : public UsageError {
 public:
  using UsageError::UsageError;
};

/// A lock on a folder. The system releases it when the process ends, even by a crash.
class FolderLock {
 public:
  /// Locks `folder` by the file `hidden`/lock, and creates both folders if they are missing. hidden: a folder within
  /// `folder`. Does not wait: if another object holds the lock, throws FolderLocked, which names its process. Throws
  /// ResourceError if the file cannot be created. If the file system has no locks, `notice` gets a sentence about it,
  /// and nothing is locked.
  FolderLock(std::filesystem::path folder, std::filesystem::path hidden, const Notice& notice);
  /// Removes its file and releases the lock. Also removes `hidden` if it is empty, even if it was there before; then
  /// `folder` and its parents if this object created them and they are empty.
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  void make_folders();
  [[nodiscard]] bool try_lock(const Notice& notice);

  std::filesystem::path folder_;
  std::filesystem::path hidden_;
  std::filesystem::path topmost_made_;  ///< outermost folder that this object created, or empty
  int descriptor_ = -1;
};

}  // namespace epsflow::io
