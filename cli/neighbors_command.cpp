#include <epsflow/cli/running.hpp>
#include <epsflow/io/write/hdf5_writer.hpp>
#include <epsflow/pipeline/neighbors.hpp>

namespace epsflow::cli {
namespace {

double parse_eps(const Arguments& arguments) {
  arguments.require({"eps"});
  const std::vector<double> eps = parse_eps_list(arguments.text("eps"));
  if (eps.size() == 1) return eps.front();
  throw usage_error("neighbors takes one eps, and --eps {} gives {}", arguments.text("eps"), eps.size());
}

int run_neighbors(const Arguments& arguments) {
  const double eps = parse_eps(arguments);
  const Distances distances = arguments.given("distances") ? Distances::include : Distances::omit;
  Outputs outputs(arguments);
  const std::string out = outputs.take("out", io::kNeighborFormats);
  RunSettings settings = parse_run_settings(arguments);
  Input input = parse_input(arguments);
  io::FilePoints points = input.read();
  input.resolve(points);
  settings.resolve(points.size(), points.dims(), input.metric);
  const InterruptGuard interrupt;
  const Neighbors found = watched(!input.messages.quiet, interrupt.token(), [&](const Observer& observer) {
    return neighbors(input.load(points, settings.engine), eps, distances, {}, settings.run.search, observer);
  });
  if (!out.empty()) {
    io::write_hdf5_neighbors(out, {found.offsets.span(), found.ids.span(), found.distances.span(), eps},
                             outputs.overwrite());
  }
  const double n = static_cast<double>(points.size());
  const double mean_neighbors = points.size() == 0 ? 0 : (static_cast<double>(found.pairs()) - n) / n;
  nlohmann::ordered_json json{
      {"points", points.size()}, {"eps", eps}, {"pairs", found.pairs()}, {"mean_neighbors", mean_neighbors}};
  add_input(json, points, &input.metric);
  const std::string by = describe(input.metric);
  outputs.print(json, fmt::format("{}, {} within {}{}; {:.2f} neighbours per point, itself not counted\n",
                                  format_count(points.size(), "point"), format_count(found.pairs(), "pair"),
                                  format_number(eps), by.empty() ? "" : " (" + by + ")", mean_neighbors));
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
                      {text_option("eps", "EPS", "radius, inclusive, in the unit of the coordinates"),
                       flag("distances", "write the distances too")}},
                     metric_options(),
                     {"Results",
                      {output_file("out", "file to write, .h5 or .hdf5; without it only the counts are shown"),
                       overwrite_option()}},
                     unweighted_input_options(),
                     machine_options(),
                     search_options(),
                     message_options()},
          .run = run_neighbors};
}

}  // namespace epsflow::cli
