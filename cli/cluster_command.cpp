#include <epsflow/cli/catalogs.hpp>
#include <epsflow/cli/running.hpp>
#include <epsflow/io/write/npy_writer.hpp>
#include <epsflow/io/write_table.hpp>
#include <epsflow/pipeline/cluster_table.hpp>
#include <epsflow/pipeline/sweep.hpp>

namespace epsflow::cli {
namespace {

struct ClusterCommand {
  bool of_table = false;  ///< whether the input is a table of neighbours
  Sweep variant;          ///< has one variant
  RunSettings settings = {};
  Input input = {};
  Outputs outputs;
  std::string out = {}, core = {}, labelled = {}, catalog = {};  ///< files to write, or empty
};

ClusterCommand parse_cluster(const Arguments& arguments) {
  ClusterCommand command{
      .of_table = arguments.given("neighbors"), .variant = parse_variant(arguments), .outputs = Outputs(arguments)};
  if (command.of_table) require_table_options(arguments, {"labelled", "catalog", "stats"});
  Outputs& outputs = command.outputs;
  // Labels of a table have no metric, so only formats that store none are allowed.
  command.out = outputs.take_with_rows(command.of_table ? std::span<const io::OutputFormat>(io::kPointFormats)
                                                        : std::span<const io::OutputFormat>(io::kLabelFormats));
  command.core = outputs.take("core", io::kMaskFormats);
  command.labelled = outputs.take("labelled", io::kTableFormats);
  command.catalog = outputs.take("catalog", io::kTableFormats);
  require_catalog_of_stats(arguments);
  command.settings = parse_run_settings(arguments);
  command.input = parse_input(arguments);
  return command;
}

/// Prints the result. metric: null for a table of neighbours.
void print_summary(const ClusterCommand& command, const VariantResult& result, const io::PointsOrigin& origin,
                   std::uint64_t points, const Metric* metric) {
  const LabelSummary& s = result.summary;
  nlohmann::ordered_json json{{"points", points},       {"eps", result.variant.eps}, {"minpts", result.variant.minpts},
                              {"clusters", s.clusters}, {"noise", s.noise},          {"core", s.core},
                              {"border", s.border},     {"largest", s.largest},      {"seconds", result.seconds}};
  add_input(json, origin, metric);
  const std::string by = metric == nullptr ? std::string(kPrecomputed) : describe(*metric);
  const std::string dropped =
      origin.dropped_rows() > 0 ? " (" + format_count(origin.dropped_rows(), "row") + " dropped)" : "";
  command.outputs.print(json, fmt::format("{}{}: {} (largest {}), {} core, {} border, {} noise; {}{:.3f} s\n",
                                          format_count(points, "point"), dropped, format_count(s.clusters, "cluster"),
                                          format_count(s.largest), format_count(s.core), format_count(s.border),
                                          format_count(s.noise), by.empty() ? "" : by + "; ", result.seconds));
}

void run_on_table(const ClusterCommand& command) {
  const TableInput input = read_table(command.input);
  const InterruptGuard interrupt;
  const VariantResult result = watched(!command.input.messages.quiet, interrupt.token(), [&](const Observer& observer) {
    return std::move(cluster(input.table.view(), command.variant, {.core_mask = command.settings.run.core_mask},
                             command.settings.engine, observer)
                         .front());
  });
  command.outputs.remove_rows();
  if (!command.out.empty()) io::write_labels(command.out, result, command.outputs.overwrite());
  if (!command.core.empty()) io::write_npy(command.core, io::npy_mask(result.core), command.outputs.overwrite());
  print_summary(command, result, input.origin, input.table.view().size(), nullptr);
}

void run_on_points(ClusterCommand& command) {
  Input& input = command.input;
  RunSettings& settings = command.settings;
  const io::Overwrite overwrite = command.outputs.overwrite();
  const io::FilePoints points = read_points(input, settings);
  std::optional<io::LabelledCopy> labelled;
  if (!command.labelled.empty()) {
    const io::OutputFormat format = io::output_format(command.labelled, io::kTableFormats);
    labelled.emplace(input.labelled_copy(points, format, {.core = settings.run.core_mask}));
  }
  std::optional<Cataloguing> cataloguing;
  if (!command.catalog.empty()) {
    cataloguing.emplace(input, points, nullptr);
    settings.run.core_mask = true;
  }
  const InterruptGuard interrupt;
  const VariantResult result = watched(!input.messages.quiet, interrupt.token(), [&](const Observer& observer) {
    return std::move(run(input.load(points, settings.engine), command.variant, settings.run, observer).front());
  });
  command.outputs.write_labels(result, points, input.metric);
  if (!command.core.empty()) io::write_npy(command.core, io::npy_mask(result.core), overwrite);
  if (labelled) labelled->write(command.labelled, result, overwrite);
  if (cataloguing) {
    io::write_table(command.catalog, cataloguing->table(result), {"catalog", result, input.metric}, overwrite);
  }
  print_summary(command, result, points, points.size(), &input.metric);
}

int run_cluster(const Arguments& arguments) {
  ClusterCommand command = parse_cluster(arguments);
  command.of_table ? run_on_table(command) : run_on_points(command);
  return kDone;
}

}  // namespace

Command cluster_command() {
  return {
      .name = "cluster",
      .summary = "cluster under one (eps, minpts), into one file of labels",
      .usage = "FILE … --eps EPS --minpts N --out labels.npy",
      .about =
          "Clusters the points of the files (several are read as one data set) with DBSCAN under one variant,\n"
          "and writes the labels in input order.",
      .example = "epsflow cluster points.csv --columns x,y --eps 0.3 --minpts 4 --out labels.npy",
      .operand = {"FILE …"},
      .groups =
          {{"What to cluster", variant_options()},
           metric_options(),
           {"Results",
            {output_file(
                 "out",
                 "labels as .npy (int32), .csv, .fits, .h5 or .parquet, or - for CSV on standard output; without "
                 "it only the summary is shown; beside a file, where rows were dropped or files joined, "
                 "NAME.rows.npy (int64): the row of each label, from 0 through all files"),
             output_file("core", "mask of core points as .npy (bool)"),
             output_file(
                 "labelled",
                 "columns of the input with the label beside them, and with --core the mask, as .csv, .fits, .h5 "
                 "or .parquet: every column from text to .csv and from FITS to .fits, else the coordinates; - for "
                 "CSV on standard output"),
             output_file("catalog",
                         "a row for each cluster as .csv, .fits, .h5 or .parquet: size, core points, first core point, "
                         "and of the coordinates centre, spread, ends and radius; weighted by --weight; - for CSV on "
                         "standard output"),
             stats_option(), overwrite_option()}},
           input_options(),
           table_options(),
           machine_options(),
           run_options(),
           search_options(),
           message_options()},
      .run = run_cluster};
}

}  // namespace epsflow::cli
