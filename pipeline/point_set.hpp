// The input of a sweep: points in memory, from a source or loaded, with their metric, weights and slices.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <variant>

#include <epsflow/core/error.hpp>
#include <epsflow/core/metric.hpp>
#include <epsflow/pipeline/engine.hpp>
#include <epsflow/pipeline/options.hpp>
#include <epsflow/pipeline/point_rows.hpp>

namespace epsflow {

/// The points of one process. The arrays that it refers to must outlive the sweep and must not change.
struct PointSet {
  /// points: [n × d] in host memory, or a PointsSource. Several threads call PointsSource::write() at once, for any
  /// rows and repeatedly. If the metric transforms points, or if no parts are made, all rows of a source are read into
  /// memory first.
  template <class P>
  requires std::convertible_to<const P&, PointRows> PointSet(
      const P& points,  // NOLINT(google-explicit-constructor): they are points
      Metric by = {}, std::span<const double> weighed = {}, std::span<const std::uint64_t> sliced = {})
      : rows(std::in_place_type<PointRows>, points), metric(std::move(by)), weights(weighed), slices(sliced) {}
  /// loaded: a data set of an engine. It has its own metric, weights and slices; the members below stay empty.
  PointSet(Dataset loaded)  // NOLINT(google-explicit-constructor): they are points
      : rows(std::move(loaded)) {}

  std::variant<PointRows, Dataset> rows;
  Metric metric = {};
  std::span<const double> weights = {};        ///< [n] as for Dataset::weighted(), or empty
  std::span<const std::uint64_t> slices = {};  ///< [count + 1] as for Engine::load(), or empty for one data set

  /// Returns the rows that no engine has loaded. Throws UsageError if they are a loaded data set.
  [[nodiscard]] const PointRows& host_rows() const {
    if (const auto* const given = std::get_if<PointRows>(&rows)) return *given;
    throw UsageError("the points are loaded by an engine, and what is asked for takes them from the host: give these");
  }
  [[nodiscard]] std::size_t size() const {
    const auto* const loaded = std::get_if<Dataset>(&rows);
    return loaded != nullptr ? loaded->size() : host_rows().size();
  }
};

/// Throws UsageError if metric, weights or slices are given with loaded points, which have their own.
void check_loaded(const PointSet& points);

/// Loads points that are in memory with the engine that `engine` returns; in a trace, making the engine counts as
/// loading. Throws as Engine::load() and Dataset::weighted() do.
[[nodiscard]] Dataset load(const PointSet& points, const std::function<Engine()>& engine,
                           const Observer& observer = {});

}  // namespace epsflow
