// Enumerations that choose how the work is done, and which results are returned and where. None changes the value of a
// label. An enumeration has words: the texts that name its values on the command line and in Python.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace epsflow {

/// One value of an enumeration, and a text that names it on the command line and in Python.
template <class T>
struct Word {
  std::string_view word;
  T value;
};
template <class T>
Word(std::string_view, T) -> Word<T>;

/// The description of an enumeration T. `kWords`: its words, in the order in which help lists them. A value may have
/// several words; word_of() returns the first. `kType`: the name of T in C++, as text. Specialised where T is declared.
template <class T>
struct Choice;

/// The words of T without their values, in the order of Choice<T>::kWords.
template <class T>
inline constexpr auto kWordsOf = [] {
  std::array<std::string_view, Choice<T>::kWords.size()> all;
  std::ranges::transform(Choice<T>::kWords, all.begin(), [](const Word<T>& word) { return word.word; });
  return all;
}();

/// Returns the value of a word, or nullopt if T has no such word.
template <class T>
[[nodiscard]] constexpr std::optional<T> choice_of(std::string_view word) {
  for (const Word<T>& known : Choice<T>::kWords) {
    if (known.word == word) return known.value;
  }
  return std::nullopt;
}

/// Returns the word of a value.
template <class T>
[[nodiscard]] constexpr std::string_view word_of(T value) noexcept {
  for (const Word<T>& known : Choice<T>::kWords) {
    if (known.value == value) return known.word;
  }
  return {};
}

/// The way in which the search fills a neighbour table in the format csr (see FormatChoice). It works on batches of
/// rows. A row is all neighbours of one point. A candidate is a point that may be a neighbour, and whose distance is
/// tested. "The paper", here and below, is Gowanlock et al. 2017, "Clustering Throughput Optimization on the GPU". On
/// the CPU `global` and `shared` are the same.
enum class Kernel : std::uint8_t {
  /// Writes each neighbour straight to its position in the row of its point, so that nothing is left to sort.
  rows,
  /// Emits pairs (point, neighbour) in any order, and sorts them into rows afterwards. A thread of the GPU searches one
  /// point (the paper's Algorithm 2).
  global,
  /// Emits and sorts pairs as `global` does. A block of the GPU's threads finds the neighbours of all points of one
  /// non-empty grid cell. It loads their candidates into shared memory by portions (the paper's Algorithm 3).
  shared,
};
[[nodiscard]] constexpr bool emits_pairs(Kernel kernel) noexcept { return kernel != Kernel::rows; }
template <>
struct Choice<Kernel> {
  static constexpr std::string_view kType = "Kernel";
  static constexpr std::array kWords{Word{"rows", Kernel::rows}, Word{"global", Kernel::global},
                                     Word{"shared", Kernel::shared}};
};

/// The form of a neighbour table in memory. `csr` (compressed sparse rows): 4 bytes for each neighbour. `packed`: one
/// bit for each candidate, set if it is a neighbour; only for up to three dimensions and Kernel::rows. `automatic`: of
/// the possible formats, the one that needs fewer bytes; csr if a GPU searches tiles. core/neighbor_table.hpp describes
/// both.
enum class FormatChoice : std::uint8_t { automatic, csr, packed };
template <>
struct Choice<FormatChoice> {
  static constexpr std::string_view kType = "FormatChoice";
  static constexpr std::array kWords{Word{"auto", FormatChoice::automatic}, Word{"csr", FormatChoice::csr},
                                     Word{"packed", FormatChoice::packed}};
};

/// The way in which the variants of one eps (pairs of eps and minpts) are clustered from their common table.
enum class VariantMethod : std::uint8_t {
  nested,  ///< from the largest minpts down with one union-find
  each,    ///< each on its own, as many at once as there are threads (the paper's way)
};
template <>
struct Choice<VariantMethod> {
  static constexpr std::string_view kType = "VariantMethod";
  static constexpr std::array kWords{Word{"nested", VariantMethod::nested}, Word{"each", VariantMethod::each}};
};

/// The way in which the variants of one eps get their labels.
enum class Strategy : std::uint8_t {
  table,   ///< from a table of all neighbours within eps; it is made once and serves every minpts (the paper's way)
  direct,  ///< without a table; memory that grows only with the number of points suffices
};

/// The results that a run keeps of each variant, from most to least.
enum class Keep : std::uint8_t {
  labels,   ///< a label for each point
  summary,  ///< counts alone, which takes less time and memory
  /// Counts of clusters and core points alone, which takes least: border points are not found.
  core,
};
[[nodiscard]] constexpr bool keeps_labels(Keep keep) noexcept { return keep == Keep::labels; }
/// Returns true if border points are distinguished from noise.
[[nodiscard]] constexpr bool tells_borders(Keep keep) noexcept { return keep != Keep::core; }
template <>
struct Choice<Keep> {
  static constexpr std::string_view kType = "Keep";
  static constexpr std::array kWords{Word{"labels", Keep::labels}, Word{"summary", Keep::summary},
                                     Word{"core", Keep::core}};
};

/// The width of a grid's cells, which decides how they are used.
enum class Cells : std::uint8_t {
  /// About as wide as eps, so that the neighbours of a point lie in its own cell or in adjacent ones. For searches
  /// point by point. Points are stored in the order of their cells, so the candidates of a point lie in few ranges.
  eps,
  dense_box,  ///< any two points of a cell are neighbours; for clustering cell by cell, up to three dimensions
};

enum class StrategyChoice : std::uint8_t { automatic, table, direct };
template <>
struct Choice<StrategyChoice> {
  static constexpr std::string_view kType = "StrategyChoice";
  static constexpr std::array kWords{Word{"auto", StrategyChoice::automatic}, Word{"table", StrategyChoice::table},
                                     Word{"direct", StrategyChoice::direct}};
};

/// The source of the candidates of a search.
enum class IndexChoice : std::uint8_t {
  automatic,
  /// The cells of a grid over the coordinates; with more than six dimensions, over the six coordinates of largest
  /// variance. On a GPU that decides with tensor cores (SearchOptions::decide), tiles replace cells: the points
  /// are sorted by the coordinates of largest variance and divided into tiles of 128 points. Two tiles are compared
  /// only if their coordinates do not rule out neighbours.
  grid,
  /// Points are sorted by some coordinates and by their distances to some points (pivots), and divided into tiles of
  /// 128 points. Two tiles are compared only if these values do not rule out neighbours. The engine chooses the pivots:
  /// corners of the bounding box, random points in it, and random points of the data (after MiSTIC, Donnelly &
  /// Gowanlock 2024).
  tree,
  all,  ///< every pair of points
};
template <>
struct Choice<IndexChoice> {
  static constexpr std::string_view kType = "IndexChoice";
  static constexpr std::array kWords{Word{"auto", IndexChoice::automatic}, Word{"grid", IndexChoice::grid},
                                     Word{"tree", IndexChoice::tree}, Word{"all", IndexChoice::all}};
};

/// The arithmetic that decides whether a candidate is a neighbour. The faster kinds round more. If the distance of a
/// pair is so close to eps that rounding might change the answer, the test of core/space.hpp decides: labels never
/// differ.
enum class DecideChoice : std::uint8_t {
  automatic,
  /// The float64 test of core/space.hpp. On a CPU with seven or more dimensions, if Space::plain(), dot products in
  /// float32 first decide the pairs that are clear; the float64 test decides the rest.
  scalar,
  tensor64,  ///< float64 dot products on tensor cores (after TED-Join, Gallet & Gowanlock 2022)
  tensor16,  ///< half-precision dot products on tensor cores (after FaSTED, Curless & Gowanlock 2025)
};
template <>
struct Choice<DecideChoice> {
  static constexpr std::string_view kType = "DecideChoice";
  static constexpr std::array kWords{Word{"auto", DecideChoice::automatic}, Word{"scalar", DecideChoice::scalar},
                                     Word{"tensor64", DecideChoice::tensor64},
                                     Word{"tensor16", DecideChoice::tensor16}};
};

/// The memory of an array.
enum class MemorySpace : std::uint8_t { host, device };
template <>
struct Choice<MemorySpace> {
  static constexpr std::string_view kType = "MemorySpace";
  static constexpr std::array kWords{Word{"host", MemorySpace::host}, Word{"device", MemorySpace::device}};
};

enum class BackendChoice : std::uint8_t { automatic, cpu, gpu };
template <>
struct Choice<BackendChoice> {
  static constexpr std::string_view kType = "BackendChoice";
  static constexpr std::array kWords{Word{"auto", BackendChoice::automatic}, Word{"cpu", BackendChoice::cpu},
                                     Word{"gpu", BackendChoice::gpu}};
};

}  // namespace epsflow
