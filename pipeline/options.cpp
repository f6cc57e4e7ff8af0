#include <epsflow/pipeline/options.hpp>

#include <array>

#include <epsflow/core/error.hpp>

namespace epsflow {
namespace {

constexpr std::uint64_t kMostLanePairs = std::uint64_t{1} << 40;
constexpr std::string_view kSuits = "as many as suit the backend";

bool asks_for_tensor_cores(const SearchOptions& options) {
  return options.decide == DecideChoice::tensor64 || options.decide == DecideChoice::tensor16;
}

/// Throws UsageError if no labels are stored that could be checked, masked or left on a device, or if an option needs
/// all minpts of an eps together.
void check_keep(const RunOptions& options) {
  const char* needs_labels = options.verify                          ? "RunOptions::verify checks labels"
                             : options.core_mask                     ? "RunOptions::core_mask goes with labels"
                             : options.labels == MemorySpace::device ? "RunOptions::labels says where labels are left"
                                                                     : nullptr;
  if (!keeps_labels(options.keep) && needs_labels != nullptr) {
    throw UsageError(std::string(needs_labels) + ", and RunOptions::keep = Keep::" +
                     std::string(word_of(options.keep)) + " makes none; leave one of them out");
  }
  if (options.clusters && options.method == VariantMethod::each) {
    throw UsageError(
        "RunOptions::clusters ties the clusters of all minpts to each other, and RunOptions::method = "
        "VariantMethod::each makes each "
        "on its own; leave one of them out");
  }
}

}  // namespace

template <>
std::span<const Option<EngineOptions>> options_of<EngineOptions>() noexcept {
  static constexpr std::array kOptions{
      option<EngineOptions>(
          {.library = "EngineOptions::memory",
           .program = "memory",
           .python = "memory",
           .placeholder = "SIZE",
           .standard = "half of the machine's",
           .meaning = "most memory to hold, as in 8G or 512M, in powers of 1024; 8GB counts in thousands",
           .kind = OptionKind::bytes},
          [](auto& options) -> auto& { return options.memory; }),
      option<EngineOptions>(
          {.library = "EngineOptions::threads",
           .program = "threads",
           .python = "threads",
           .placeholder = "N",
           .most = kMostThreads,
           .zero = "one per core",
           .meaning = "threads that work"},
          [](auto& options) -> auto& { return options.threads; }),
      option<EngineOptions>(
          {.library = "EngineOptions::backend",
           .program = "backend",
           .python = "backend",
           .meaning = "where to search; auto: on the GPU where there is one, unless the points are so few "
                      "that a CPU is done before it has started"},
          [](auto& options) -> auto& { return options.backend; }),
      option<EngineOptions>(
          {.library = "EngineOptions::gpu",
           .program = "gpu",
           .python = "gpu",
           .placeholder = "N",
           .most = 1023,
           .zero = "the first",
           .standard = "the one with most free memory",
           .meaning = "which GPU, counted from 0"},
          [](auto& options) -> auto& { return options.gpu; }),
      option<EngineOptions>(
          {.library = "EngineOptions::gpu_memory",
           .program = "gpu-memory",
           .python = "gpu_memory",
           .placeholder = "SIZE",
           .standard = "nine tenths of what is free",
           .meaning = "most memory to hold on the GPU",
           .kind = OptionKind::bytes},
          [](auto& options) -> auto& { return options.gpu_memory; })};
  return kOptions;
}

template <>
std::span<const Option<SearchOptions>> options_of<SearchOptions>() noexcept {
  static constexpr std::array kOptions{
      option<SearchOptions>(
          {.library = "SearchOptions::index",
           .program = "index",
           .python = "index",
           .meaning = "where candidates come from: a grid, tiles of a tree of coordinates and distances, or "
                      "all pairs; auto: a grid up to six dimensions, beyond whichever suits the backend and "
                      "the points"},
          [](auto& options) -> auto& { return options.index; }),
      option<SearchOptions>(
          {.library = "SearchOptions::decide",
           .program = "decide",
           .python = "decide",
           .meaning = "how candidates are decided in high dimensions: in float64, or by tensor cores in "
                      "float64 or half precision, with the same result"},
          [](auto& options) -> auto& { return options.decide; }),
      option<SearchOptions>(
          {.library = "SearchOptions::kernel",
           .program = "kernel",
           .meaning = "how to search: whole rows, or by one of the paper's kernels, whose pairs are sorted "
                      "afterwards"},
          [](auto& options) -> auto& { return options.kernel; }),
      option<SearchOptions>(
          {.library = "SearchOptions::format",
           .program = "table-format",
           .meaning = "the neighbour table in memory: ids, or up to three dimensions a bit per candidate"},
          [](auto& options) -> auto& { return options.format; }),
      option<SearchOptions>(
          {.library = "SearchOptions::lanes",
           .program = "lanes",
           .placeholder = "N",
           .most = kMostThreads,
           .zero = kSuits,
           .meaning = "batches of a table under way at once"},
          [](auto& options) -> auto& { return options.lanes; }),
      option<SearchOptions>(
          {.library = "SearchOptions::lane_pairs",
           .program = "batch-pairs",
           .placeholder = "N",
           .most = kMostLanePairs,
           .zero = kSuits,
           .meaning = "pairs of a table that the buffer of a lane holds"},
          [](auto& options) -> auto& { return options.lane_pairs; }),
      option<SearchOptions>(
          {.library = "SearchOptions::estimate_factor"},
          [](auto& options) -> auto& { return options.estimate_factor; })};
  return kOptions;
}

template <>
std::span<const Option<RunOptions>> options_of<RunOptions>() noexcept {
  static constexpr std::array kOptions{
      option<RunOptions>(
          {.library = "RunOptions::strategy",
           .program = "strategy",
           .python = "strategy",
           .meaning = "labels from a table of all neighbours, or directly without one; auto: directly wherever "
                      "that is faster or a table does not fit; epsflow plan says which and why"},
          [](auto& options) -> auto& { return options.strategy; }),
      option<RunOptions>(
          {.library = "RunOptions::method",
           .program = "method",
           .meaning = "variants of one table: nested from the largest minpts down, or each on its own"},
          [](auto& options) -> auto& { return options.method; }),
      option<RunOptions>(
          {.library = "RunOptions::tables",
           .program = "tables",
           .placeholder = "N",
           .most = kMostThreads,
           .zero = kSuits,
           .meaning = "radii under way at once, each with its index and its table where there is one"},
          [](auto& options) -> auto& { return options.tables; }),
      option<RunOptions>(
          {.library = "RunOptions::verify",
           .program = "verify",
           .meaning = "check every labelling against the definition of DBSCAN (slow)"},
          [](auto& options) -> auto& { return options.verify; }),
      option<RunOptions>(
          {.library = "RunOptions::core_mask",
           .program = "core",
           .python = "core",
           .meaning = "write the mask of core points of each variant as well, core/….npy"},
          [](auto& options) -> auto& { return options.core_mask; }),
      option<RunOptions>(
          {.library = "RunOptions::labels", .python = "output"}, [](auto& options) -> auto& { return options.labels; }),
      option<RunOptions>(
          {.library = "RunOptions::keep",
           .program = "keep",
           .python = "keep",
           .meaning =
               "what is kept of each variant: its labels, or its counts alone, which takes less time and memory"},
          [](auto& options) -> auto& { return options.keep; }),
      option<RunOptions>(
          {.library = "RunOptions::clusters"}, [](auto& options) -> auto& { return options.clusters; })};
  return kOptions;
}

void check_options(const EngineOptions& options) {
  check_ranges(options);
  if (options.gpu && options.backend == BackendChoice::cpu) {
    throw UsageError("EngineOptions::gpu asks for a GPU and EngineOptions::backend for the CPU; leave one of them out");
  }
}

void check_options(const SearchOptions& options) {
  check_ranges(options);
  if ((emits_pairs(options.kernel) || options.format == FormatChoice::packed) &&
      (options.index == IndexChoice::tree || options.index == IndexChoice::all || asks_for_tensor_cores(options))) {
    throw UsageError(
        "SearchOptions::kernel other than rows and packed tables search a grid in float64; leave out "
        "SearchOptions::index and SearchOptions::decide");
  }
}

void check_weights(const RunOptions& options, bool negative) {
  if (!options.clusters || !negative) return;
  throw UsageError(
      "RunOptions::clusters ties clusters to those of larger eps, and some weights are below 0: with these a point may "
      "be core at one eps and not at a larger one; use weights of 0 and more");
}

void check_options(const RunOptions& options) {
  check_ranges(options);
  check_options(options.search);
  check_keep(options);
  if (options.strategy == StrategyChoice::direct && table_wanted(options)) {
    throw UsageError(
        "SearchOptions::kernel, SearchOptions::format and RunOptions::method are about tables, and "
        "RunOptions::strategy "
        "= StrategyChoice::direct makes none; leave one of them out");
  }
  if (options.labels == MemorySpace::device &&
      (options.strategy == StrategyChoice::table || table_wanted(options) || options.verify)) {
    throw UsageError(
        "RunOptions::labels = MemorySpace::device needs labels that are made on the GPU, without a table and "
        "unchecked; "
        "leave out RunOptions::strategy, RunOptions::method, RunOptions::verify, SearchOptions::kernel and "
        "SearchOptions::format");
  }
}

void check_options(const EngineOptions& engine, const RunOptions& run) {
  check_options(engine);
  check_options(run);
  if (engine.backend != BackendChoice::cpu) return;
  const char* wanted = asks_for_tensor_cores(run.search)
                           ? "SearchOptions::decide asks for tensor cores, which a GPU has,"
                       : run.labels == MemorySpace::device ? "RunOptions::labels asks for labels on a GPU"
                                                           : nullptr;
  if (wanted != nullptr) {
    throw UsageError(std::string(wanted) + " and EngineOptions::backend for the CPU; leave one of them out");
  }
}

}  // namespace epsflow
