#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include <epsflow/cli/commands.hpp>
#include <epsflow/cli/interrupt.hpp>
#include <epsflow/cli/progress_bar.hpp>
#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/core/sweep.hpp>
#include <epsflow/io/hdf5_writer.hpp>
#include <epsflow/pipeline/neighbors.hpp>

namespace epsflow::cli {

int run_neighbors(const Words& words) {
  namespace po = boost::program_options;
  Arguments arguments(
      "epsflow neighbors FILE … --eps EPS --out table.h5",
      "Finds all neighbours of all points within eps, each point itself included, and writes them as an HDF5\n"
      "file in compressed sparse rows: offsets (uint64, n + 1), ids (uint32), distances on request.\n");
  arguments.group("What to find")("eps", po::value<std::string>()->value_name("EPS"),
                                  "radius, inclusive, in the unit of the coordinates")("distances", po::bool_switch(),
                                                                                       "write the distances too");
  arguments.group("Results")("out", po::value<std::string>()->value_name("FILE"),
                             "file to write, .h5 or .hdf5; without it only the counts are shown");
  arguments.add_input_options();
  arguments.add_run_options();
  arguments.add_output_options();
  if (!arguments.parse(words)) return kDone;

  const std::vector<double> eps = parse_eps_list(arguments.require("eps", "0.3"));
  if (eps.size() != 1) throw UsageError("neighbors takes one eps");
  if (arguments.has("out")) {
    const std::string kind = std::filesystem::path(arguments.get("out")).extension().string();
    if (kind != ".h5" && kind != ".hdf5") {
      throw UsageError("cannot write neighbours as " + arguments.get("out") + "; name it .h5");
    }
  }
  const Options options = arguments.run_options();
  const Points points = arguments.read_input();

  const InterruptGuard interrupt;
  Neighbors found;
  {
    ProgressBar bar(!arguments.get<bool>("quiet"));
    found =
        neighbors(points, eps.front(), arguments.get<bool>("distances") ? Distances::include : Distances::omit, options,
                  {.on_progress = [&](const Progress& p) { bar.show(p); },
                   .cancel = &interrupt.token(),
                   .on_notice = arguments.notices()});
  }
  if (arguments.has("out")) {
    io::write_hdf5_neighbors(arguments.get("out"),
                             {found.offsets.span(), found.ids.span(), found.distances.span(), eps.front()});
  }
  if (arguments.get<bool>("quiet")) return kDone;
  const double n = static_cast<double>(points.size());
  const double selectivity = points.size() == 0 ? 0 : (static_cast<double>(found.pairs()) - n) / n;
  if (arguments.get<bool>("json")) {
    const nlohmann::ordered_json json{
        {"points", points.size()}, {"eps", eps.front()}, {"pairs", found.pairs()}, {"selectivity", selectivity}};
    fmt::print("{}\n", json.dump(2));
  } else {
    fmt::print("{} points, {} pairs within {}; {:.2f} neighbours per point, itself not counted\n",
               format_count(points.size()), format_count(found.pairs()), format_number(eps.front()), selectivity);
  }
  return kDone;
}

}  // namespace epsflow::cli
