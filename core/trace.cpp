#include <epsflow/core/trace.hpp>

#include <algorithm>
#include <functional>
#include <thread>

namespace epsflow {

void Trace::record(Stage stage, Clock::time_point begin, Clock::time_point end, double eps,
                   TraceDetail detail) noexcept {
  const std::uint64_t id = std::hash<std::thread::id>{}(std::this_thread::get_id());
  const auto ns = [&](Clock::time_point t) {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(t - start_).count();
  };
  try {
    const std::scoped_lock lock(mutex_);
    auto at = std::find(threads_.begin(), threads_.end(), id);
    if (at == threads_.end()) at = threads_.insert(threads_.end(), id);
    spans_.push_back({stage, static_cast<std::uint32_t>(at - threads_.begin()), ns(begin), ns(end), eps, detail});
  } catch (...) {  // NOLINT(bugprone-empty-catch): see the header
  }
}

void Trace::count_retry() {
  const std::scoped_lock lock(mutex_);
  ++retries_;
}

void Trace::count_undecided_pairs(std::uint64_t pairs) {
  const std::scoped_lock lock(mutex_);
  undecided_pairs_ += pairs;
}

std::vector<TraceSpan> Trace::spans() const {
  const std::scoped_lock lock(mutex_);
  return spans_;
}

std::uint64_t Trace::retries() const {
  const std::scoped_lock lock(mutex_);
  return retries_;
}

std::uint64_t Trace::undecided_pairs() const {
  const std::scoped_lock lock(mutex_);
  return undecided_pairs_;
}

TraceScope::~TraceScope() {
  if (trace_ != nullptr) trace_->record(stage_, begin_, Trace::Clock::now(), eps_, detail_);
}

}  // namespace epsflow
