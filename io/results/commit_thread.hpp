// A thread that makes finished variants durable, so that a sweep does not wait for the disk.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <epsflow/io/results/results_manifest.hpp>

namespace epsflow::io {

/// A file of results under its temporary name.
struct PendingFile {
  std::string name;  ///< the final name
  std::filesystem::path partial;
  FileDigest digest;
};

/// A variant whose files are written, the labels first, but still have their temporary names.
struct PendingVariant {
  SweepEntry entry;
  std::vector<PendingFile> files;
};

/// Passes variants to `commit` in batches: about one batch a second, or at once if there are many bytes.
class CommitThread {
 public:
  using Commit = std::function<void(const std::vector<PendingVariant>&)>;

  explicit CommitThread(Commit commit) : commit_(std::move(commit)), thread_([this] { run(); }) {}
  /// Ends the thread. Does not commit waiting variants.
  ~CommitThread() { stop(false); }
  CommitThread(const CommitThread&) = delete;
  CommitThread& operator=(const CommitThread&) = delete;

  /// Adds a variant. Throws the exception that `commit` threw on the thread. Thread-safe.
  void add(PendingVariant variant);
  /// Waits until everything is committed, and ends the thread. Throws the exception that `commit` threw.
  void finish();

 private:
  void run() noexcept;
  void stop(bool drain);

  Commit commit_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<PendingVariant> pending_;
  std::uint64_t pending_bytes_ = 0;
  std::chrono::steady_clock::time_point first_;  ///< time at which the first of pending_ was added
  bool stopping_ = false;
  std::exception_ptr failed_;
  std::thread thread_;
};

}  // namespace epsflow::io
