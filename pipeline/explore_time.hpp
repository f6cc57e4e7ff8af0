// A bound on the time of an exploration, and an estimate of the time left.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include <epsflow/core/cancel.hpp>
#include <epsflow/core/stopwatch.hpp>
#include <epsflow/core/sweep.hpp>
#include <epsflow/pipeline/options.hpp>

namespace epsflow {

/// Cancels the work in progress when the time is over.
class TimeBound {
 public:
  /// seconds: counted from now on; empty: no bound. caller: null, or a token that also cancels the work; it must
  /// outlive this. Throws UsageError unless seconds is above 0.
  TimeBound(std::optional<double> seconds, const CancelToken* caller);

  [[nodiscard]] bool given() const noexcept { return seconds_.has_value(); }
  /// Returns the seconds that are left: 0 or less when the time is over, infinity without a bound.
  [[nodiscard]] double left() const noexcept;
  /// Returns true if work that is expected to take these seconds may begin: if it fits into four fifths of the time
  /// left, because other load varies.
  [[nodiscard]] bool fits(double seconds) const noexcept { return seconds <= 0.8 * left(); }
  /// Returns the token, which is cancelled by the caller or when the time is over.
  [[nodiscard]] const CancelToken& token() const noexcept { return token_; }
  /// Call it after work was cancelled. Throws Cancelled if the caller has cancelled it or there is no bound; otherwise
  /// the time is over, and it returns.
  void require_spent() const;
  /// Throws the UsageError for time that is over before there is any result. Call it only if given().
  [[noreturn]] void refuse() const;

 private:
  const std::optional<double> seconds_;
  const CancelToken* const caller_;
  const std::chrono::steady_clock::time_point end_;
  CancelToken token_;
  std::jthread alarm_;  // last: it uses the members above
};

/// Estimates the time left of an exploration. The eps of a grid take very different times, and the slowest eps may be
/// neither the largest nor the smallest. So a few eps, spread over the grid, are swept first, two at a time. The time
/// of each other eps is expected to lie between the times of its nearest neighbours among these. While the first or the
/// last eps is not among them, a share of the time of an eps in the middle stands for its time.
///
/// Not thread-safe, except for the observers that it makes: one run calls them at a time. `observer` must outlive it.
class Forecast {
 public:
  /// sweep: a full grid. labels: the expected number of cells that are labelled afterwards.
  Forecast(const Sweep& sweep, std::size_t labels, const Observer& observer);

  /// Returns the sweeps to run one after the other: sweeps of a few eps each, then a sweep of all other eps. Returns
  /// one sweep of all eps for a small grid, and if Observer::on_progress is null.
  [[nodiscard]] std::span<const Sweep> parts() const noexcept { return parts_; }
  /// Returns an observer for the run of the next part; after the last part, for the next run that makes labels.
  [[nodiscard]] Observer next();
  /// Call it when the run that next() observed has ended.
  void ended();

 private:
  [[nodiscard]] double cost(std::size_t eps) const;
  [[nodiscard]] std::optional<double> seconds_left(std::size_t done) const;

  const Observer& observer_;
  const Stopwatch time_;
  Stopwatch time_of_run_;
  std::vector<Sweep> parts_;
  std::vector<std::size_t> pilots_;             ///< [parts − 1] the first eps of each part except the last
  std::vector<std::optional<double>> seconds_;  ///< [eps] time of each eps that was swept first
  std::size_t minpts_ = 1;                      ///< number of minpts of each eps
  std::size_t cells_ = 0;
  std::size_t cells_done_ = 0;
  std::size_t part_ = 0;
  std::size_t labels_;  ///< number of labellings that are left
};

/// Returns the variants of each eps, by ascending eps.
[[nodiscard]] std::vector<std::vector<Variant>> variants_by_eps(const Sweep& sweep);

}  // namespace epsflow
