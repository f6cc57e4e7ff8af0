// The words of the command line and the library's values that they stand for.
#pragma once

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <epsflow/core/choices.hpp>
#include <epsflow/core/metric.hpp>
#include <epsflow/core/points.hpp>
#include <epsflow/io/read_points.hpp>

namespace epsflow::cli {

template <class T>
struct Choice {
  std::string_view word;
  T value;
};

inline constexpr std::array kBackends{Choice<BackendChoice>{"auto", BackendChoice::automatic},
                                      Choice<BackendChoice>{"cpu", BackendChoice::cpu},
                                      Choice<BackendChoice>{"gpu", BackendChoice::gpu}};
inline constexpr std::array kStrategies{Choice<StrategyChoice>{"auto", StrategyChoice::automatic},
                                        Choice<StrategyChoice>{"table", StrategyChoice::table},
                                        Choice<StrategyChoice>{"direct", StrategyChoice::direct}};
inline constexpr std::array kKernels{Choice<Kernel>{"rows", Kernel::rows}, Choice<Kernel>{"global", Kernel::global},
                                     Choice<Kernel>{"shared", Kernel::shared}};
inline constexpr std::array kFormats{Choice<FormatChoice>{"auto", FormatChoice::automatic},
                                     Choice<FormatChoice>{"csr", FormatChoice::csr},
                                     Choice<FormatChoice>{"packed", FormatChoice::packed}};
inline constexpr std::array kMethods{Choice<VariantMethod>{"nested", VariantMethod::nested},
                                     Choice<VariantMethod>{"each", VariantMethod::each}};
inline constexpr std::array kIndexes{
    Choice<IndexChoice>{"auto", IndexChoice::automatic}, Choice<IndexChoice>{"grid", IndexChoice::grid},
    Choice<IndexChoice>{"tree", IndexChoice::tree}, Choice<IndexChoice>{"all", IndexChoice::all}};
inline constexpr std::array kDeciders{
    Choice<DecideChoice>{"auto", DecideChoice::automatic}, Choice<DecideChoice>{"scalar", DecideChoice::scalar},
    Choice<DecideChoice>{"tensor64", DecideChoice::tensor64}, Choice<DecideChoice>{"tensor16", DecideChoice::tensor16}};
/// The first word of a value is its name, and the others are scikit-learn's for it.
inline constexpr std::array kMetrics{
    Choice<MetricKind>{"euclidean", MetricKind::euclidean}, Choice<MetricKind>{"greatcircle", MetricKind::greatcircle},
    Choice<MetricKind>{"haversine", MetricKind::haversine}, Choice<MetricKind>{"cosine", MetricKind::cosine},
    Choice<MetricKind>{"manhattan", MetricKind::manhattan}, Choice<MetricKind>{"chebyshev", MetricKind::chebyshev},
    Choice<MetricKind>{"minkowski", MetricKind::minkowski}, Choice<MetricKind>{"l1", MetricKind::manhattan},
    Choice<MetricKind>{"cityblock", MetricKind::manhattan}, Choice<MetricKind>{"l2", MetricKind::euclidean}};
inline constexpr std::array kArcUnits{
    Choice<ArcUnit>{"deg", ArcUnit::degree}, Choice<ArcUnit>{"arcmin", ArcUnit::arcminute},
    Choice<ArcUnit>{"arcsec", ArcUnit::arcsecond}, Choice<ArcUnit>{"rad", ArcUnit::radian},
    Choice<ArcUnit>{"km", ArcUnit::kilometre}};
inline constexpr std::array kNanPolicies{Choice<io::NanPolicy>{"error", io::NanPolicy::error},
                                         Choice<io::NanPolicy>{"drop", io::NanPolicy::drop}};
inline constexpr std::array kPrecisions{Choice<Precision>{"float32", Precision::float32},
                                        Choice<Precision>{"float64", Precision::float64}};
inline constexpr std::array kHeaders{Choice<io::TextLayout::Header>{"auto", io::TextLayout::Header::automatic},
                                     Choice<io::TextLayout::Header>{"yes", io::TextLayout::Header::yes},
                                     Choice<io::TextLayout::Header>{"no", io::TextLayout::Header::no}};

/// The words alone, for an OptionSpec.
template <class Choices>
[[nodiscard]] std::vector<std::string> words_of(const Choices& choices) {
  std::vector<std::string> words(choices.size());
  std::transform(choices.begin(), choices.end(), words.begin(),
                 [](const auto& choice) { return std::string(choice.word); });
  return words;
}

/// The value of a word that parsing has found to be one of them.
template <class Choices>
[[nodiscard]] auto chosen(std::string_view word, const Choices& choices) {
  for (const auto& choice : choices) {
    if (choice.word == word) return choice.value;
  }
  throw std::logic_error("'" + std::string(word) + "' has passed as one of other words");
}

/// The word of a value.
template <class Choices, class T>
[[nodiscard]] std::string word_of(T value, const Choices& choices) {
  for (const auto& choice : choices) {
    if (choice.value == value) return std::string(choice.word);
  }
  throw std::logic_error("a value has no word");
}

}  // namespace epsflow::cli
