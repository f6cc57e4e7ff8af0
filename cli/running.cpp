#include <epsflow/cli/running.hpp>

#include <sys/utsname.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <limits>
#include <string_view>
#include <thread>

#include <epsflow/cli/choices.hpp>
#include <epsflow/cli/output.hpp>
#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/core/memory.hpp>
#include <epsflow/pipeline/backends.hpp>

namespace epsflow::cli {

OptionGroup sweep_options() {
  return {"What to cluster",
          {{.name = "eps",
            .value = "LIST",
            .help = "neighbourhood radii, in the unit of the coordinates; a distance of exactly eps counts"},
           {.name = "minpts",
            .alias = "min-samples",
            .value = "LIST",
            .help = "points within eps that make a core point, itself counted; every eps with every minpts"},
           {.name = "variants", .value = "LIST", .help = "single variants instead: 0.2:4,0.5:20"}}};
}

Sweep requested_sweep(const Arguments& arguments, const Words& also) {
  if (arguments.given("variants")) {
    if (arguments.given("eps") || arguments.given("minpts")) {
      throw UsageError("give either --variants or --eps with --minpts, not both");
    }
    arguments.require(also);
    return Sweep(parse_variants(arguments.text("variants")));
  }
  Words needed{"eps", "minpts"};
  needed.insert(needed.end(), also.begin(), also.end());
  arguments.require(needed);
  return grid(parse_eps_list(arguments.text("eps")), parse_minpts_list(arguments.text("minpts")));
}

OptionGroup run_options_group() {
  return {
      "How to run (labels never depend on these)",
      {{.name = "memory",
        .kind = ValueKind::size,
        .value = "SIZE",
        .help =
            "most memory to hold, as in 8G or 512M, in powers of 1024; 8GB counts in thousands (default: half of the "
            "machine's)"},
       {.name = "threads",
        .kind = ValueKind::integer,
        .value = "N",
        .most = kMostThreads,
        .zero = "one per core",
        .standard = "0",
        .help = "threads that work"},
       {.name = "backend",
        .kind = ValueKind::word,
        .words = words_of(kBackends),
        .standard = "auto",
        .help = "where to search; auto: on the GPU where there is one, unless the points are so few that a CPU is done "
                "before it has started"},
       {.name = "gpu",
        .kind = ValueKind::integer,
        .value = "N",
        .most = 1023,
        .zero = "the first",
        .help = "which GPU, counted from 0 (default: the one with most free memory)"},
       {.name = "gpu-memory",
        .kind = ValueKind::size,
        .value = "SIZE",
        .help = "most memory to hold on the GPU (default: nine tenths of what is free)"},
       {.name = "strategy",
        .kind = ValueKind::word,
        .words = words_of(kStrategies),
        .standard = "auto",
        .help = "labels from a table of all neighbours, or directly without one; auto: directly wherever that is "
                "faster or a table does not fit; epsflow plan says which and why"},
       {.name = "index",
        .kind = ValueKind::word,
        .words = words_of(kIndexes),
        .standard = "auto",
        .help = "where candidates come from: a grid, tiles of a tree of coordinates and distances, or all pairs; auto: "
                "a grid up to six dimensions, beyond whichever suits the backend and the points"},
       {.name = "decide",
        .kind = ValueKind::word,
        .words = words_of(kDeciders),
        .standard = "auto",
        .help = "how candidates are decided in high dimensions: in float64, or by tensor cores in float64 or half "
                "precision, with the same result"},
       {.name = "kernel",
        .kind = ValueKind::word,
        .words = words_of(kKernels),
        .standard = "rows",
        .help = "how to search: whole rows, or by one of the paper's kernels, whose pairs are sorted afterwards"},
       {.name = "table-format",
        .kind = ValueKind::word,
        .words = words_of(kFormats),
        .standard = "auto",
        .help = "the neighbour table in memory: ids, or up to three dimensions a bit per candidate"},
       {.name = "method",
        .kind = ValueKind::word,
        .words = words_of(kMethods),
        .standard = "nested",
        .help = "variants of one table: nested from the largest minpts down, or each on its own"},
       {.name = "tables",
        .kind = ValueKind::integer,
        .value = "N",
        .most = kMostThreads,
        .zero = "as many as suit the backend",
        .standard = "0",
        .help = "radii under way at once, each with its index and its table where there is one"},
       {.name = "lanes",
        .kind = ValueKind::integer,
        .value = "N",
        .most = kMostThreads,
        .zero = "as many as suit the backend",
        .standard = "0",
        .help = "batches of a table under way at once"},
       {.name = "batch-pairs",
        .kind = ValueKind::integer,
        .value = "N",
        .most = kMostLanePairs,
        .zero = "as many as suit the backend",
        .standard = "0",
        .help = "pairs of a table that the buffer of a lane holds"},
       {.name = "verify",
        .kind = ValueKind::flag,
        .help = "check every labelling against the definition of DBSCAN (slow)"}}};
}

Options run_options(const Arguments& arguments) {
  Options options;
  if (arguments.given("memory")) options.memory = arguments.size("memory");
  options.threads = static_cast<unsigned>(arguments.number("threads"));
  options.backend = chosen(arguments.text("backend"), kBackends);
  if (arguments.given("gpu")) options.gpu = static_cast<int>(arguments.number("gpu"));
  if (arguments.given("gpu-memory")) options.gpu_memory = arguments.size("gpu-memory");
  options.strategy = chosen(arguments.text("strategy"), kStrategies);
  options.index = chosen(arguments.text("index"), kIndexes);
  options.decide = chosen(arguments.text("decide"), kDeciders);
  options.kernel = chosen(arguments.text("kernel"), kKernels);
  options.format = chosen(arguments.text("table-format"), kFormats);
  options.method = chosen(arguments.text("method"), kMethods);
  options.tables = static_cast<unsigned>(arguments.number("tables"));
  options.lanes = static_cast<unsigned>(arguments.number("lanes"));
  options.lane_pairs = arguments.number("batch-pairs");
  options.verify = arguments.flag("verify");
  // Before anything is read or written.
  check_options(options);
  check_backend(options);
  return options;
}

void settle_backend(const Points& points, const Metric& metric, Options& options) {
  options.backend = choose_backend(points.size(), moved_dims(metric, points.dims()), moved_space(metric), options,
                                   preferred_backend());
}

io::RunDescription describe_run(const Arguments& arguments, const Metric& metric, const Options& options) {
  io::RunDescription description;
  description.version = EPSFLOW_VERSION;
  description.metric = describe(metric);
  description.options.assign(arguments.all_given().begin(), arguments.all_given().end());
  description.machine = {{"processor", processor_name()},
                         {"cores", std::to_string(std::thread::hardware_concurrency())},
                         {"memory", format_bytes(machine_memory())}};
  if (options.backend == BackendChoice::cpu) return description;
  for (const BackendInfo& backend : backends()) {
    if (backend.name == "gpu") description.machine.emplace_back("gpu", backend.detail);
  }
  return description;
}

std::function<void(const std::string&)> notices(const Arguments& arguments) {
  if (arguments.flag("quiet")) return nullptr;
  return [](const std::string& text) { say(text); };
}

std::string processor_name() {
  // As Linux calls it on x86, and on several other architectures.
  static constexpr std::array<std::string_view, 3> kKeys{"model name", "cpu model", "Hardware"};
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    for (const std::string_view key : kKeys) {
      if (!line.starts_with(key)) continue;
      const std::size_t begin = line.find_first_not_of(" \t:", key.size());
      if (begin != std::string::npos) return line.substr(begin);
    }
  }
  utsname system{};
  return uname(&system) == 0 ? system.machine : "unknown";
}

void print_json(const nlohmann::ordered_json& json) {
  print_result("{}\n", json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

}  // namespace epsflow::cli
