// Holds the options of an engine and of a run in one value, for tests that vary both.
#pragma once

#include <epsflow/parts/sweep.hpp>
#include <epsflow/pipeline/neighbors.hpp>
#include <epsflow/pipeline/options.hpp>
#include <epsflow/pipeline/sweep.hpp>

namespace epsflow::test {

struct Settings {
  EngineOptions engine = {};
  RunOptions run = {};
};

[[nodiscard]] inline std::vector<VariantResult> run(PointsView points, const Sweep& sweep, const Settings& settings,
                                                    const Observer& observer = {}) {
  return epsflow::run(points, sweep, settings.engine, settings.run, observer);
}
inline void run_each(PointsView points, const Sweep& sweep, const Settings& settings, const OnResult& on_result,
                     const Observer& observer = {}) {
  const parts::SharingAnswer one;
  epsflow::run_each({points}, {.options = {&settings.engine, 1}, .sharing = &one}, sweep, settings.run, on_result,
                    observer);
}
[[nodiscard]] inline Neighbors neighbors(PointsView points, double eps, Distances distances, const Settings& settings,
                                         const Observer& observer = {}) {
  return epsflow::neighbors(points, eps, distances, settings.engine, settings.run.search, observer);
}

}  // namespace epsflow::test
