#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include <epsflow/cli/commands.hpp>
#include <epsflow/cli/interrupt.hpp>
#include <epsflow/cli/progress_bar.hpp>
#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/io/write_labels.hpp>
#include <epsflow/pipeline/sweep.hpp>

namespace epsflow::cli {

int run_cluster(const Words& words) {
  namespace po = boost::program_options;
  Arguments arguments(
      "epsflow cluster FILE … --eps EPS --minpts N --out labels.npy",
      "Clusters the points of the files (several are read as one data set) with DBSCAN under one variant,\n"
      "and writes the labels in input order.\n");
  arguments.group("What to cluster")("eps", po::value<std::string>()->value_name("EPS"),
                                     "neighbourhood radius, in the unit of the coordinates")(
      "minpts", po::value<std::string>()->value_name("N"), "points within eps that make a core point, itself counted");
  arguments.group("Results")("out", po::value<std::string>()->value_name("FILE"),
                             "labels as .npy (int32), .csv, .fits or .h5; without it only the summary is shown");
  arguments.add_input_options();
  arguments.add_run_options();
  arguments.add_output_options();
  if (!arguments.parse(words)) return kDone;

  const Sweep sweep =
      grid(parse_eps_list(arguments.require("eps", "0.3")), parse_minpts_list(arguments.require("minpts", "4")));
  if (sweep.size() != 1) throw UsageError("cluster takes one eps and one minpts; use epsflow sweep for several");
  const Options options = arguments.run_options();
  const Points points = arguments.read_input();

  const InterruptGuard interrupt;
  VariantResult result;
  {
    ProgressBar bar(!arguments.get<bool>("quiet"));
    result = std::move(run(points, sweep, options,
                           {.on_progress = [&](const Progress& p) { bar.show(p); },
                            .cancel = &interrupt.token(),
                            .on_notice = arguments.notices()})
                           .front());
  }
  if (arguments.has("out")) io::write_labels(arguments.get("out"), result);
  if (arguments.get<bool>("quiet")) return kDone;
  const LabelSummary& s = result.summary;
  if (arguments.get<bool>("json")) {
    const nlohmann::ordered_json json{{"points", points.size()},
                                      {"dropped_rows", points.dropped_rows()},
                                      {"eps", result.variant.eps},
                                      {"minpts", result.variant.minpts},
                                      {"clusters", s.clusters},
                                      {"noise", s.noise},
                                      {"core", s.core},
                                      {"border", s.border},
                                      {"largest", s.largest},
                                      {"seconds", result.seconds}};
    fmt::print("{}\n", json.dump(2));
    return kDone;
  }
  fmt::print("{} points{}: {} clusters (largest {}), {} core, {} border, {} noise; {:.3f} s\n",
             format_count(points.size()),
             points.dropped_rows() > 0 ? fmt::format(" ({} rows dropped)", format_count(points.dropped_rows())) : "",
             format_count(s.clusters), format_count(s.largest), format_count(s.core), format_count(s.border),
             format_count(s.noise), result.seconds);
  return kDone;
}

}  // namespace epsflow::cli
