// The points of a process, wherever they are, with what belongs to them.
#pragma once

#include <cstdint>
#include <span>
#include <variant>

#include <epsflow/core/error.hpp>
#include <epsflow/core/metric.hpp>
#include <epsflow/parts/point_rows.hpp>
#include <epsflow/pipeline/engine.hpp>

namespace epsflow {

/// What it looks at must outlive the sweep, unchanged.
struct PointSet {
  /// [n × d] in host memory; or brought by a PointsSource as they are needed, several times: its write() is called from several threads at once,
  /// for any rows. Where the metric may move points, and where no parts are made, all of these are brought into memory first. Or what an engine has
  /// loaded, with a metric, weights and slices already: then the members below stay empty.
  std::variant<parts::PointRows, Dataset> rows;
  Metric metric = {};
  std::span<const double> weights = {};        ///< [n] as for Dataset::weighted(), or none
  std::span<const std::uint64_t> slices = {};  ///< [count + 1] as for Engine::load(), or none: one data set

  /// Those that no engine has loaded. Throws UsageError where one has.
  [[nodiscard]] const parts::PointRows& host_rows() const {
    if (const auto* const given = std::get_if<parts::PointRows>(&rows)) return *given;
    throw UsageError("the points are loaded by an engine, and what is asked for takes them from the host: give these");
  }
};

}  // namespace epsflow
