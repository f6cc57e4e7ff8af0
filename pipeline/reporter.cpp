#include <epsflow/pipeline/reporter.hpp>

#include <tbb/task_arena.h>

#include <algorithm>

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

void Reporter::progress(double eps, double share) {
  if (!observer_.on_progress) return;
  {
    // Batches of a table may arrive here in another order than they were counted in.
    const std::scoped_lock lock(table_mutex_);
    table_share_ = eps == table_eps_ ? std::max(share, table_share_) : share;
    table_eps_ = eps;
  }
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return;
  call([&] { report(false); });
}

void Reporter::report(bool always) {
  if (!observer_.on_progress) return;
  const double seconds = time_.seconds();
  if (!always && seconds - reported_ < 0.05) return;
  reported_ = seconds;
  {
    const std::scoped_lock lock(table_mutex_);
    progress_.table_eps = table_eps_;
    progress_.table_share = table_share_;
  }
  progress_.seconds = seconds;
  observer_.on_progress(progress_);
}

}  // namespace epsflow
