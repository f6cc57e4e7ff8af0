// epsflow sweep by several processes: each reads a share of the points, clusters a part of space, and writes the labels of its share.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <epsflow/cli/commands.hpp>
#include <epsflow/cli/interrupt.hpp>
#include <epsflow/cli/lineage_files.hpp>
#include <epsflow/cli/metric.hpp>
#include <epsflow/cli/output.hpp>
#include <epsflow/cli/progress_report.hpp>
#include <epsflow/cli/ranks.hpp>
#include <epsflow/cli/reading.hpp>
#include <epsflow/cli/running.hpp>
#include <epsflow/cli/shares.hpp>
#include <epsflow/cli/sweep_results.hpp>
#include <epsflow/core/error.hpp>
#include <epsflow/io/formats.hpp>
#include <epsflow/io/results/shared_vector.hpp>
#include <epsflow/parts/machine_share.hpp>
#include <epsflow/parts/part_lineage.hpp>
#include <epsflow/parts/sweep.hpp>

namespace epsflow::cli {
namespace {

/// Throws UsageError for what one process does alone.
void refuse_what_is_for_one(const Arguments& arguments, const RunSettings& settings) {
  const auto refuse = [](const std::string& what) {
    throw UsageError(what + " is for one process: leave it out, or leave the launcher of several out");
  };
  Words for_one = options_of_outputs(&io::ResultsOutput::of_one_process);
  for (const char* name : {"neighbors", "stats", "report", "by-width", "verify", "kernel", "table-format", "method"}) {
    for_one.emplace_back(name);
  }
  for (const std::string& name : for_one) {
    if (arguments.given(name)) refuse("--" + name);
  }
  if (settings.run.strategy == StrategyChoice::table) refuse("--strategy table");
  if (settings.run.search.decide != DecideChoice::automatic && settings.run.search.decide != DecideChoice::scalar) {
    refuse("--decide " + arguments.text("decide"));
  }
}

/// Throws UsageError for what several processes do not do.
RunSettings settings_of_ranks(const Arguments& arguments) {
  RunSettings settings = run_settings(arguments);
  refuse_what_is_for_one(arguments, settings);
  check_kept(arguments, settings.run);
  if (settings.devices.gpus.empty() &&
      (settings.engine.backend == BackendChoice::gpu || settings.engine.gpu || settings.engine.gpu_memory != 0)) {
    throw UsageError("several processes use GPUs by --gpus, which names one for each of a machine");
  }
  settings.run.clusters = arguments.flag("lineage");
  check_options(settings.run);
  return settings;
}

/// Throws InputError for points that the metric does not take. run_each() would throw, too, but on one rank among others that wait for it.
void require_movable(const io::FilePoints& points, const Metric& metric) {
  try {
    require_points(metric, points);
  } catch (const InputError& e) {
    const io::InputRows& rows = points.inputs.front();
    throw InputError(fmt::format("{} (rows are counted from row {} of {}, with which this process begins)", e.what(),
                                 rows.first, rows.name));
  }
}

/// Where labels go, as the first rank has its folder. Collective.
io::SharedResults told_by_first(parts::Exchange& ranks, const std::optional<io::ResultsFolder>& folder,
                                const RunOptions& run, std::uint64_t points) {
  io::SharedResults shared;
  if (ranks.rank() == 0) shared = folder->shared();
  const std::string paths = shared.folder.string() + '\0' + shared.partial.string();
  const std::vector<char> told = from_first(ranks, std::vector<char>(paths.begin(), paths.end()));
  const auto end = std::find(told.begin(), told.end(), '\0');
  return {std::string(told.begin(), end), std::string(end + 1, told.end()), points, run.keep == Keep::labels,
          run.core_mask};
}

/// Each rank writes its rows, which begin at `row` among all, to the files of a variant; the first keeps the folder. From several machines
/// they may write through file systems that lose some of it: so the first reads it again. Collective.
void store(parts::Exchange& ranks, std::optional<io::ResultsFolder>& folder, const io::SharedResults& shared,
           const VariantResult& result, std::uint64_t row, bool one_machine) {
  const std::vector<io::SharedVector> vectors = shared.vectors(result.variant);
  if (vectors.empty()) {
    on_first(ranks, [&] { folder->add(result); });
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
  const parts::Letters<io::FileDigest> all = gather(ranks, std::span<const io::FileDigest>(own));
  on_first(ranks, [&] {
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

}  // namespace

int run_sweep_over_ranks(const Arguments& arguments, parts::Exchange& ranks) {
  std::optional<Sweep> sweep;
  RunSettings settings;
  Metric metric;
  const bool first = ranks.rank() == 0;
  together(ranks, [&] {
    sweep.emplace(requested_sweep(arguments, {"out"}));
    static_cast<void>(folder_mode(arguments));
    metric = requested_metric(arguments);
    settings = settings_of_ranks(arguments);
  });
  const bool labels = settings.run.keep == Keep::labels;
  std::optional<io::ResultsFolder> folder;
  on_first(ranks, [&] {
    folder.emplace(arguments.text("out"), *sweep, folder_mode(arguments), folder_outputs(arguments),
                   notices(arguments));
  });
  const parts::MachineShare machine = parts::machine_share(ranks);
  together(ranks, [&] { settings.engine = parts::share_machine(machine, settings.devices, settings.engine); });

  io::PointsOrigin origin;
  io::FilePoints points = read_share(arguments, ranks, machine, origin);
  together(ranks, [&] {
    settle_columns(arguments, points, metric);
    require_movable(points, metric);
  });
  origin.column_names = points.column_names;
  origin.column_numbers = points.column_numbers;
  const io::ResultsInput input = results_input(ranks, points, std::move(origin));
  std::vector<Variant> missing, made;
  on_first(ranks, [&] {
    io::RunDescription run = describe_run(arguments, metric, settings.engine);
    run.machine.emplace_back("processes", std::to_string(ranks.size()));
    missing = folder->begin(input, std::move(run));
    const bool again = settings.run.clusters && lineage_is_missing(*folder, missing);
    made = again ? all_variants(*folder, missing) : missing;
  });
  missing = from_first(ranks, std::move(missing));
  made = from_first(ranks, std::move(made));
  const bool tied = settings.run.clusters && !made.empty();
  const std::uint64_t row = ranks.sum_below(points.size());
  const io::SharedResults shared = told_by_first(ranks, folder, settings.run, input.points);
  const bool one_machine = machine.processes == static_cast<unsigned>(ranks.size());
  const std::set<Variant, io::VariantOrder> to_make(missing.begin(), missing.end());

  const InterruptGuard interrupt;
  const Trace trace;
  const auto begin = std::chrono::steady_clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(); };
  const Swept swept{input.origin, input.points, &metric, missing.size(), labels};
  const auto fail = [&](const std::string& reason) {
    if (!folder) return;
    try {
      folder->finish("failed", seconds(), trace, reason);
    } catch (const ResourceError&) {  // NOLINT(bugprone-empty-catch): the first error says why
    }
  };
  try {
    ProgressReport report(first && !arguments.flag("quiet"));
    std::optional<LineageBuilder> lineage;
    if (tied) lineage.emplace(Sweep(made), parts::births_of_shares(ranks, points.size()));
    const auto take = [&](VariantResult&& result) {
      if (lineage) lineage->add(result);
      const bool stored = to_make.contains(result.variant);
      if (stored) store(ranks, folder, shared, result, row, one_machine);
      // All ranks must end at the same place, or some would wait for others that have gone.
      if (ranks.max(interrupt.token().cancelled() ? std::uint64_t{1} : 0) != 0) throw Cancelled();
    };
    if (!made.empty()) {
      run_each({points, metric, points.weights}, {.options = {&settings.engine, 1}, .ranks = &ranks}, Sweep(made),
               settings.run, take,
               {.on_progress = [&](const Progress& p) { report.show(p); }, .on_notice = notices(arguments)});
    }
    if (lineage) {
      on_first(ranks, [&] {
        folder->add_file(io::kLineageName,
                         [&](const auto& file) { write_lineage(file, lineage->finish(), input.origin, input.points); });
      });
    }
  } catch (const Cancelled&) {
    on_first(ranks, [&] {
      folder->finish("interrupted", seconds(), trace);
      print_sweep(*folder, swept, arguments, "interrupted", seconds());
    });
    return kInterrupted;
  } catch (const RanksFailed& end) {
    fail(end.reason);
    throw;
  } catch (const std::exception& e) {
    fail(e.what());
    throw;
  }
  on_first(ranks, [&] {
    folder->finish("complete", seconds(), trace);
    print_sweep(*folder, swept, arguments, "complete", seconds());
  });
  return kDone;
}

}  // namespace epsflow::cli
