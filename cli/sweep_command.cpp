#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <epsflow/cli/commands.hpp>
#include <epsflow/cli/interrupt.hpp>
#include <epsflow/cli/lineage_files.hpp>
#include <epsflow/cli/metric.hpp>
#include <epsflow/cli/options.hpp>
#include <epsflow/cli/output.hpp>
#include <epsflow/cli/progress_report.hpp>
#include <epsflow/cli/reading.hpp>
#include <epsflow/cli/running.hpp>
#include <epsflow/cli/sweep_results.hpp>
#include <epsflow/cli/table_input.hpp>
#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/io/formats.hpp>
#include <epsflow/io/results/results_folder.hpp>
#include <epsflow/pipeline/cluster_table.hpp>
#include <epsflow/pipeline/sweep.hpp>

namespace epsflow::cli {
namespace {

/// Calls make(observer), which adds results to the folder, and says what the folder holds then. Returns the exit code.
int run_into(io::ResultsFolder& folder, const Swept& swept, const Arguments& arguments,
             const std::function<void(const Observer&)>& make) {
  const InterruptGuard interrupt;
  Trace trace;
  const auto begin = std::chrono::steady_clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(); };
  try {
    ProgressReport report(!arguments.flag("quiet"));
    make({.on_progress = [&](const Progress& p) { report.show(p); }, .cancel = &interrupt.token(), .trace = &trace});
  } catch (const Cancelled&) {
    folder.finish("interrupted", seconds(), trace);
    print_sweep(folder, swept, arguments, "interrupted", seconds());
    return kInterrupted;
  } catch (const std::exception& e) {
    try {
      folder.finish("failed", seconds(), trace, e.what());
    } catch (const ResourceError&) {  // NOLINT(bugprone-empty-catch): the first error says why
    }
    throw;
  }
  folder.finish("complete", seconds(), trace);
  print_sweep(folder, swept, arguments, "complete", seconds());
  return kDone;
}

/// The sweep of a table of neighbours.
int run_sweep_of_table(const Arguments& arguments) {
  const Sweep sweep = requested_sweep(arguments, {"out"});
  const io::FolderMode mode = folder_mode(arguments);
  const RunSettings settings = run_settings(arguments);
  require_table_options(arguments, {"keep", "lineage", "labelled"});
  io::ResultsFolder folder(
      arguments.text("out"), sweep, mode,
      {.hdf5 = arguments.flag("hdf5"), .core = settings.run.core_mask, .inputs = paths_of(arguments.operands())},
      notices(arguments));
  const TableInput input = read_table(arguments);
  io::RunDescription description = describe_run(arguments, {}, {.backend = BackendChoice::cpu});
  description.metric = kPrecomputed;
  const std::vector<Variant> missing = folder.begin(results_input(input), std::move(description));
  return run_into(folder, {input.origin, input.table.view().size(), nullptr, missing.size()}, arguments,
                  [&](const Observer& observer) {
                    cluster_each(
                        input.table.view(), Sweep(missing), [&](VariantResult&& result) { folder.add(result); },
                        {.core_mask = settings.run.core_mask}, settings.engine, observer);
                  });
}

int run_sweep(const Arguments& arguments) {
  if (arguments.flag("neighbors")) return run_sweep_of_table(arguments);
  // Everything that can be wrong with the words is found before a file is read.
  const Sweep sweep = requested_sweep(arguments, {"out"});
  const io::FolderMode mode = folder_mode(arguments);
  RunSettings settings = run_settings(arguments);
  Metric metric = requested_metric(arguments);
  const std::string& out = arguments.text("out");
  const bool labels = settings.run.keep == Keep::labels;
  const bool lineage = arguments.flag("lineage");
  check_kept(arguments, settings.run);
  settings.run.clusters = lineage;
  check_options(settings.run);
  if (lineage) io::require_format("NPZ");
  if (arguments.flag("hdf5")) io::require_format("HDF5");
  const std::string extension = arguments.given("labelled") ? "." + arguments.text("labelled") : "";
  std::optional<io::OutputFormat> format;
  if (!extension.empty()) format = io::output_format("labelled" + extension, io::kLabelledFormats);
  io::ResultsFolder folder(out, sweep, mode,
                           {.labels = labels,
                            .hdf5 = arguments.flag("hdf5"),
                            .core = settings.run.core_mask,
                            .labelled = extension,
                            .more = lineage ? Words{io::kLineageName} : Words{},
                            .inputs = paths_of(arguments.operands())},
                           notices(arguments));

  io::FilePoints points = read_input(arguments);
  require_points(points);
  settle_columns(arguments, points, metric);
  settle_backend(points, metric, settings);
  std::optional<io::LabelledCopy> labelled;
  if (format) labelled.emplace(labelled_copy(arguments, points, *format, settings.run.core_mask, metric));
  const std::vector<Variant> missing = folder.begin(
      io::results_input(points), describe_run(arguments, metric, settings.engine), labelled ? &*labelled : nullptr);

  const bool again = lineage && lineage_is_missing(folder, missing);
  const Sweep made(again ? all_variants(folder, missing) : missing);
  const std::set<Variant, io::VariantOrder> to_make(missing.begin(), missing.end());
  settings.run.clusters = again;
  return run_into(
      folder, {points, points.size(), &metric, missing.size(), labels}, arguments, [&](const Observer& observer) {
        LineageBuilder builder(made);
        const auto take = [&](VariantResult&& result) {
          if (again) builder.add(result);
          if (to_make.contains(result.variant)) folder.add(result);
        };
        const std::vector<EngineOptions> engines = parts::engines_on(settings.devices, settings.engine);
        const parts::SharingAnswer sharing =
            parts::choose_sharing(points, made, engines, settings.run, !points.weights.empty());
        if (made.size() > 0 && sharing.sharing == parts::Sharing::one) {
          run_each(load(arguments, points, metric, engines.front(), observer.trace), made, take, settings.run,
                   observer);
        } else if (made.size() > 0) {
          doubt_eps(arguments, points, metric);
          if (sharing.parts > engines.size() && !arguments.flag("quiet")) {
            say(fmt::format("{} of space take turns, as {}", format_count(sharing.parts, "part"), sharing.reason));
          }
          Observer shared = observer;
          shared.on_notice = notices(arguments);
          parts::run_each(points, metric, made, take, engines, settings.run, shared, points.weights, &sharing);
        }
        if (again) {
          folder.add_file(io::kLineageName, [&](const auto& file) { write_lineage(file, builder.finish()); });
        }
      });
}

}  // namespace

Command sweep_command() {
  return {
      .name = "sweep",
      .summary = "cluster under every (eps, minpts) of a grid or list, into a results folder",
      .usage = "FILE … --eps LIST --minpts LIST --out FOLDER",
      .about =
          "Clusters the points of the files (several are read as one data set) with DBSCAN under every variant\n"
          "(eps, minpts), and writes labels, summary.csv, sweep.json and trace.json to a folder.\n\n"
          "A LIST is a comma list of values and ranges: 0.1,0.2 or lo:hi:step (0.1:0.5:0.1, also downwards\n"
          "0.5:0.1:0.1) or lo:hi:n:lin or lo:hi:n:log (n values from lo to hi in even steps or even ratios).",
      .example = "epsflow sweep points.csv --columns x,y --eps 0.1:0.3:0.1 --minpts 4,8,16 --out results",
      .operand = {"FILE …"},
      .groups = {sweep_options(),
                 metric_options(),
                 {"Results",
                  {{.name = "out", .kind = ValueKind::folder, .value = "FOLDER", .help = "folder to write to"},
                   {.name = "resume",
                    .kind = ValueKind::flag,
                    .help = "keep the variants that the folder holds and make the others"},
                   {.name = "overwrite",
                    .kind = ValueKind::flag,
                    .help = "replace the results that the folder holds by the new ones once these are complete"},
                   spec_of<RunOptions>("keep"),
                   {.name = "lineage",
                    .kind = ValueKind::flag,
                    .help = "write how the clusters of all variants lie in each other as well, lineage.npz"},
                   spec_of<RunOptions>("core"),
                   {.name = "labelled",
                    .kind = ValueKind::word,
                    .words = {"csv", "fits", "h5", "parquet", "geojson", "vtp"},
                    .help = "write the columns of the input with the label beside them, and with --core the mask, for "
                            "each variant, labelled/…: every column from text to csv and from FITS to fits, else the "
                            "coordinates; geojson is for longitudes and latitudes, vtp (ParaView) for up to three "
                            "dimensions"},
                   {.name = "hdf5",
                    .kind = ValueKind::flag,
                    .help = "write everything of the sweep into FOLDER/sweep.h5 as well"}}},
                 input_options(),
                 table_options(),
                 machine_options(),
                 several_gpus_options(),
                 run_options(),
                 search_options(),
                 message_options()},
      .run = run_sweep,
      .run_ranks = run_sweep_over_ranks};
}

}  // namespace epsflow::cli
