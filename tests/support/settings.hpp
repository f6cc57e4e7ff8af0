// Holds the options of an engine and of a run in one value, for tests that vary both.
#pragma once

#include <cstddef>
#include <sstream>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include <epsflow/parts/sweep.hpp>
#include <epsflow/pipeline/neighbors.hpp>
#include <epsflow/pipeline/options.hpp>
#include <epsflow/pipeline/sweep.hpp>

namespace epsflow::test {

struct Settings {
  EngineOptions engine = {};
  RunOptions run = {};
};

/// Returns the names and values of the options that are not at their defaults.
inline std::string describe(const Settings& settings) {
  std::ostringstream text;
  const auto add = [&]<class Owner>(const Owner& owner) {
    for (const Option<Owner>& option : options_of<Owner>()) {
      const OptionValue value = option.get(owner);
      if (value == option.get(Owner{})) continue;
      text << option.library << ' ';
      std::visit(
          [&]<class T>(const T& v) {
            if constexpr (!std::is_same_v<T, std::monostate>) text << v;
          },
          value);
      text << ", ";
    }
  };
  add(settings.engine);
  add(settings.run.search);
  add(settings.run);
  return text.str();
}

/// Returns the options of runs whose tables are made in different ways: every kernel and format with every method.
inline std::vector<RunOptions> ways_of_tables(std::size_t dims) {
  std::vector<RunOptions> ways;
  for (const Kernel kernel : {Kernel::rows, Kernel::global, Kernel::shared}) {
    for (const FormatChoice format : {FormatChoice::automatic, FormatChoice::csr, FormatChoice::packed}) {
      if (format == FormatChoice::packed && (emits_pairs(kernel) || dims > 3)) continue;
      for (const VariantMethod method : {VariantMethod::nested, VariantMethod::each}) {
        ways.push_back({.search = {.kernel = kernel, .format = format}, .method = method});
      }
    }
  }
  return ways;
}

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
