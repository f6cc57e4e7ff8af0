#include <epsflow/io/results/commit_thread.hpp>

#include <utility>

namespace epsflow::io {
namespace {

constexpr std::chrono::seconds kInterval{1};
constexpr std::uint64_t kMuch = 1ULL << 28;  // 256 MiB: one second of a fast disk

}  // namespace

void CommitThread::add(PendingVariant variant) {
  const std::scoped_lock lock(mutex_);
  if (failed_ != nullptr) std::rethrow_exception(failed_);
  if (pending_.empty()) first_ = std::chrono::steady_clock::now();
  for (const PendingFile& file : variant.files) pending_bytes_ += file.digest.bytes;
  pending_.push_back(std::move(variant));
  if (pending_.size() == 1 || pending_bytes_ >= kMuch) changed_.notify_one();
}

void CommitThread::finish() {
  stop(true);
  if (failed_ != nullptr) std::rethrow_exception(failed_);
}

void CommitThread::stop(bool drain) {
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
    if (!drain) pending_.clear();
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void CommitThread::run() noexcept {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return stopping_ || !pending_.empty(); });
    changed_.wait_until(lock, first_ + kInterval, [&] { return stopping_ || pending_bytes_ >= kMuch; });
    if (pending_.empty()) {
      if (stopping_) return;
      continue;
    }
    const std::vector<PendingVariant> batch = std::exchange(pending_, {});
    pending_bytes_ = 0;
    lock.unlock();
    try {
      commit_(batch);
      lock.lock();
    } catch (...) {
      lock.lock();
      failed_ = std::current_exception();
      pending_.clear();
      return;
    }
  }
}

}  // namespace epsflow::io
