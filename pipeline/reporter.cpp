#include <epsflow/pipeline/reporter.hpp>

#include <tbb/task_arena.h>

namespace epsflow {

Reporter::Reporter(const Observer& observer, std::size_t variants) : observer_(observer) {
  progress_.variants = variants;
}

template <class F>
void Reporter::call(F&& f) {
  if (failed_ != nullptr) std::rethrow_exception(failed_);
  try {
    // Isolated: the lock is held while the caller's code runs, and a thread that takes up another task of the graph
    // meanwhile might come here again.
    tbb::this_task_arena::isolate(f);
  } catch (...) {
    failed_ = std::current_exception();
    throw;
  }
}

void Reporter::done(const std::function<void()>& hand_over) {
  const std::scoped_lock lock(mutex_);
  call([&] {
    hand_over();
    ++progress_.variants_done;
    report(true);
  });
}

void Reporter::moved(double eps, double share) {
  if (!observer_.on_progress) return;
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return;
  progress_.table_eps = eps;
  progress_.table_share = share;
  call([&] { report(false); });
}

void Reporter::report(bool always) {
  if (!observer_.on_progress) return;
  const Clock::time_point now = Clock::now();
  if (!always && now - reported_ < std::chrono::milliseconds(50)) return;
  reported_ = now;
  progress_.seconds = std::chrono::duration<double>(now - begin_).count();
  observer_.on_progress(progress_);
}

}  // namespace epsflow
