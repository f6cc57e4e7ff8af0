// Ways of doing the same work, which change time and memory and never a label; and the words of all choices.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string_view>

namespace epsflow {

/// A value of a choice and its word, which the program and Python share.
template <class T>
struct Word {
  std::string_view word;
  T value;
};

/// The words of a choice in the order in which they are listed: Choice<T>::words; and its name in C++: Choice<T>::type. The first
/// word of a value is its name. Specialised where T is declared.
template <class T>
struct Choice;

/// The words alone.
template <class T>
inline constexpr auto kWords = [] {
  std::array<std::string_view, Choice<T>::words.size()> all;
  std::ranges::transform(Choice<T>::words, all.begin(), [](const Word<T>& word) { return word.word; });
  return all;
}();

/// The value of a word, or nothing where it is no word of the choice.
template <class T>
[[nodiscard]] constexpr std::optional<T> choice_of(std::string_view word) {
  for (const Word<T>& known : Choice<T>::words) {
    if (known.word == word) return known.value;
  }
  return std::nullopt;
}

/// The word of a value.
template <class T>
[[nodiscard]] constexpr std::string_view word_of(T value) {
  for (const Word<T>& known : Choice<T>::words) {
    if (known.value == value) return known.word;
  }
  throw std::logic_error("a value has no word");
}

/// How a csr batch is searched.
enum class Kernel : std::uint8_t {
  rows,    ///< whole rows, one after the other
  global,  ///< a task per point emits pairs in any order, which are then sorted (the paper's Algorithm 2)
  shared,  ///< a task per non-empty cell tests tiles of candidates, and emits pairs (the paper's Algorithm 3)
};
[[nodiscard]] constexpr bool emits_pairs(Kernel kernel) noexcept { return kernel != Kernel::rows; }
template <>
struct Choice<Kernel> {
  static constexpr std::string_view type = "Kernel";
  static constexpr std::array words{Word{"rows", Kernel::rows}, Word{"global", Kernel::global},
                                    Word{"shared", Kernel::shared}};
};

/// The neighbour table in memory; `automatic` takes the format of fewer bytes.
enum class FormatChoice : std::uint8_t { automatic, csr, packed };
template <>
struct Choice<FormatChoice> {
  static constexpr std::string_view type = "FormatChoice";
  static constexpr std::array words{Word{"auto", FormatChoice::automatic}, Word{"csr", FormatChoice::csr},
                                    Word{"packed", FormatChoice::packed}};
};

/// How the variants of one table are clustered.
enum class VariantMethod : std::uint8_t {
  nested,  ///< from the largest minpts down with one union-find
  each,    ///< each on its own, all concurrently (the paper's way)
};
template <>
struct Choice<VariantMethod> {
  static constexpr std::string_view type = "VariantMethod";
  static constexpr std::array words{Word{"nested", VariantMethod::nested}, Word{"each", VariantMethod::each}};
};

/// How the variants of one eps get their labels.
enum class Strategy : std::uint8_t {
  table,   ///< from a table of all neighbours, shared by their minpts (the paper's way)
  direct,  ///< without one, in memory that grows with the points only
};

/// What the cells of a grid are for.
enum class Cells : std::uint8_t {
  reach,  ///< as wide as a neighbourhood reaches: few candidate runs, for searches point by point
  clique,  ///< so narrow that any two points of a cell are neighbours, for clustering cell by cell; up to three dimensions
};

enum class StrategyChoice : std::uint8_t { automatic, table, direct };
template <>
struct Choice<StrategyChoice> {
  static constexpr std::string_view type = "StrategyChoice";
  static constexpr std::array words{Word{"auto", StrategyChoice::automatic}, Word{"table", StrategyChoice::table},
                                    Word{"direct", StrategyChoice::direct}};
};

/// Where the candidates of a search come from.
enum class IndexChoice : std::uint8_t {
  automatic,
  grid,  ///< cells of up to six coordinates, those of largest variance
  tree,  ///< tiles of points sorted by coordinates and distances to pivots (after MiSTIC)
  all,   ///< every pair of points
};
template <>
struct Choice<IndexChoice> {
  static constexpr std::string_view type = "IndexChoice";
  static constexpr std::array words{Word{"auto", IndexChoice::automatic}, Word{"grid", IndexChoice::grid},
                                    Word{"tree", IndexChoice::tree}, Word{"all", IndexChoice::all}};
};

/// How pairs of candidates are decided in high dimensions; what a decider cannot tell for certain, float64 does.
enum class DecideChoice : std::uint8_t {
  automatic,
  scalar,    ///< float64
  tensor64,  ///< products of float64 on tensor cores (after TED-Join)
  tensor16,  ///< products of half precision on tensor cores (after FaSTED)
};
template <>
struct Choice<DecideChoice> {
  static constexpr std::string_view type = "DecideChoice";
  static constexpr std::array words{Word{"auto", DecideChoice::automatic}, Word{"scalar", DecideChoice::scalar},
                                    Word{"tensor64", DecideChoice::tensor64}, Word{"tensor16", DecideChoice::tensor16}};
};

/// Where an array is.
enum class MemorySpace : std::uint8_t { host, device };
template <>
struct Choice<MemorySpace> {
  static constexpr std::string_view type = "MemorySpace";
  static constexpr std::array words{Word{"host", MemorySpace::host}, Word{"device", MemorySpace::device}};
};

enum class BackendChoice : std::uint8_t { automatic, cpu, gpu };
template <>
struct Choice<BackendChoice> {
  static constexpr std::string_view type = "BackendChoice";
  static constexpr std::array words{Word{"auto", BackendChoice::automatic}, Word{"cpu", BackendChoice::cpu},
                                    Word{"gpu", BackendChoice::gpu}};
};

}  // namespace epsflow
