// Options: everything has a good default.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include <epsflow/core/cancel.hpp>
#include <epsflow/core/choices.hpp>
#include <epsflow/core/option.hpp>
#include <epsflow/core/trace.hpp>

namespace epsflow {

/// Bytes, as in `8_GiB`.
constexpr std::uint64_t operator""_KiB(unsigned long long n) { return n << 10; }
constexpr std::uint64_t operator""_MiB(unsigned long long n) { return n << 20; }
constexpr std::uint64_t operator""_GiB(unsigned long long n) { return n << 30; }

/// How far a run is.
struct Progress {
  std::size_t variants_done = 0;
  std::size_t variants = 0;
  double table_eps = 0;    ///< eps of the table that moved last; 0 while there was none
  double table_share = 0;  ///< 0…1 of its rows
  double seconds = 0;      ///< since the run began
};

/// Most threads, lanes and radii at once. More is a slip of the pen (or a negative number that became unsigned), not a wish.
inline constexpr unsigned kMostThreads = 4096;

// Options in three types, by what they belong to: an engine (below), a data set (core/metric.hpp: Metric) and a run (below). Labels
// depend on the data set's alone; the others change time and memory.

/// What an engine is made with, for good.
struct EngineOptions {
  /// Bytes that runs may hold at any time, the points included. 0: half of the machine's memory.
  std::uint64_t memory = 0;
  /// Threads that work. 0: one per core.
  unsigned threads = 0;
  /// Automatic: the GPU where there is one, else the CPU.
  BackendChoice backend = BackendChoice::automatic;
  /// Which GPU, counted from 0. Nothing: the one with the most free memory.
  std::optional<unsigned> gpu = std::nullopt;
  /// Bytes of the GPU's memory that runs may hold. 0: nine tenths of what is free.
  std::uint64_t gpu_memory = 0;

  friend bool operator==(const EngineOptions&, const EngineOptions&) = default;
};

/// How neighbours are searched, and tables of them made.
struct SearchOptions {
  /// Where candidates come from. Automatic: a grid up to six dimensions; beyond, on a GPU what leaves the fewest pairs of a sample
  /// (functions of coordinates, a tree's, or all pairs), unless decide is scalar; on a CPU a grid unless that leaves more than nine
  /// tenths of all pairs to be tested.
  IndexChoice index = IndexChoice::automatic;
  /// How candidates are decided. Automatic: products of half precision where candidates come tile by tile, on a GPU, unless a
  /// sample of pairs asks too much of float64; on a CPU scalar, which is all it has.
  DecideChoice decide = DecideChoice::automatic;
  /// Whole rows, or the paper's kernels, whose pairs are sorted afterwards.
  Kernel kernel = Kernel::rows;
  FormatChoice format = FormatChoice::automatic;
  /// Batches under way at once. 0: what keeps the backend busy.
  unsigned lanes = 0;
  /// Pairs that the buffer of a lane holds; for packed tables on a GPU, words. 0: what suits the backend.
  std::uint64_t lane_pairs = 0;
  /// Multiplies the estimate of a csr table's pairs. Less than 1 makes batches outgrow their lanes, and go again in
  /// halves.
  double estimate_factor = 1;

  friend bool operator==(const SearchOptions&, const SearchOptions&) = default;
};

/// What one run goes by.
struct RunOptions {
  /// Automatic: without a table wherever that is faster or a table does not fit, and from a table where kernel, format or method
  /// are given.
  StrategyChoice strategy = StrategyChoice::automatic;
  SearchOptions search = {};
  VariantMethod method = VariantMethod::nested;
  /// Radii under way at once: one whose variants are clustered while the next is prepared. 0: what suits the backend.
  unsigned tables = 0;
  /// Check every labelling against the definition of DBSCAN, with a search of its own; see clustering/verify.hpp for
  /// the cost.
  bool verify = false;
  /// Fill VariantResult::core.
  bool core_mask = false;
  /// Device: labels and masks stay in the memory of the GPU that clusters (VariantResult::device_labels, device_core).
  /// There is no table then.
  MemorySpace labels = MemorySpace::host;

  friend bool operator==(const RunOptions&, const RunOptions&) = default;
};

template <>
std::span<const Option<EngineOptions>> options_of<EngineOptions>() noexcept;
template <>
std::span<const Option<SearchOptions>> options_of<SearchOptions>() noexcept;
template <>
std::span<const Option<RunOptions>> options_of<RunOptions>() noexcept;

/// Throw UsageError naming the first option that is out of its range, or that contradicts another, and what to do. What depends on
/// the machine, as whether a GPU is there, is check_backend()'s.
void check_options(const EngineOptions& options);
void check_options(const SearchOptions& options);
void check_options(const RunOptions& options);
/// The same of both together.
void check_options(const EngineOptions& engine, const RunOptions& run);

/// Whether an option says how tables are made or read, so that one is wanted.
[[nodiscard]] constexpr bool table_wanted(const RunOptions& options) noexcept {
  return options.search.kernel != Kernel::rows || options.search.format != FormatChoice::automatic ||
         options.method != VariantMethod::nested;
}

/// The strategy that the options come to: labels that stay on a device are made there, without a table.
[[nodiscard]] constexpr StrategyChoice strategy_asked(const RunOptions& options) noexcept {
  return options.labels == MemorySpace::device ? StrategyChoice::direct : options.strategy;
}

/// Who watches a run. All callbacks are called one at a time, from any thread; what they throw ends the run and is
/// thrown from it.
struct Observer {
  std::function<void(const Progress&)> on_progress = nullptr;  ///< at most twenty times a second
  const CancelToken* cancel = nullptr;                         ///< set it, and the run throws Cancelled within a batch
  /// Called at most once, with a sentence: the run takes another way than one might expect, as the CPU where there is a
  /// GPU that cannot be used.
  std::function<void(const std::string&)> on_notice = nullptr;
  Trace* trace = nullptr;
  /// Called as each stage begins a piece of work: lets a test make any stage fail. Called concurrently.
  std::function<void(Stage)> before_stage = nullptr;
};

}  // namespace epsflow
