#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <vector>

#include <epsflow/cli/commands.hpp>
#include <epsflow/cli/interrupt.hpp>
#include <epsflow/cli/progress_bar.hpp>
#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/io/results_folder.hpp>
#include <epsflow/pipeline/sweep.hpp>

namespace epsflow::cli {
namespace {

Sweep requested_sweep(const Arguments& arguments) {
  if (arguments.has("variants")) {
    if (arguments.has("eps") || arguments.has("minpts")) {
      throw UsageError("give either --variants or --eps with --minpts, not both");
    }
    return Sweep(parse_variants(arguments.get("variants")));
  }
  return grid(parse_eps_list(arguments.require("eps", "0.1,0.2 or 0.1:0.5:0.1")),
              parse_minpts_list(arguments.require("minpts", "4,8,16")));
}

io::FolderMode folder_mode(const Arguments& arguments) {
  const bool resume = arguments.get<bool>("resume");
  const bool overwrite = arguments.get<bool>("overwrite");
  if (resume && overwrite) throw UsageError("give either --resume or --overwrite, not both");
  if (resume) return io::FolderMode::resume;
  return overwrite ? io::FolderMode::overwrite : io::FolderMode::fresh;
}

void print_table(const io::ResultsFolder& folder) {
  fmt::print("{:>10} {:>7} {:>10} {:>11} {:>11} {:>11} {:>11} {:>9}\n", "eps", "minpts", "clusters", "noise", "core",
             "border", "largest", "seconds");
  for (const io::SweepEntry& e : folder.entries()) {
    fmt::print("{:>10} {:>7} {:>10} {:>11} {:>11} {:>11} {:>11} {:>9.3f}\n", format_number(e.variant.eps),
               e.variant.minpts, format_count(e.summary.clusters), format_count(e.summary.noise),
               format_count(e.summary.core), format_count(e.summary.border), format_count(e.summary.largest),
               e.seconds);
  }
}

void print_json(const io::ResultsFolder& folder, const std::string& out, const char* status, double seconds) {
  nlohmann::ordered_json json{{"status", status}, {"out", out}, {"seconds", seconds}};
  json["variants"] = nlohmann::ordered_json::array();
  for (const io::SweepEntry& e : folder.entries()) {
    json["variants"].push_back({{"eps", e.variant.eps},
                                {"minpts", e.variant.minpts},
                                {"clusters", e.summary.clusters},
                                {"noise", e.summary.noise},
                                {"core", e.summary.core},
                                {"border", e.summary.border},
                                {"largest", e.summary.largest},
                                {"seconds", e.seconds},
                                {"labels", io::ResultsFolder::labels_name(e.variant)}});
  }
  fmt::print("{}\n", json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

}  // namespace

int run_sweep(const Words& words) {
  namespace po = boost::program_options;
  Arguments arguments(
      "epsflow sweep FILE … --eps LIST --minpts LIST --out FOLDER",
      "Clusters the points of the files (several are read as one data set) with DBSCAN under every variant\n"
      "(eps, minpts), and writes labels, summary.csv, sweep.json and trace.json to a folder.\n");
  arguments.group("What to cluster")("eps", po::value<std::string>()->value_name("LIST"),
                                     "0.1,0.2 or lo:hi:step or lo:hi:n:log, in the unit of the coordinates")(
      "minpts", po::value<std::string>()->value_name("LIST"), "4,8,16 or the same forms; every eps with every minpts")(
      "variants", po::value<std::string>()->value_name("LIST"), "single variants instead: 0.2:4,0.5:20");
  arguments.group("Results")("out", po::value<std::string>()->value_name("FOLDER"), "folder to write to")(
      "resume", po::bool_switch(), "keep the variants that the folder holds and make the others")(
      "overwrite", po::bool_switch(), "remove the results that the folder holds first")(
      "hdf5", po::bool_switch(), "write everything of the sweep into FOLDER/sweep.h5 as well");
  arguments.add_input_options();
  arguments.add_run_options();
  arguments.add_output_options();
  if (!arguments.parse(words)) return kDone;

  // Everything that can be wrong with the words is found before the file is read.
  const Sweep sweep = requested_sweep(arguments);
  const Options options = arguments.run_options();
  const io::FolderMode mode = folder_mode(arguments);
  const std::string out = arguments.require("out", "results");
  const bool quiet = arguments.get<bool>("quiet");
  const bool json = arguments.get<bool>("json");

  const Points points = arguments.read_input();
  if (points.dropped_rows() > 0 && !quiet) {
    fmt::print(stderr, "epsflow: dropped {} of {} rows for NaN, infinity or missing values\n",
               format_count(points.dropped_rows()), format_count(points.size() + points.dropped_rows()));
  }
  io::ResultsFolder folder(out, arguments.describe(points), mode);
  std::vector<Variant> missing;
  for (const Variant& v : sweep.variants()) {
    if (!folder.holds(v)) missing.push_back(v);
  }

  const InterruptGuard interrupt;
  Trace trace;
  const auto begin = std::chrono::steady_clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(); };
  try {
    ProgressBar bar(!quiet);
    run_each(points, Sweep(missing), options, [&](VariantResult&& result) { folder.add(result); },
             {.on_progress = [&](const Progress& p) { bar.show(p); },
              .cancel = &interrupt.token(),
              .on_notice = arguments.notices(),
              .trace = &trace});
  } catch (const Cancelled&) {
    folder.finish("interrupted", seconds(), trace);
    if (json) print_json(folder, out, "interrupted", seconds());
    fmt::print(stderr, "epsflow: interrupted; {} holds {} complete variants: the same command with --resume goes on\n",
               out, folder.entries().size());
    return kInterrupted;
  } catch (...) {
    try {
      folder.finish("failed", seconds(), trace);
    } catch (const ResourceError&) {  // NOLINT(bugprone-empty-catch): the first error says why
    }
    throw;
  }
  folder.finish("complete", seconds(), trace);
  if (arguments.get<bool>("hdf5")) folder.write_hdf5();
  if (quiet) return kDone;
  if (json) {
    print_json(folder, out, "complete", seconds());
    return kDone;
  }
  print_table(folder);
  fmt::print("{} variants of {} points in {:.2f} s; labels in {}/labels\n", format_count(missing.size()),
             format_count(points.size()), seconds(), out);
  return kDone;
}

}  // namespace epsflow::cli
