// How long the rest of an exploration takes, foretold from some of its eps.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include <epsflow/core/sweep.hpp>
#include <epsflow/pipeline/options.hpp>

namespace epsflow {

/// A grid costs by far not the same at each eps, and not most at the largest or the smallest. So a few eps, spread over the grid, are swept
/// first, two by two. What the others take is between what those beside them took.
///
/// Not thread-safe, but for the observers that it makes: they are called by one run at a time. `observer` must outlive it.
class Forecast {
 public:
  /// sweep: a full grid. labels: how many cells are expected to be labelled after it.
  Forecast(const Sweep& sweep, std::size_t labels, const Observer& observer);

  /// What is to be swept in one run each, in this order: some eps, and then all others. One run where nobody looks at the progress, or
  /// the grid is small.
  [[nodiscard]] std::span<const Sweep> parts() const noexcept { return parts_; }
  /// Observes the next part, and after the last the runs that make labels.
  [[nodiscard]] Observer next();
  /// The run that next() observed has ended.
  void ended();

 private:
  using Clock = std::chrono::steady_clock;

  [[nodiscard]] double cost(std::size_t eps) const;
  [[nodiscard]] double cost_of_labels() const;
  [[nodiscard]] std::optional<double> seconds_left(std::size_t done) const;
  [[nodiscard]] double seconds_of_run() const {
    return std::chrono::duration<double>(Clock::now() - run_began_).count();
  }

  const Observer& observer_;
  const Clock::time_point began_ = Clock::now();
  Clock::time_point run_began_ = began_;
  std::vector<Sweep> parts_;
  std::vector<std::size_t> pilots_;             ///< the first eps of each part but the last
  std::vector<std::optional<double>> seconds_;  ///< [eps] that were swept first
  std::size_t minpts_ = 1;                      ///< of each eps
  std::size_t cells_ = 0;
  std::size_t cells_done_ = 0;
  std::size_t part_ = 0;
  std::size_t labels_;  ///< still to be made
};

}  // namespace epsflow
