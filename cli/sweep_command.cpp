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

#include <epsflow/cli/catalogs.hpp>
#include <epsflow/cli/commands.hpp>
#include <epsflow/cli/interrupt.hpp>
#include <epsflow/cli/labels.hpp>
#include <epsflow/cli/left_rows.hpp>
#include <epsflow/cli/lineage_files.hpp>
#include <epsflow/cli/metric.hpp>
#include <epsflow/cli/options.hpp>
#include <epsflow/cli/output.hpp>
#include <epsflow/cli/progress_report.hpp>
#include <epsflow/cli/reading.hpp>
#include <epsflow/cli/report_pages.hpp>
#include <epsflow/cli/running.hpp>
#include <epsflow/cli/slicing.hpp>
#include <epsflow/cli/sweep_results.hpp>
#include <epsflow/cli/table_input.hpp>
#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/io/formats.hpp>
#include <epsflow/io/results/results_folder.hpp>
#include <epsflow/io/write_table.hpp>
#include <epsflow/parts/sweep.hpp>
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
    make({.on_progress = [&](const Progress& p) { report.show(p); },
          .cancel = &interrupt.token(),
          .on_notice = notices(arguments),
          .trace = &trace});
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

/// Returns the file from which parts are read, if the points do not fit into memory.
std::optional<io::RowFile> left_rows(const Arguments& arguments, const Sweep& sweep, Metric& metric,
                                     const RunSettings& settings) {
  auto rows = rows_to_leave(arguments, sweep, metric, settings);
  if (!rows) return std::nullopt;
  return leave_rows(arguments, std::move(*rows), arguments.text("out"));
}

/// Prints how the engines share the sweep if it goes by parts, and runs it.
void run_shared(const Arguments& arguments, const PointSet& points, const Sweep& sweep, const OnResult& take,
                const RunSettings& settings, const Observer& observer) {
  const std::vector<EngineOptions> engines = parts::engines_on(settings.devices, settings.engine);
  const parts::SharingAnswer sharing = parts::choose_sharing(points, sweep, engines, settings.run);
  const bool left = !points.host_rows().in_memory();
  if (sharing.sharing == parts::Sharing::parts && (left || sharing.parts > engines.size()) &&
      !arguments.flag("quiet")) {
    say(fmt::format("{} of space {}, as {}", format_count(sharing.parts, "part"),
                    left ? "are read from the file one by one" : "take turns", sharing.reason));
  }
  run_each(points, {.options = engines, .sharing = &sharing}, sweep, settings.run, take, observer);
}

/// The page of what the folder holds now.
void write_report(const Arguments& arguments, const io::FilePoints& points, const Metric& metric,
                  const EngineOptions& engine) {
  const std::filesystem::path folder = arguments.text("out");
  const io::Manifest manifest = read_results(folder);
  report::Report report(subject_of(points, metric,
                                   {.command = "sweep",
                                    .files = arguments.operands(),
                                    .checksum = manifest.checksum,
                                    .started = io::now_utc(),
                                    .run = describe_run(arguments, metric, engine)}));
  add_folder(report, folder, manifest);
  write_page(arguments, arguments.text("report"), io::Overwrite::replace, report);
}

/// The sweep of a table of neighbours.
int run_sweep_of_table(const Arguments& arguments) {
  const Sweep sweep = requested_sweep(arguments, {"out"});
  const io::FolderMode mode = folder_mode(arguments);
  const RunSettings settings = run_settings(arguments);
  Words about_points = options_of_outputs(&io::ResultsOutput::of_points);
  for (const char* option : {"keep", "stats", "by-width"}) about_points.emplace_back(option);
  require_table_options(arguments, about_points);
  io::ResultsFolder folder(arguments.text("out"), sweep, mode, folder_outputs(arguments), notices(arguments));
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

/// Throws UsageError for options that have no sense together.
void check_together(const Arguments& arguments, const RunSettings& settings, bool sliced) {
  if (arguments.given("stats") && !arguments.given("catalog")) {
    throw UsageError("--stats is about the clusters of --catalog: give --catalog as well");
  }
  for (const std::string& option : options_of_outputs(&io::ResultsOutput::of_one_data_set)) {
    if (!arguments.given(option)) continue;
    if (sliced) {
      throw UsageError(
          fmt::format("--{} ties the clusters of one data set to each other, and --by and --by-file make many: leave "
                      "one of them out",
                      option));
    }
    if (settings.run.method == VariantMethod::each) {
      throw UsageError(
          fmt::format("--{} ties the clusters of all minpts to each other, and --method each makes each on its own: "
                      "leave one of them "
                      "out",
                      option));
    }
  }
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
  const bool lineage = arguments.flag("lineage") || arguments.given("report");
  check_kept(arguments, settings.run);
  check_slicing(arguments);
  const bool sliced = arguments.given("by") || arguments.flag("by-file");
  check_together(arguments, settings, sliced);
  require_page(arguments, "report", mode == io::FolderMode::fresh ? io::Overwrite::refuse : io::Overwrite::replace);
  settings.run.clusters = lineage;
  check_options(settings.run);
  const io::FolderOutputs outputs = folder_outputs(arguments);
  io::ResultsFolder folder(out, sweep, mode, outputs, notices(arguments));

  const bool labelled = outputs.wants(io::kLabelledFolder);
  const bool catalogued = outputs.wants(io::kCatalogFolder);
  const bool coordinates_alone = !sliced && !labelled && !catalogued && !arguments.given("report");
  const std::optional<io::RowFile> left =
      coordinates_alone ? left_rows(arguments, sweep, metric, settings) : std::nullopt;
  io::FilePoints points;
  if (!left) {
    points = read_input(arguments);
    require_points(points);
    settle_columns(arguments, points, metric);
  }
  std::optional<Slicing> slicing;
  if (sliced) slicing.emplace(arguments, points);
  const std::uint64_t n = left ? left->rows.size : points.size();
  settle_backend(n, left ? left->rows.dims : points.dims(), metric, settings);
  std::vector<io::VariantWriter> writers;
  std::optional<io::LabelledCopy> copy;
  if (labelled) {
    const std::string& extension = outputs.wanted.at(io::kLabelledFolder);
    const io::OutputFormat format = io::output_format(io::kLabelledFolder + extension, io::kLabelledFormats);
    copy.emplace(labelled_copy(arguments, points, format, settings.run.core_mask, metric));
    writers.push_back(labelled_writer(*copy, extension));
  }
  std::optional<Cataloguing> cataloguing;
  if (catalogued) {
    cataloguing.emplace(arguments, points, metric, slicing ? &*slicing : nullptr);
    writers.push_back(cataloguing->writer(outputs.wanted.at(io::kCatalogFolder)));
    settings.run.core_mask = true;
  }
  io::ResultsInput input = left ? results_input(*left) : io::results_input(points);
  if (slicing) input.slices = slicing->describe();
  const std::vector<Variant> missing =
      folder.begin(input, describe_run(arguments, metric, settings.engine), std::move(writers));

  // All variants of the folder together, where a file tells of all; those that are there are not made again otherwise.
  const bool tied = lineage && lineage_is_missing(folder, missing);
  const bool counted = sliced && (!missing.empty() || !folder.holds(io::kSlicesName));
  const Sweep made(tied || counted ? all_variants(folder, missing) : missing);
  const std::set<Variant, io::VariantOrder> to_make(missing.begin(), missing.end());
  settings.run.clusters = tied;
  PointSet set{left ? PointRows(left->rows) : slicing ? slicing->points() : points, metric, points.weights};
  if (slicing) {
    set.weights = slicing->weights();
    set.slices = slicing->rows().offsets;
  }
  const int code =
      run_into(folder, {input.origin, n, &metric, missing.size(), labels}, arguments, [&](const Observer& observer) {
        LineageBuilder builder(made);
        std::optional<SliceCounts> counts;
        if (counted) counts.emplace(*slicing);
        const auto take = [&](VariantResult&& result) {
          if (tied) builder.add(result);
          if (counts) counts->add(result);
          if (slicing) slicing->restore(result);
          if (to_make.contains(result.variant)) folder.add(result);
        };
        if (made.size() > 0) {
          if (!sliced && !left) doubt_eps(arguments, points, metric);
          run_shared(arguments, set, made, take, settings, observer);
        }
        if (tied) {
          folder.add_file(io::kLineageName,
                          [&](const auto& file) { write_lineage(file, builder.finish(), input.origin, input.points); });
        }
        if (counts) folder.add_file(io::kSlicesName, [&](const auto& file) { counts->write(file); });
      });
  if (code == kDone && arguments.given("report")) write_report(arguments, points, metric, settings.engine);
  return code;
}

/// A results folder has counts of border points and noise.
OptionSpec kept_option() {
  OptionSpec option = spec_of<RunOptions>("keep");
  std::erase(option.words, word_of(Keep::core));
  return option;
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
                  {{.name = "out",
                    .kind = ValueKind::folder,
                    .value = "FOLDER",
                    .writes = true,
                    .help = "folder to write to"},
                   {.name = "resume",
                    .kind = ValueKind::flag,
                    .help = "keep the variants that the folder holds and make the others"},
                   {.name = "overwrite",
                    .kind = ValueKind::flag,
                    .help = "replace the results that the folder holds by the new ones once these are complete"},
                   kept_option(),
                   {.name = "lineage",
                    .kind = ValueKind::flag,
                    .help = "write how the clusters of all variants lie in each other as well, lineage.npz"},
                   report_option(
                       "page for a browser, with all that epsflow report makes of the folder; writes lineage.npz, too"),
                   spec_of<RunOptions>("core"),
                   {.name = "labelled",
                    .kind = ValueKind::word,
                    .words = {"csv", "fits", "h5", "parquet", "geojson", "vtp"},
                    .help = "write the columns of the input with the label beside them, and with --core the mask, for "
                            "each variant, labelled/…: every column from text to csv and from FITS to fits, else the "
                            "coordinates; geojson is for longitudes and latitudes, vtp (ParaView) for up to three "
                            "dimensions"},
                   {.name = "catalog",
                    .kind = ValueKind::word,
                    .words = {"csv", "fits", "h5", "parquet"},
                    .help = "write the clusters of each variant as well, a row for each, catalog/…: size, core points, "
                            "first core "
                            "point, and of the coordinates centre, spread, ends and radius; weighted by --weight"},
                   stats_option(),
                   {.name = "hdf5",
                    .kind = ValueKind::flag,
                    .help = "write everything of the sweep into FOLDER/sweep.h5 as well"}}},
                 slicing_options(),
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
