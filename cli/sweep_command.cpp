#include <set>

#include <epsflow/cli/catalogs.hpp>
#include <epsflow/cli/labels.hpp>
#include <epsflow/cli/options.hpp>
#include <epsflow/cli/out_of_core_rows.hpp>
#include <epsflow/cli/report_pages.hpp>
#include <epsflow/cli/structure_files.hpp>
#include <epsflow/cli/sweep_results.hpp>
#include <epsflow/io/write_table.hpp>
#include <epsflow/pipeline/cluster_table.hpp>

namespace epsflow::cli {
namespace {

/// Throws UsageError for options that contradict each other.
void check_together(const Arguments& arguments, const SweepCommand& command) {
  require_catalog_of_stats(arguments);
  for (const std::string& option : options_of_outputs(&io::ResultsOutput::of_one_data_set)) {
    if (!arguments.given(option)) continue;
    if (command.input.sliced()) {
      throw usage_error(
          "--{} ties the clusters of one data set to each other, and --by and --by-file make many: leave "
          "one of them out",
          option);
    }
    if (command.settings.run.method == VariantMethod::each) {
      throw usage_error(
          "--{} ties the clusters of all minpts to each other, and --method each makes each on its own: "
          "leave one of them out",
          option);
    }
  }
}

SweepCommand parse_sweep_of_one(const Arguments& arguments) {
  SweepCommand command = parse_sweep_command(arguments, parse_sweep(arguments, {"out"}));
  if (command.of_table) return command;
  check_together(arguments, command);
  parse_report_of(arguments, command);
  command.settings.run.clusters = command.outputs.wants(io::kLineageName);
  check_options(command.settings.run);
  return command;
}

int sweep_table(const SweepCommand& command) {
  const Messages& messages = command.input.messages;
  io::ResultsFolder folder(command.out, command.sweep, command.mode, command.outputs, messages.notices());
  const TableInput table = read_table(command.input);
  const io::ResultsInput input = results_input(table);
  io::RunDescription description = describe_run(command.given, {}, BackendChoice::cpu);
  description.metric = kPrecomputed;
  const std::vector<Variant> missing = folder.begin(input, std::move(description));
  SweepRun run(command, &folder, input, nullptr, missing.size());
  return run.run([&](const Observer& observer) {
    cluster_each(
        table.table.view(), Sweep(missing), [&](VariantResult&& result) { folder.add(result); },
        {.core_mask = command.settings.run.core_mask}, command.settings.engine, observer);
  });
}

/// The points of a sweep: in memory, or in their file if they do not fit and only coordinates are needed.
class SweptPoints {
 public:
  explicit SweptPoints(SweepCommand& command, bool coordinates_alone) {
    Input& input = command.input;
    if (coordinates_alone) {
      auto rows = rows_to_leave(input, command.sweep, command.settings);
      if (rows) left = keep_on_disk(input, std::move(*rows), command.out);
    }
    if (!left) points = input.read_resolved();
    if (input.sliced()) slicing.emplace(input, points);
    command.settings.resolve(left ? left->rows.size : points.size(), left ? left->rows.dims : points.dims(),
                             input.metric);
  }
  SweptPoints(const SweptPoints&) = delete;  // slices refer to the points
  SweptPoints& operator=(const SweptPoints&) = delete;

  [[nodiscard]] io::ResultsInput describe() const {
    io::ResultsInput input = left ? results_input(*left) : io::results_input(points);
    if (slicing) input.slices = slicing->describe();
    return input;
  }

  [[nodiscard]] PointSet set(const Metric& metric) const {
    PointSet set{left ? PointRows(left->rows) : slicing ? slicing->points() : points, metric, points.weights};
    if (slicing) {
      set.weights = slicing->weights();
      set.slices = slicing->rows().offsets;
    }
    return set;
  }

  std::optional<io::RowFile> left;
  io::FilePoints points;
  std::optional<Slicing> slicing;
};

/// Returns the writers for the folder. They hold references to the points and to `cataloguing`.
std::vector<io::VariantWriter> make_writers(SweepCommand& command, const SweptPoints& swept,
                                            std::optional<Cataloguing>& cataloguing) {
  std::vector<io::VariantWriter> writers;
  const auto& wanted = command.outputs.wanted;
  if (const auto labelled = wanted.find(io::kLabelledFolder); labelled != wanted.end()) {
    writers.push_back(
        labelled_writer(command.input, swept.points, labelled->second, {.core = command.settings.run.core_mask}));
  }
  if (const auto catalog = wanted.find(io::kCatalogFolder); catalog != wanted.end()) {
    cataloguing.emplace(command.input, swept.points, swept.slicing ? &*swept.slicing : nullptr);
    writers.push_back(cataloguing->writer(catalog->second));
    command.settings.run.core_mask = true;
  }
  return writers;
}

/// Runs the sweep. If it is made in parts, first prints how the engines share it.
void run_shared(const SweepCommand& command, const PointSet& points, const Sweep& sweep, const OnResult& take,
                const Observer& observer) {
  const RunSettings& settings = command.settings;
  const std::vector<EngineOptions> engines = parts::engines_on(settings.devices, settings.engine);
  const parts::SharingAnswer sharing = parts::choose_sharing(points, sweep, engines, settings.run);
  const bool left = !points.host_rows().in_memory();
  if (sharing.sharing == parts::Sharing::parts && (left || sharing.parts > engines.size())) {
    command.input.messages.tell("{} of space {}, as {}", format_count(sharing.parts, "part"),
                                left ? "are read from the file one by one" : "take turns", sharing.reason);
  }
  run_each(points, {.options = engines, .sharing = &sharing}, sweep, settings.run, take, observer);
}

int sweep_points(SweepCommand& command) {
  const Input& input = command.input;
  RunSettings& settings = command.settings;
  io::ResultsFolder folder(command.out, command.sweep, command.mode, command.outputs, input.messages.notices());
  const bool beside = command.outputs.wants(io::kLabelledFolder) || command.outputs.wants(io::kCatalogFolder);
  const SweptPoints swept(command, !input.sliced() && !beside && command.report.empty());
  std::optional<Cataloguing> cataloguing;
  std::vector<io::VariantWriter> writers = make_writers(command, swept, cataloguing);
  const io::ResultsInput described = swept.describe();
  const std::vector<Variant> missing =
      folder.begin(described, describe_run(command.given, input.metric, settings.engine.backend), std::move(writers));

  // If one file covers all variants of the folder, all are made together; otherwise only the missing ones are made.
  const bool tied = command.outputs.wants(io::kLineageName) && lineage_is_missing(folder, missing);
  const bool counted = input.sliced() && (!missing.empty() || !folder.holds(io::kSlicesName));
  const Sweep made(tied || counted ? all_variants(folder, missing) : missing);
  const std::set<Variant, VariantOrder> to_make(missing.begin(), missing.end());
  settings.run.clusters = tied;
  const PointSet set = swept.set(input.metric);
  SweepRun run(command, &folder, described, &input.metric, missing.size());
  const int code = run.run([&](const Observer& observer) {
    LineageBuilder builder(made);
    SliceCounts counts;
    const auto take = [&](VariantResult&& result) {
      if (tied) builder.add(result);
      if (counted) counts.emplace(result.variant, result.slices);
      if (swept.slicing) swept.slicing->restore(result);
      if (to_make.contains(result.variant)) folder.add(result);
    };
    if (made.size() > 0) {
      if (!input.sliced() && !swept.left) input.doubt_eps(swept.points);
      run_shared(command, set, made, take, observer);
    }
    if (tied) {
      folder.add_file(io::kLineageName, [&](const auto& file) {
        write_lineage(file, builder.finish(), described.origin, described.points);
      });
    }
    if (counted) {
      folder.add_file(io::kSlicesName, [&](const auto& file) { write_slice_counts(file, *swept.slicing, counts); });
    }
  });
  if (code == kDone && !command.report.empty()) write_report(command, "sweep", swept.points);
  return code;
}

int run_sweep(const Arguments& arguments) {
  SweepCommand command = parse_sweep_of_one(arguments);
  return command.of_table ? sweep_table(command) : sweep_points(command);
}

/// Returns --keep without `core`, because a results folder contains counts of border points and noise.
OptionSpec keep_option() {
  OptionSpec option = spec_of<RunOptions>("keep");
  std::erase(option.words, word_of(Keep::core));
  return option;
}

}  // namespace

Command sweep_command() {
  return {.name = "sweep",
          .summary = "cluster under every (eps, minpts) of a grid or list, into a results folder",
          .usage = "FILE … --eps LIST --minpts LIST --out FOLDER",
          .about =
              "Clusters the points of the files (several are read as one data set) with DBSCAN under every variant\n"
              "(eps, minpts), and writes labels, summary.csv, sweep.json and trace.json to a folder.\n\n"
              "A LIST is a comma list of values and ranges: 0.1,0.2 or lo:hi:step (0.1:0.5:0.1, also downwards\n"
              "0.5:0.1:0.1) or lo:hi:n:lin or lo:hi:n:log (n values from lo to hi in even steps or even ratios).",
          .example = "epsflow sweep points.csv --columns x,y --eps 0.1:0.3:0.1 --minpts 4,8,16 --out results",
          .operand = {"FILE …"},
          .groups =
              {sweep_options(),
               metric_options(),
               {"Results",
                {folder_option("out", "folder to write to", true),
                 flag("resume", "keep the variants that the folder holds and make the others"),
                 flag("overwrite", "replace the results that the folder holds by the new ones once these are complete"),
                 keep_option(),
                 flag("lineage", "write how the clusters of all variants lie in each other as well, lineage.npz"),
                 report_option(
                     "page for a browser, with all that epsflow report makes of the folder; writes lineage.npz, too"),
                 spec_of<RunOptions>("core"),
                 word_option("labelled", {"csv", "fits", "h5", "parquet"}, "",
                             "write the columns of the input with the label beside them, and with --core the mask, "
                             "for each variant, labelled/…: every column from text to csv and from FITS to fits, else "
                             "the coordinates"),
                 word_option("catalog", {"csv", "fits", "h5", "parquet"}, "",
                             "write the clusters of each variant as well, a row for each, catalog/…: size, core "
                             "points, first core point, and of the coordinates centre, spread, ends and radius; "
                             "weighted by --weight"),
                 stats_option(), flag("hdf5", "write everything of the sweep into FOLDER/sweep.h5 as well")}},
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
