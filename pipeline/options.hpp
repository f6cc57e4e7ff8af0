// Options of a run: everything has a good default.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include <epsflow/core/cancel.hpp>
#include <epsflow/core/choices.hpp>
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

/// Most of Options::threads, tables and lanes, and of lane_pairs. More is a slip of the pen (or a negative number that
/// became unsigned), not a wish.
inline constexpr unsigned kMostThreads = 4096;
inline constexpr std::uint64_t kMostLanePairs = std::uint64_t{1} << 40;

/// Labels never depend on any of these; time and memory do.
struct Options {
  /// Bytes that the run may hold at any time, the points included. 0: half of the machine's memory.
  std::uint64_t memory = 0;
  /// Threads that work. 0: one per core.
  unsigned threads = 0;
  /// Automatic: the GPU where there is one, else the CPU.
  BackendChoice backend = BackendChoice::automatic;
  /// Which GPU, counted from 0. -1: the one with the most free memory.
  int gpu = -1;
  /// Bytes of the GPU's memory that the run may hold. 0: nine tenths of what is free.
  std::uint64_t gpu_memory = 0;
  /// Automatic: without a table wherever that is faster or a table does not fit, and from a table where an option of tables
  /// (kernel, format, method) is given.
  StrategyChoice strategy = StrategyChoice::automatic;
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
  VariantMethod method = VariantMethod::nested;
  /// Batches under way at once. 0: what keeps the backend busy.
  unsigned lanes = 0;
  /// Pairs that the buffer of a lane holds; for packed tables on a GPU, words. 0: what suits the backend.
  std::uint64_t lane_pairs = 0;
  /// Multiplies the estimate of a csr table's pairs. Less than 1 makes batches outgrow their lanes, and go again in
  /// halves.
  double estimate_factor = 1;
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
};

/// Throws UsageError naming the first option that no run can have, and the values it may take. What depends on the
/// machine, as whether a GPU is there, is check_backend()'s.
void check_options(const Options& options);

/// Whether an option says how tables are made or read, so that one is wanted.
[[nodiscard]] constexpr bool table_wanted(const Options& options) noexcept {
  return options.kernel != Kernel::rows || options.format != FormatChoice::automatic ||
         options.method != VariantMethod::nested;
}

/// The strategy that the options come to: labels that stay on a device are made there, without a table.
[[nodiscard]] constexpr StrategyChoice strategy_asked(const Options& options) noexcept {
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
