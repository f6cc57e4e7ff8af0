// Options of engines, searches and runs. Every option has a default.
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

/// Returns bytes, as in `8_GiB`.
constexpr std::uint64_t operator""_KiB(unsigned long long n) { return n << 10; }
constexpr std::uint64_t operator""_MiB(unsigned long long n) { return n << 20; }
constexpr std::uint64_t operator""_GiB(unsigned long long n) { return n << 30; }

/// The progress of a run.
struct Progress {
  std::size_t variants_done = 0;
  std::size_t variants = 0;
  double table_eps = 0;    ///< eps of the neighbour table that progressed last; 0 if none has
  double table_share = 0;  ///< the part of its rows that is done, from 0 to 1
  double seconds = 0;      ///< since the run began
  /// An estimate from the time of some eps of a grid, as explore() makes it. Empty if nothing is estimated.
  std::optional<double> seconds_left = std::nullopt;
};

/// The largest value of EngineOptions::threads, SearchOptions::lanes and RunOptions::tables. A larger one must be a
/// mistake, such as a negative number that became unsigned.
inline constexpr unsigned kMostThreads = 4096;

// There are options of an engine (EngineOptions), of a data set (Metric in core/metric.hpp) and of a run (RunOptions).
// Only those in Metric change labels. The others change time and memory. RunOptions::core_mask and RunOptions::clusters
// also add results; RunOptions::labels and RunOptions::keep choose which results are returned, and in which memory.

/// Options of an engine. They do not change after it is made.
struct EngineOptions {
  /// Bytes that runs may hold at any time, the points included. 0: half of the machine's memory, at least 1 GiB.
  std::uint64_t memory = 0;
  /// Number of working threads. 0: one per core.
  unsigned threads = 0;
  /// Automatic: the GPU if there is one, else the CPU. For points that no engine has loaded, choose_backend()
  /// (pipeline/backends.hpp) first replaces it: few points go to the CPU.
  BackendChoice backend = BackendChoice::automatic;
  /// The GPU, counted from 0. Empty: the one with the most free memory.
  std::optional<unsigned> gpu = std::nullopt;
  /// Bytes of the GPU's memory that runs may hold. 0: nine tenths of the free memory.
  std::uint64_t gpu_memory = 0;

  friend bool operator==(const EngineOptions&, const EngineOptions&) = default;
};

/// Options of the neighbour search and of neighbour tables.
struct SearchOptions {
  /// The source of candidates. Automatic, up to six dimensions: a grid of cells. Automatic, with more dimensions:
  ///   CPU  A grid of cells; but a tree, if the grid has few cells and leaves over nine tenths of all pairs to test.
  ///   GPU  A grid of cells if decide is scalar, and else all if the points are few. Otherwise a sample of the points
  ///        is tested: grid, made of tiles, if it leaves few pairs to be tested; else grid or tree, whichever leaves
  ///        fewer; and all if both leave nearly every pair.
  /// There are three exceptions. If decide requests tensor cores, the rule for a GPU holds up to six dimensions, too.
  /// A run on the CPU that makes nothing but labels, without weights, keeps a list of all pairs of neighbours if the
  /// data sets are small and sparse, in up to three dimensions (index/pair_list.hpp). Otherwise slices, a periodic box
  /// and other norms than the Euclidean always get a grid of cells.
  IndexChoice index = IndexChoice::automatic;
  /// The test that candidates are decided by. Automatic, on a GPU: tensor16 if the index is made of tiles; tensor64 if
  /// a sample of the pairs shows that tensor16 would leave too many of them to the float64 test; scalar if the index is
  /// a grid of cells. Automatic, on a CPU: scalar, the only one there.
  DecideChoice decide = DecideChoice::automatic;
  /// Searches whole rows, or uses the paper's kernels, whose pairs are sorted afterwards.
  Kernel kernel = Kernel::rows;
  FormatChoice format = FormatChoice::automatic;
  /// Number of batches of a table that are in flight at once. Each has a lane with a buffer. 0: automatic.
  unsigned lanes = 0;
  /// The size of a lane's buffer: a number of pairs, or of 32-bit words for packed tables on a GPU. 0: automatic.
  std::uint64_t lane_pairs = 0;
  /// A factor on the estimated number of pairs of a csr table. Batches are cut by this estimate, so that each fits its
  /// buffer. With a factor below 1 batches may overflow, and are then repeated in halves. It has no effect if pairs are
  /// counted instead of estimated: on a GPU with Kernel::rows.
  double estimate_factor = 1;

  friend bool operator==(const SearchOptions&, const SearchOptions&) = default;
};

/// Options of one run.
struct RunOptions {
  /// Automatic: with a table if kernel, format or method is not at its default; the run throws ResourceError if this
  /// table does not fit. Otherwise by the way that should be faster, and without a table if it does not fit.
  StrategyChoice strategy = StrategyChoice::automatic;
  SearchOptions search = {};
  VariantMethod method = VariantMethod::nested;
  /// Number of eps in flight. With 2, variants of one eps are clustered while the next eps is prepared. 0: automatic.
  unsigned tables = 0;
  /// Checks every labelling against the definition of DBSCAN by a separate search (cost: clustering/verify.hpp). The
  /// run throws Error if labels are wrong.
  bool verify = false;
  /// Fills VariantResult::core.
  bool core_mask = false;
  /// Device: labels and masks stay in the GPU's memory (VariantResult::device_labels, device_core). No table is made
  /// then.
  MemorySpace labels = MemorySpace::host;
  /// Summary: makes VariantResult::summary, but no labels. Core: counts only clusters and core points in the summary
  /// (LabelSummary::borders_told), and makes Clusters without sizes.
  Keep keep = Keep::labels;
  /// Fills VariantResult::clusters. Requires VariantMethod::nested, and weights of at least 0.
  bool clusters = false;

  friend bool operator==(const RunOptions&, const RunOptions&) = default;
};

template <>
std::span<const Option<EngineOptions>> options_of<EngineOptions>() noexcept;
template <>
std::span<const Option<SearchOptions>> options_of<SearchOptions>() noexcept;
template <>
std::span<const Option<RunOptions>> options_of<RunOptions>() noexcept;

/// Throw UsageError that names the first option that is out of its range or contradicts another, with a remedy.
/// check_backend() checks what depends on the machine, such as whether a GPU is present.
void check_options(const EngineOptions& options);
void check_options(const SearchOptions& options);
void check_options(const RunOptions& options);
/// Throws UsageError for RunOptions::clusters if some weights are below 0.
void check_weights(const RunOptions& options, bool negative);
/// Checks both, each alone and against the other.
void check_options(const EngineOptions& engine, const RunOptions& run);

/// Returns true if an option on making or reading tables is set, so that a table is required.
[[nodiscard]] constexpr bool table_wanted(const RunOptions& options) noexcept {
  return options.search.kernel != Kernel::rows || options.search.format != FormatChoice::automatic ||
         options.method != VariantMethod::nested;
}

/// Returns the strategy that the options result in: labels that stay on a device are made there, without a table.
[[nodiscard]] constexpr StrategyChoice strategy_wanted(const RunOptions& options) noexcept {
  return options.labels == MemorySpace::device ? StrategyChoice::direct : options.strategy;
}

/// Callbacks that report on a run, and its cancellation. Callbacks may be called from any thread, but only one at a
/// time. Only before_stage may be called by several threads at once. If a callback throws, the run ends and rethrows.
struct Observer {
  /// Called after each variant, and at most twenty times a second in between.
  std::function<void(const Progress&)> on_progress = nullptr;
  const CancelToken* cancel = nullptr;  ///< once it is set, the run throws Cancelled within a batch
  /// Called at most once, with a sentence, if the run uses the CPU although there is a GPU, because that GPU cannot be
  /// used. A run of a Dataset does not call it: the constructor of Engine has already done so.
  std::function<void(const std::string&)> on_notice = nullptr;
  Trace* trace = nullptr;  ///< null, or records the times of the stages
  /// Called when a stage begins a piece of work, so that a test can make any stage fail. Several threads may call it.
  std::function<void(Stage)> before_stage = nullptr;
};

}  // namespace epsflow
