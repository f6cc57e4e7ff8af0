// The input of a sweep: points in any place, with their metric, weights and slices.
#pragma once

#include <cstdint>
#include <span>
#include <variant>

#include <epsflow/core/error.hpp>
#include <epsflow/core/metric.hpp>
#include <epsflow/parts/point_rows.hpp>
#include <epsflow/pipeline/engine.hpp>

namespace epsflow {

/// The points of one process. The arrays that it refers to must outlive the sweep and must not change.
struct PointSet {
  /// [n × d] in host memory, or a PointsSource, or a data set that an engine has loaded. Several threads call PointsSource::write() at once, for
  /// any rows and repeatedly. If the metric transforms points, or if no parts are made, all rows of a source are read into memory first. A loaded
  /// data set has its own metric, weights and slices; the members below must then be empty.
  std::variant<parts::PointRows, Dataset> rows;
  Metric metric = {};
  std::span<const double> weights = {};        ///< [n] as for Dataset::weighted(), or empty
  std::span<const std::uint64_t> slices = {};  ///< [count + 1] as for Engine::load(), or empty for one data set

  /// Returns the rows that no engine has loaded. Throws UsageError if they are a loaded data set.
  [[nodiscard]] const parts::PointRows& host_rows() const {
    if (const auto* const given = std::get_if<parts::PointRows>(&rows)) return *given;
    throw UsageError("the points are loaded by an engine, and what is asked for takes them from the host: give these");
  }
};

}  // namespace epsflow
