// Words of Python for choices of the library.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include <epsflow/core/choices.hpp>
#include <epsflow/core/error.hpp>
#include <epsflow/core/metric.hpp>

namespace epsflow::python {

template <class T, std::size_t N>
using Words = std::array<std::pair<std::string_view, T>, N>;

inline constexpr Words<BackendChoice, 3> kBackends{
    {{"auto", BackendChoice::automatic}, {"cpu", BackendChoice::cpu}, {"gpu", BackendChoice::gpu}}};
inline constexpr Words<StrategyChoice, 3> kStrategies{
    {{"auto", StrategyChoice::automatic}, {"table", StrategyChoice::table}, {"direct", StrategyChoice::direct}}};
inline constexpr Words<IndexChoice, 4> kIndexes{{{"auto", IndexChoice::automatic},
                                                 {"grid", IndexChoice::grid},
                                                 {"tree", IndexChoice::tree},
                                                 {"all", IndexChoice::all}}};
inline constexpr Words<DecideChoice, 4> kDeciders{{{"auto", DecideChoice::automatic},
                                                   {"scalar", DecideChoice::scalar},
                                                   {"tensor64", DecideChoice::tensor64},
                                                   {"tensor16", DecideChoice::tensor16}}};

inline constexpr Words<MetricKind, 7> kMetrics{{{"euclidean", MetricKind::euclidean},
                                                {"greatcircle", MetricKind::greatcircle},
                                                {"haversine", MetricKind::haversine},
                                                {"cosine", MetricKind::cosine},
                                                {"manhattan", MetricKind::manhattan},
                                                {"chebyshev", MetricKind::chebyshev},
                                                {"minkowski", MetricKind::minkowski}}};
inline constexpr Words<ArcUnit, 5> kArcUnits{{{"deg", ArcUnit::degree},
                                              {"arcmin", ArcUnit::arcminute},
                                              {"arcsec", ArcUnit::arcsecond},
                                              {"rad", ArcUnit::radian},
                                              {"km", ArcUnit::kilometre}}};

/// The choice that a parameter's word stands for. Throws UsageError that names the parameter and its words.
template <class T, std::size_t N>
[[nodiscard]] T choice_of(std::string_view parameter, std::string_view word, const Words<T, N>& words) {
  std::string all;
  for (const auto& [name, choice] : words) {
    if (name == word) return choice;
    all += (all.empty() ? "'" : ", '") + std::string(name) + "'";
  }
  throw UsageError(std::string(parameter) + "='" + std::string(word) + "' is none of " + all);
}

/// The word of a choice.
template <class T, std::size_t N>
[[nodiscard]] std::string word_of(T choice, const Words<T, N>& words) {
  for (const auto& [name, value] : words) {
    if (value == choice) return std::string(name);
  }
  return {};
}

}  // namespace epsflow::python
