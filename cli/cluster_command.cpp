#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include <epsflow/cli/catalogs.hpp>
#include <epsflow/cli/commands.hpp>
#include <epsflow/cli/interrupt.hpp>
#include <epsflow/cli/metric.hpp>
#include <epsflow/cli/output.hpp>
#include <epsflow/cli/outputs.hpp>
#include <epsflow/cli/progress_report.hpp>
#include <epsflow/cli/reading.hpp>
#include <epsflow/cli/running.hpp>
#include <epsflow/cli/table_input.hpp>
#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/io/write/npy_writer.hpp>
#include <epsflow/io/write_labels.hpp>
#include <epsflow/io/write_table.hpp>
#include <epsflow/pipeline/cluster_table.hpp>
#include <epsflow/pipeline/sweep.hpp>

namespace epsflow::cli {
namespace {

/// by: what distance was; empty where that goes without saying.
void print_summary(const VariantResult& result, const io::PointsOrigin& origin, std::uint64_t points,
                   const std::string& by) {
  const LabelSummary& s = result.summary;
  const std::string dropped =
      origin.dropped_rows() > 0 ? " (" + format_count(origin.dropped_rows(), "row") + " dropped)" : "";
  print_result("{}{}: {} (largest {}), {} core, {} border, {} noise; {}{:.3f} s\n", format_count(points, "point"),
               dropped, format_count(s.clusters, "cluster"), format_count(s.largest), format_count(s.core),
               format_count(s.border), format_count(s.noise), by.empty() ? "" : by + "; ", result.seconds);
}

/// metric: null where the input was a table of neighbours.
void print_summary_as_json(const VariantResult& result, const io::PointsOrigin& origin, std::uint64_t points,
                           const Metric* metric) {
  const LabelSummary& s = result.summary;
  nlohmann::ordered_json json{{"points", points},       {"eps", result.variant.eps}, {"minpts", result.variant.minpts},
                              {"clusters", s.clusters}, {"noise", s.noise},          {"core", s.core},
                              {"border", s.border},     {"largest", s.largest},      {"seconds", result.seconds}};
  if (metric != nullptr) {
    add_metric(json, *metric);
  } else {
    json["metric"] = kPrecomputed;
  }
  add_input(json, origin);
  print_json(json);
}

/// The same of a table of neighbours. Its labels go to formats that name no metric.
int run_cluster_of_table(const Arguments& arguments) {
  const Sweep sweep = requested_variant(arguments);
  require_table_options(arguments, {"labelled", "catalog", "stats"});
  require_row_output(arguments, io::kPointFormats);
  require_output(arguments, "core", io::kMaskFormats);
  const bool streamed = goes_to_standard_output(arguments, "out");
  const RunSettings settings = run_settings(arguments);
  const TableInput input = read_table(arguments);
  const InterruptGuard interrupt;
  VariantResult result;
  {
    ProgressReport report(!arguments.flag("quiet"));
    result =
        std::move(cluster(input.table.view(), sweep, {.core_mask = settings.run.core_mask}, settings.engine,
                          {.on_progress = [&](const Progress& p) { report.show(p); }, .cancel = &interrupt.token()})
                      .front());
  }
  remove_rows(arguments);
  if (arguments.given("out")) io::write_labels(arguments.text("out"), result, overwrite(arguments));
  if (arguments.given("core")) io::write_npy(arguments.text("core"), io::npy_mask(result.core), overwrite(arguments));
  const std::uint64_t points = input.table.view().size();
  if (arguments.flag("json")) {
    print_summary_as_json(result, input.origin, points, nullptr);
  } else if (!arguments.flag("quiet") && !streamed) {
    print_summary(result, input.origin, points, std::string(kPrecomputed));
  }
  return kDone;
}

int run_cluster(const Arguments& arguments) {
  if (arguments.flag("neighbors")) return run_cluster_of_table(arguments);
  // Everything that can be wrong with the words is found before a file is read.
  const Sweep sweep = requested_variant(arguments);
  require_row_output(arguments, io::kLabelFormats);
  require_output(arguments, "core", io::kMaskFormats);
  require_output(arguments, "labelled", io::kLabelledFormats);
  require_output(arguments, "catalog", io::kTableFormats);
  if (arguments.given("stats") && !arguments.given("catalog")) {
    throw UsageError("--stats is about the clusters of --catalog: give --catalog as well");
  }
  bool streamed = false;
  for (const char* name : {"out", "labelled", "catalog"}) {
    streamed = goes_to_standard_output(arguments, name) || streamed;
  }
  RunSettings settings = run_settings(arguments);
  Metric metric = requested_metric(arguments);
  io::FilePoints points = read_input(arguments);
  require_points(points);
  settle_columns(arguments, points, metric);
  settle_backend(points.size(), points.dims(), metric, settings);
  std::optional<io::LabelledCopy> labelled;
  if (arguments.given("labelled")) {
    labelled.emplace(labelled_copy(arguments, points,
                                   io::output_format(arguments.text("labelled"), io::kLabelledFormats),
                                   settings.run.core_mask, metric));
  }
  std::optional<Cataloguing> cataloguing;
  if (arguments.given("catalog")) {
    cataloguing.emplace(arguments, points, metric, nullptr);
    settings.run.core_mask = true;
  }

  const InterruptGuard interrupt;
  VariantResult result;
  {
    ProgressReport report(!arguments.flag("quiet"));
    result = std::move(run(load(arguments, points, metric, settings.engine), sweep, settings.run,
                           {.on_progress = [&](const Progress& p) { report.show(p); }, .cancel = &interrupt.token()})
                           .front());
  }
  write_label_output(arguments, result, points, metric);
  if (arguments.given("core")) io::write_npy(arguments.text("core"), io::npy_mask(result.core), overwrite(arguments));
  if (labelled) labelled->write(arguments.text("labelled"), result, overwrite(arguments));
  if (cataloguing) {
    io::write_table(arguments.text("catalog"), cataloguing->table(result), {"catalog", result, metric},
                    overwrite(arguments));
  }
  if (arguments.flag("json")) {
    print_summary_as_json(result, points, points.size(), &metric);
  } else if (!arguments.flag("quiet") && !streamed) {
    print_summary(result, points, points.size(), describe(metric));
  }
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
            {{.name = "out",
              .kind = ValueKind::file,
              .value = "FILE",
              .writes = true,
              .help = "labels as .npy (int32), .csv, .fits, .h5 or .parquet, or - for CSV on standard output; without "
                      "it only "
                      "the summary is shown; beside a file, where rows were dropped or files joined, NAME.rows.npy "
                      "(int64): the row of each label, from 0 through all files"},
             {.name = "core",
              .kind = ValueKind::file,
              .value = "FILE",
              .writes = true,
              .help = "mask of core points as .npy (bool)"},
             {.name = "labelled",
              .kind = ValueKind::file,
              .value = "FILE",
              .writes = true,
              .help =
                  "columns of the input with the label beside them, and with --core the mask, as .csv, .fits, .h5 or "
                  ".parquet: every column from text to .csv and from FITS to .fits, else the coordinates; longitudes "
                  "and latitudes as .geojson, up to three dimensions as .vtp (ParaView); - for CSV on standard output"},
             {.name = "catalog",
              .kind = ValueKind::file,
              .value = "FILE",
              .writes = true,
              .help =
                  "a row for each cluster as .csv, .fits, .h5 or .parquet: size, core points, first core point, and of "
                  "the "
                  "coordinates centre, spread, ends and radius; weighted by --weight; - for CSV on standard output"},
             stats_option(),
             overwrite_option()}},
           input_options(),
           table_options(),
           machine_options(),
           run_options(),
           search_options(),
           message_options()},
      .run = run_cluster};
}

}  // namespace epsflow::cli
