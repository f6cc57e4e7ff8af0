// The time of an exploration: a bound on it, and an estimate of the rest of it.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include <epsflow/core/cancel.hpp>
#include <epsflow/core/sweep.hpp>
#include <epsflow/pipeline/options.hpp>

namespace epsflow {

/// Cancels the work in progress when the time is over.
class TimeBound {
 public:
  /// seconds: from now on; nothing: no bound. caller: null, or a token that also cancels the work; it must outlive this. Throws UsageError
  /// unless seconds is above 0.
  TimeBound(std::optional<double> seconds, const CancelToken* caller);

  [[nodiscard]] bool given() const noexcept { return seconds_.has_value(); }
  /// The seconds that are left: 0 or less when the time is over, infinity without a bound.
  [[nodiscard]] double left() const noexcept;
  /// Cancelled by the caller, and when the time is over.
  [[nodiscard]] const CancelToken& token() const noexcept { return token_; }
  /// After work was cancelled: throws Cancelled if the caller did it.
  void require_spent() const;
  /// Throws UsageError: the time is over before there is any result.
  [[noreturn]] void refuse() const;

 private:
  using Clock = std::chrono::steady_clock;

  const std::optional<double> seconds_;
  const CancelToken* const caller_;
  const Clock::time_point end_;
  CancelToken token_;
  std::jthread alarm_;  // last: it uses the others
};

/// Estimates the rest of an exploration. The eps of a grid cost very different times, and neither the largest nor the smallest eps always
/// costs most. So a few eps, spread over the grid, are swept first, two at a time. Each other eps is expected to cost between what its
/// nearest neighbours among these did.
///
/// Not thread-safe, but for the observers that it makes: they are called by one run at a time. `observer` must outlive it.
class Forecast {
 public:
  /// sweep: a full grid. labels: how many cells are expected to be labelled after it.
  Forecast(const Sweep& sweep, std::size_t labels, const Observer& observer);

  /// What is to be swept in one run each, in this order: some eps, and then all others. One run if there is no on_progress, or if the grid
  /// is small.
  [[nodiscard]] std::span<const Sweep> parts() const noexcept { return parts_; }
  /// Observes the next part, and after the last part the runs that make labels.
  [[nodiscard]] Observer next();
  /// The run that next() observed has ended.
  void ended();

 private:
  using Clock = std::chrono::steady_clock;

  [[nodiscard]] double cost(std::size_t eps) const;
  [[nodiscard]] std::optional<double> seconds_left(std::size_t done) const;
  [[nodiscard]] double seconds_of_run() const {
    return std::chrono::duration<double>(Clock::now() - run_began_).count();
  }

  const Observer& observer_;
  const Clock::time_point began_ = Clock::now();
  Clock::time_point run_began_ = began_;
  std::vector<Sweep> parts_;
  std::vector<std::size_t> pilots_;             ///< the first eps of each part but the last
  std::vector<std::optional<double>> seconds_;  ///< [eps] of those that were swept first
  std::size_t minpts_ = 1;                      ///< of each eps
  std::size_t cells_ = 0;
  std::size_t cells_done_ = 0;
  std::size_t part_ = 0;
  std::size_t labels_;  ///< still to be made
};

/// The variants of each eps, by ascending eps.
[[nodiscard]] std::vector<std::vector<Variant>> variants_by_eps(const Sweep& sweep);

}  // namespace epsflow
