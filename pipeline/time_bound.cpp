#include <epsflow/pipeline/time_bound.hpp>

#include <algorithm>
#include <limits>

#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>

namespace epsflow {
namespace {

/// What a clock can count beyond now.
constexpr double kMostSeconds = 1e9;

double countable(const std::optional<double>& seconds) {
  return seconds && *seconds > 0 ? std::min(*seconds, kMostSeconds) : 0;
}

}  // namespace

TimeBound::TimeBound(std::optional<double> seconds, const CancelToken* caller)
    : seconds_(seconds),
      caller_(caller),
      end_(Clock::now() +
           std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(countable(seconds)))),
      token_(caller) {
  if (!seconds) return;
  if (!(*seconds > 0)) {
    throw UsageError("the bound of time is " + format_number(*seconds) + " seconds: give a number above 0, or none");
  }
  alarm_ = std::thread([this] {
    std::unique_lock lock(mutex_);
    if (!ended_.wait_until(lock, end_, [this] { return over_; })) token_.cancel();
  });
}

TimeBound::~TimeBound() {
  if (!alarm_.joinable()) return;
  {
    const std::scoped_lock lock(mutex_);
    over_ = true;
  }
  ended_.notify_one();
  alarm_.join();
}

double TimeBound::left() const noexcept {
  if (!seconds_) return std::numeric_limits<double>::infinity();
  return std::chrono::duration<double>(end_ - Clock::now()).count();
}

void TimeBound::require_spent() const {
  if (!seconds_ || (caller_ != nullptr && caller_->cancelled())) throw Cancelled();
}

void TimeBound::refuse() const {
  throw UsageError("the " + format_number(*seconds_) +
                   " seconds that it may take are over before a coarse grid is swept: allow more time, or give a grid "
                   "of few eps and minpts, or fewer points");
}

}  // namespace epsflow
