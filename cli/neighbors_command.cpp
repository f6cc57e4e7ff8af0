#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include <epsflow/cli/commands.hpp>
#include <epsflow/cli/interrupt.hpp>
#include <epsflow/cli/metric.hpp>
#include <epsflow/cli/output.hpp>
#include <epsflow/cli/outputs.hpp>
#include <epsflow/cli/progress_report.hpp>
#include <epsflow/cli/reading.hpp>
#include <epsflow/cli/running.hpp>
#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/core/sweep.hpp>
#include <epsflow/io/write/hdf5_writer.hpp>
#include <epsflow/pipeline/neighbors.hpp>

namespace epsflow::cli {
namespace {

double requested_eps(const Arguments& arguments) {
  arguments.require({"eps"});
  const std::vector<double> eps = parse_eps_list(arguments.text("eps"));
  if (eps.size() != 1) {
    throw UsageError(fmt::format("neighbors takes one eps, and --eps {} gives {}", arguments.text("eps"), eps.size()));
  }
  return eps.front();
}

int run_neighbors(const Arguments& arguments) {
  const double eps = requested_eps(arguments);
  require_output(arguments, "out", io::kNeighborFormats);
  RunSettings settings = run_settings(arguments);
  Metric metric = requested_metric(arguments);
  io::FilePoints points = read_input(arguments);
  settle_columns(arguments, points, metric);
  settle_backend(points.size(), points.dims(), metric, settings);

  const InterruptGuard interrupt;
  Neighbors found;
  {
    ProgressReport report(!arguments.flag("quiet"));
    found = neighbors(load(arguments, points, metric, settings.engine), eps,
                      arguments.flag("distances") ? Distances::include : Distances::omit, {}, settings.run.search,
                      {.on_progress = [&](const Progress& p) { report.show(p); }, .cancel = &interrupt.token()});
  }
  if (arguments.given("out")) {
    io::write_hdf5_neighbors(arguments.text("out"),
                             {found.offsets.span(), found.ids.span(), found.distances.span(), eps},
                             overwrite(arguments));
  }
  const double n = static_cast<double>(points.size());
  const double mean_neighbors = points.size() == 0 ? 0 : (static_cast<double>(found.pairs()) - n) / n;
  if (arguments.flag("json")) {
    nlohmann::ordered_json json{
        {"points", points.size()}, {"eps", eps}, {"pairs", found.pairs()}, {"mean_neighbors", mean_neighbors}};
    add_metric(json, metric);
    add_input(json, points);
    print_json(json);
  } else if (!arguments.flag("quiet")) {
    const std::string by = describe(metric);
    print_result("{}, {} within {}{}; {:.2f} neighbours per point, itself not counted\n",
                 format_count(points.size(), "point"), format_count(found.pairs(), "pair"), format_number(eps),
                 by.empty() ? "" : " (" + by + ")", mean_neighbors);
  }
  return kDone;
}

}  // namespace

Command neighbors_command() {
  return {.name = "neighbors",
          .summary = "write all neighbours within eps",
          .usage = "FILE … --eps EPS --out table.h5",
          .about =
              "Finds all neighbours of all points within eps, each point itself included, and writes them as an HDF5\n"
              "file in compressed sparse rows: offsets (uint64, n + 1), ids (uint32), distances on request. Pairs\n"
              "are counted with each point itself; \"mean_neighbors\" in JSON, neighbours per point, without.",
          .example = "epsflow neighbors points.csv --columns x,y --eps 0.3 --out table.h5",
          .operand = {"FILE …"},
          .groups = {{"What to find",
                      {{.name = "eps", .value = "EPS", .help = "radius, inclusive, in the unit of the coordinates"},
                       {.name = "distances", .kind = ValueKind::flag, .help = "write the distances too"}}},
                     metric_options(),
                     {"Results",
                      {{.name = "out",
                        .kind = ValueKind::file,
                        .value = "FILE",
                        .writes = true,
                        .help = "file to write, .h5 or .hdf5; without it only the counts are shown"},
                       overwrite_option()}},
                     unweighted_input_options(),
                     machine_options(),
                     search_options(),
                     message_options()},
          .run = run_neighbors};
}

}  // namespace epsflow::cli
