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
  double table_eps = 0;    ///< eps of the neighbour table that made progress last; 0 if none has
  double table_share = 0;  ///< the part of its rows that is done, from 0 to 1
  double seconds = 0;      ///< since the run began
  /// Foretold from what some eps of a grid took, as explore() does it. Nothing where no such figure is known.
  std::optional<double> seconds_left = std::nullopt;
};

/// The largest value of EngineOptions::threads, of SearchOptions::lanes and of RunOptions::tables. More must be a mistake, such as
/// a negative number that became unsigned.
inline constexpr unsigned kMostThreads = 4096;

// Options come in three types: for an engine (EngineOptions), for a data set (Metric in core/metric.hpp) and for a run
// (RunOptions). Only those in Metric change labels. The others change time and memory. (RunOptions::core_mask and
// RunOptions::clusters also add results, and RunOptions::labels and RunOptions::keep say which are left, and where.)

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
  /// Where candidates come from. Automatic, up to six dimensions: a grid of cells. Automatic, with more dimensions:
  ///   CPU  A grid of cells; but a tree, if the grid has few cells and leaves more than nine tenths of all pairs to be tested.
  ///   GPU  A grid of cells if decide is scalar, and else all if the points are few. Otherwise a sample of the points is looked
  ///        at: grid, made of tiles, if it leaves few pairs to be tested; else grid or tree, whichever leaves fewer; and all if
  ///        both leave nearly every pair.
  /// There are two exceptions. If decide asks for tensor cores, the rule for a GPU holds up to six dimensions, too. In a periodic
  /// box, and for another norm than the Euclidean, it is always a grid of cells.
  IndexChoice index = IndexChoice::automatic;
  /// How candidates are decided. Automatic, on a GPU: tensor16 if the index is made of tiles; tensor64 if a sample of the pairs
  /// shows that tensor16 would leave too many of them to the float64 test; scalar if the index is a grid of cells. Automatic, on a
  /// CPU: scalar, the only one there.
  DecideChoice decide = DecideChoice::automatic;
  /// Whole rows, or the paper's kernels, whose pairs are sorted afterwards.
  Kernel kernel = Kernel::rows;
  FormatChoice format = FormatChoice::automatic;
  /// How many batches of a table are under way at once. Each of them is on a lane, which has a buffer for its result. 0: what
  /// keeps the backend busy.
  unsigned lanes = 0;
  /// The size of a lane's buffer: a number of pairs; for packed tables on a GPU, a number of 32-bit words. 0: what suits the
  /// backend.
  std::uint64_t lane_pairs = 0;
  /// A factor on the estimated number of pairs of a csr table. Batches are cut by this estimate, so that each fits its buffer.
  /// With a factor below 1 batches may overflow, and are then repeated in halves. It has no effect where pairs are counted instead
  /// of estimated: on a GPU with Kernel::rows.
  double estimate_factor = 1;

  friend bool operator==(const SearchOptions&, const SearchOptions&) = default;
};

/// What one run goes by.
struct RunOptions {
  /// Automatic: from a table if kernel, format or method is not at its default; the run throws ResourceError if this table does
  /// not fit. Otherwise whichever should be faster; if a table does not fit, without one.
  StrategyChoice strategy = StrategyChoice::automatic;
  SearchOptions search = {};
  VariantMethod method = VariantMethod::nested;
  /// How many values of eps are worked on at the same time. With 2, the variants of one eps are clustered while the next eps is
  /// prepared. 0: what suits the backend.
  unsigned tables = 0;
  /// Check every labelling against the definition of DBSCAN, with a search of its own; see clustering/verify.hpp for
  /// the cost.
  bool verify = false;
  /// Fill VariantResult::core.
  bool core_mask = false;
  /// Device: labels and masks stay in the memory of the GPU that clusters (VariantResult::device_labels, device_core).
  /// There is no table then.
  MemorySpace labels = MemorySpace::host;
  /// Summary: no labels, VariantResult::summary alone. Core: of that the clusters and core points alone (LabelSummary::borders_told),
  /// and Clusters without sizes.
  Keep keep = Keep::labels;
  /// Fill VariantResult::clusters.
  bool clusters = false;

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
/// Throws UsageError for RunOptions::clusters where some weights are below 0.
void check_weights(const RunOptions& options, bool negative);
/// The same of both together.
void check_options(const EngineOptions& engine, const RunOptions& run);

/// Whether an option says how tables are made or read, so that one is wanted.
[[nodiscard]] constexpr bool table_wanted(const RunOptions& options) noexcept {
  return options.search.kernel != Kernel::rows || options.search.format != FormatChoice::automatic ||
         options.method != VariantMethod::nested;
}

/// The strategy that the options come to: labels that stay on a device are made there, without a table.
[[nodiscard]] constexpr StrategyChoice strategy_wanted(const RunOptions& options) noexcept {
  return options.labels == MemorySpace::device ? StrategyChoice::direct : options.strategy;
}

/// What is told about a run, and how it is cancelled. Callbacks may be called from any thread, but only one at a time. Only
/// before_stage may be called by several threads at once. If a callback throws, the run ends and throws the same.
struct Observer {
  std::function<void(const Progress&)> on_progress = nullptr;  ///< at most twenty times a second
  const CancelToken* cancel = nullptr;                         ///< set it, and the run throws Cancelled within a batch
  /// Called at most once, with a sentence, if the run does not do what one might expect: it uses the CPU although there is a GPU,
  /// because that GPU cannot be used. A run of a Dataset does not call it: the constructor of Engine has told this.
  std::function<void(const std::string&)> on_notice = nullptr;
  Trace* trace = nullptr;
  /// Called as each stage begins a piece of work: lets a test make any stage fail. Several threads may call it at once.
  std::function<void(Stage)> before_stage = nullptr;
};

}  // namespace epsflow
