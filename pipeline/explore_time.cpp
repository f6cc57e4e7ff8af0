#include <epsflow/pipeline/explore_time.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <condition_variable>
#include <limits>
#include <map>
#include <mutex>
#include <utility>

#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>

namespace epsflow {
namespace {

/// The most seconds that a clock can count from now on.
constexpr double kMostSeconds = 1e9;
/// Positions of the eps that are swept first, as shares of their number. The first, in the middle, allow an estimate.
constexpr std::array kPilots{0.5, 0.25, 0.75, 0.0, 0.95};
/// Number of eps that are swept at once, the same as later on.
constexpr std::size_t kPilotEps = 2;
constexpr std::size_t kFewestEps = 16;
/// Expected time of the first and the last eps before they are swept, as a share of the time of an eps in the middle.
constexpr double kOfEnds = 0.3;
/// Seconds are raised to this before their logarithm is taken.
constexpr double kLeastSeconds = 1e-6;

double countable(const std::optional<double>& seconds) {
  return seconds && *seconds > 0 ? std::min(*seconds, kMostSeconds) : 0;
}

}  // namespace

TimeBound::TimeBound(std::optional<double> seconds, const CancelToken* caller)
    : seconds_(seconds),
      caller_(caller),
      end_(std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                                                  std::chrono::duration<double>(countable(seconds)))),
      token_(caller) {
  if (!seconds) return;
  if (!(*seconds > 0)) {
    throw UsageError("the bound of time is " + format_number(*seconds) + " seconds: give a number above 0, or none");
  }
  alarm_ = std::jthread([this](const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any stopped;
    std::unique_lock lock(mutex);
    stopped.wait_until(lock, stop, end_, [&] { return stop.stop_requested(); });
    if (!stop.stop_requested()) token_.cancel();
  });
}

double TimeBound::left() const noexcept {
  if (!seconds_) return std::numeric_limits<double>::infinity();
  return std::chrono::duration<double>(end_ - std::chrono::steady_clock::now()).count();
}

void TimeBound::require_spent() const {
  if (!seconds_ || (caller_ != nullptr && caller_->cancelled())) throw Cancelled();
}

void TimeBound::refuse() const {
  throw UsageError("the " + format_number(*seconds_) +
                   " seconds that it may take are over before a coarse grid is swept: allow more time, or give a grid "
                   "of few eps and minpts, or fewer points");
}

Forecast::Forecast(const Sweep& sweep, std::size_t labels, const Observer& observer)
    : observer_(observer), cells_(sweep.size()), labels_(labels) {
  std::vector<std::vector<Variant>> groups = variants_by_eps(sweep);
  const std::size_t count = groups.size();
  seconds_.resize(count);
  if (!observer.on_progress || count < kFewestEps) {
    parts_.push_back(sweep);
    return;
  }
  minpts_ = sweep.size() / count;
  for (const double share : kPilots) {
    const auto begin = std::min(static_cast<std::size_t>(share * static_cast<double>(count)), count - kPilotEps);
    std::vector<Variant>& variants = groups[begin];
    for (std::size_t e = begin + 1; e < begin + kPilotEps; ++e) {
      variants.insert(variants.end(), groups[e].begin(), groups[e].end());
      groups[e].clear();
    }
    parts_.emplace_back(std::exchange(variants, {}));
    pilots_.push_back(begin);
  }
  std::vector<Variant> rest;
  for (const std::vector<Variant>& variants : groups) rest.insert(rest.end(), variants.begin(), variants.end());
  parts_.emplace_back(std::move(rest));
}

Observer Forecast::next() {
  time_of_run_ = {};
  Observer observer = observer_;
  if (!observer_.on_progress) return observer;
  if (part_ == 0 && !pilots_.empty()) {  // no estimate is possible yet
    observer.on_progress = nullptr;
    return observer;
  }
  observer.on_progress = [this](const Progress& p) {
    Progress all = p;
    const std::size_t done = part_ < parts_.size() ? p.variants_done : 0;
    all.variants = cells_;
    all.variants_done = std::min(cells_, cells_done_ + done);
    all.seconds = time_.seconds();
    all.seconds_left = seconds_left(done);
    observer_.on_progress(all);
  };
  return observer;
}

void Forecast::ended() {
  if (part_ < pilots_.size()) {
    for (std::size_t k = 0; k < kPilotEps; ++k) {
      seconds_[pilots_[part_] + k] = time_of_run_.seconds() / static_cast<double>(kPilotEps);
    }
  }
  if (part_ < parts_.size()) {
    cells_done_ += parts_[part_].size();
    ++part_;
  } else {
    labels_ -= std::min<std::size_t>(labels_, 1);
  }
}

/// Interpolates between the nearest eps that were swept first, in even ratios, because times rise and fall by factors.
/// The first and the last eps are mostly faster than the middle ones.
double Forecast::cost(std::size_t eps) const {
  const std::size_t last = seconds_.size() - 1;
  const auto known = [&](std::size_t e) -> std::optional<double> {
    if (seconds_[e]) return seconds_[e];
    if (e == 0 || e == last) return kOfEnds * *seconds_[pilots_.front()];
    return std::nullopt;
  };
  std::size_t before = eps, after = eps;
  while (!known(before)) --before;
  while (!known(after)) ++after;
  if (before == after) return *known(eps);
  const double share = static_cast<double>(eps - before) / static_cast<double>(after - before);
  return std::exp(std::lerp(std::log(std::max(*known(before), kLeastSeconds)),
                            std::log(std::max(*known(after), kLeastSeconds)), share));
}

std::optional<double> Forecast::seconds_left(std::size_t done) const {
  if (pilots_.empty() || !seconds_[pilots_.front()]) return std::nullopt;
  double left = 0, of_done = 0;
  std::size_t groups_done = done / minpts_;  // of the rest, by descending eps
  for (std::size_t e = seconds_.size(); e-- > 0;) {
    if (seconds_[e]) continue;
    const bool counts = part_ == pilots_.size() && groups_done > 0;
    if (counts) --groups_done;
    (counts ? of_done : left) += cost(e);
  }
  if (part_ >= parts_.size()) left = 0;
  // A long run is faster than several short ones, and other load on the machine varies.
  const double pace = of_done > 0.05 * (of_done + left) ? time_of_run_.seconds() / of_done : 1;
  double of_eps = 0;  // on average
  for (std::size_t e = 0; e < seconds_.size(); ++e) of_eps += cost(e) / static_cast<double>(seconds_.size());
  return left * pace + static_cast<double>(labels_) * of_eps / static_cast<double>(minpts_);
}

std::vector<std::vector<Variant>> variants_by_eps(const Sweep& sweep) {
  std::map<double, std::vector<Variant>> by_eps;
  for (const Variant& v : sweep.variants()) by_eps[v.eps].push_back(v);
  std::vector<std::vector<Variant>> groups;
  groups.reserve(by_eps.size());
  for (auto& [eps, variants] : by_eps) groups.push_back(std::move(variants));
  return groups;
}

}  // namespace epsflow
