// The sweep by several processes. Each reads a share of the points, clusters a part of space, and writes its labels.

#include <set>

#include <epsflow/cli/ranks.hpp>
#include <epsflow/cli/structure_files.hpp>
#include <epsflow/cli/sweep_results.hpp>
#include <epsflow/io/results/results_files.hpp>
#include <epsflow/parts/part_lineage.hpp>

namespace epsflow::cli {
namespace {

[[noreturn]] void refuse(const std::string& what) {
  throw UsageError(what + " is for one process: leave it out, or leave the launcher of several out");
}

/// Throws UsageError for options that several processes do not support.
SweepCommand parse_sweep_of_ranks(const Arguments& arguments) {
  Words for_one = options_of_outputs(&io::ResultsOutput::of_one_process);
  for (const char* name : {"neighbors", "stats", "report", "by-width", "verify", "kernel", "table-format", "method"}) {
    for_one.emplace_back(name);
  }
  for (const std::string& name : for_one) {
    if (arguments.given(name)) refuse("--" + name);
  }
  SweepCommand command = parse_sweep_command(arguments, parse_sweep(arguments, {"out"}));
  RunOptions& run = command.settings.run;
  const EngineOptions& engine = command.settings.engine;
  if (run.strategy == StrategyChoice::table) refuse("--strategy table");
  if (run.search.decide != DecideChoice::automatic && run.search.decide != DecideChoice::scalar) {
    refuse("--decide " + std::string(word_of(run.search.decide)));
  }
  if (command.settings.devices.gpus.empty() &&
      (engine.backend == BackendChoice::gpu || engine.gpu || engine.gpu_memory != 0)) {
    throw UsageError("several processes use GPUs by --gpus, which names one for each of a machine");
  }
  run.clusters = command.outputs.wants(io::kLineageName);
  check_options(run);
  return command;
}

/// Throws InputError if the metric does not accept a point. run_each() would throw on one rank while others wait.
void require_movable(const io::FilePoints& points, const Metric& metric) {
  try {
    require_points(metric, points);
  } catch (const InputError& e) {
    const io::InputRows& rows = points.inputs.front();
    throw input_error("{} (rows are counted from row {} of {}, with which this process begins)", e.what(), rows.first,
                      rows.name);
  }
}

/// Returns the paths for labels, which the first rank takes from its folder. Collective.
io::SharedResults broadcast_results(parts::Communicator& ranks, const std::optional<io::ResultsFolder>& folder,
                                    const RunOptions& run, std::uint64_t points) {
  io::SharedResults shared;
  if (ranks.rank() == 0) shared = folder->shared();
  const std::string paths = shared.folder.string() + '\0' + shared.partial.string();
  const std::vector<char> told = broadcast(ranks, std::vector<char>(paths.begin(), paths.end()));
  const auto end = std::find(told.begin(), told.end(), '\0');
  return {std::string(told.begin(), end), std::string(end + 1, told.end()), points, run.keep == Keep::labels,
          run.core_mask};
}

/// Stores a variant: each rank writes its rows, which begin at `row` of all rows, and the first rank updates the
/// folder. Ranks on several machines may write through file systems that lose data, so the first rank then reads the
/// files again. Collective.
void store(parts::Communicator& ranks, std::optional<io::ResultsFolder>& folder, const io::SharedResults& shared,
           const VariantResult& result, std::uint64_t row, bool one_machine) {
  const std::vector<io::SharedVector> vectors = shared.vectors(result.variant);
  if (vectors.empty()) {
    on_root(ranks, [&] { folder->add(result); });
    return;
  }
  std::vector<io::FileDigest> own;
  together(ranks, [&] {
    for (std::size_t v = 0; v < vectors.size(); ++v) {
      const auto values = v == 0 ? std::as_bytes(std::span<const std::int32_t>(result.labels))
                                 : std::as_bytes(std::span<const std::uint8_t>(result.core));
      own.push_back(io::write_share(vectors[v], row, values, one_machine ? io::Durable::later : io::Durable::now));
    }
  });
  const parts::PerRank<io::FileDigest> all = gather(ranks, std::span<const io::FileDigest>(own));
  on_root(ranks, [&] {
    std::vector<io::FileDigest> digests, shares(all.size());
    for (std::size_t v = 0; v < vectors.size(); ++v) {
      std::ranges::transform(all, shares.begin(), [&](const auto& of_rank) { return of_rank[v]; });
      digests.push_back(io::digest_of_shares(vectors[v], shares));
      if (!one_machine && io::digest_of(vectors[v].file) != digests.back()) {
        throw ResourceError(vectors[v].target.string() +
                            " is not what the processes of several machines have written: choose a folder on a file "
                            "system where they may write to one file, such as Lustre, or use one machine");
      }
    }
    folder->add_shared(result, digests);
  });
}

/// The state of a sweep by several processes on one of them.
struct RankSweep {
  parts::Communicator& ranks;
  SweepCommand command = {};
  std::optional<io::ResultsFolder> folder = {};  ///< on the first rank
  parts::MachineShare machine = {};
  io::FilePoints points = {};  ///< the share of this rank
  io::ResultsInput input = {};
  std::vector<Variant> missing = {}, made = {};
};

/// Parses options, opens the folder, reads points, and determines the variants to make. Collective.
void prepare(const Arguments& arguments, RankSweep& sweep) {
  parts::Communicator& ranks = sweep.ranks;
  SweepCommand& command = sweep.command;
  RunSettings& settings = command.settings;
  together(ranks, [&] { command = parse_sweep_of_ranks(arguments); });
  on_root(ranks, [&] {
    sweep.folder.emplace(command.out, command.sweep, command.mode, command.outputs, command.input.messages.notices());
  });
  sweep.machine = parts::machine_share(ranks);
  together(ranks, [&] { settings.engine = parts::share_machine(sweep.machine, settings.devices, settings.engine); });

  io::PointsOrigin origin;
  io::FilePoints& points = sweep.points;
  points = read_share(command.input, ranks, sweep.machine, origin);
  together(ranks, [&] {
    command.input.resolve(points);
    require_movable(points, command.input.metric);
  });
  origin.column_names = points.column_names;
  origin.column_numbers = points.column_numbers;
  sweep.input = results_input(ranks, points, std::move(origin));
  on_root(ranks, [&] {
    io::RunDescription run = describe_run(command.given, command.input.metric, settings.engine.backend);
    run.machine.emplace_back("processes", std::to_string(ranks.size()));
    sweep.missing = sweep.folder->begin(sweep.input, std::move(run));
    const bool again = command.outputs.wants(io::kLineageName) && lineage_is_missing(*sweep.folder, sweep.missing);
    sweep.made = again ? all_variants(*sweep.folder, sweep.missing) : sweep.missing;
  });
  sweep.missing = broadcast(ranks, std::move(sweep.missing));
  sweep.made = broadcast(ranks, std::move(sweep.made));
}

/// Makes the variants and stores them. Collective.
void make(RankSweep& sweep, const CancelToken& cancel) {
  parts::Communicator& ranks = sweep.ranks;
  const SweepCommand& command = sweep.command;
  const RunSettings& settings = command.settings;
  const io::FilePoints& points = sweep.points;
  const std::uint64_t row = ranks.exclusive_scan(points.size());
  const io::SharedResults shared = broadcast_results(ranks, sweep.folder, settings.run, sweep.input.points);
  const bool one_machine = sweep.machine.processes == static_cast<unsigned>(ranks.size());
  const std::set<Variant, VariantOrder> to_make(sweep.missing.begin(), sweep.missing.end());
  ProgressReport report(ranks.rank() == 0 && !command.input.messages.quiet);
  std::optional<LineageBuilder> lineage;
  if (command.outputs.wants(io::kLineageName) && !sweep.made.empty()) {
    lineage.emplace(Sweep(sweep.made), parts::core_since_of_shares(ranks, points.size()));
  }
  const auto take = [&](VariantResult&& result) {
    if (lineage) lineage->add(result);
    if (to_make.contains(result.variant)) store(ranks, sweep.folder, shared, result, row, one_machine);
    // All ranks must stop at the same variant, or some would wait for others that have gone.
    if (ranks.max(cancel.cancelled() ? std::uint64_t{1} : 0) != 0) throw Cancelled();
  };
  if (!sweep.made.empty()) {
    run_each(
        {points, command.input.metric, points.weights}, {.options = {&settings.engine, 1}, .ranks = &ranks},
        Sweep(sweep.made), settings.run, take,
        {.on_progress = [&](const Progress& p) { report.show(p); }, .on_notice = command.input.messages.notices()});
  }
  if (!lineage) return;
  on_root(ranks, [&] {
    sweep.folder->add_file(io::kLineageName, [&](const auto& file) {
      write_lineage(file, lineage->finish(), sweep.input.origin, sweep.input.points);
    });
  });
}

}  // namespace

int run_sweep_over_ranks(const Arguments& arguments, parts::Communicator& ranks) {
  RankSweep sweep{ranks};
  prepare(arguments, sweep);
  const InterruptGuard interrupt;
  const SweepRun run(sweep.command, sweep.folder ? &*sweep.folder : nullptr, sweep.input, &sweep.command.input.metric,
                     sweep.missing.size());
  try {
    make(sweep, interrupt.token());
  } catch (const Cancelled&) {
    on_root(ranks, [&] { run.finish("interrupted"); });
    return kInterrupted;
  } catch (const RanksFailed& end) {
    run.fail(end.reason);
    throw;
  } catch (const std::exception& e) {
    run.fail(e.what());
    throw;
  }
  on_root(ranks, [&] { run.finish("complete"); });
  return kDone;
}

}  // namespace epsflow::cli
