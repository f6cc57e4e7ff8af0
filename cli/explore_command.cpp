#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <epsflow/cli/commands.hpp>
#include <epsflow/cli/interrupt.hpp>
#include <epsflow/cli/lineage_files.hpp>
#include <epsflow/cli/metric.hpp>
#include <epsflow/cli/options.hpp>
#include <epsflow/cli/output.hpp>
#include <epsflow/cli/outputs.hpp>
#include <epsflow/cli/progress_report.hpp>
#include <epsflow/cli/reading.hpp>
#include <epsflow/cli/report_pages.hpp>
#include <epsflow/cli/running.hpp>
#include <epsflow/cli/sweep_results.hpp>
#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/core/memory.hpp>
#include <epsflow/io/formats.hpp>
#include <epsflow/io/results/results_folder.hpp>
#include <epsflow/io/write/atomic_file.hpp>
#include <epsflow/pipeline/explore.hpp>
#include <epsflow/pipeline/sweep.hpp>
#include <epsflow/report/as_json.hpp>

namespace epsflow::cli {
namespace {

/// The grid that the caller has, or nothing.
std::optional<Sweep> own_grid(const Arguments& arguments) {
  if (!arguments.given("eps") && !arguments.given("minpts")) return std::nullopt;
  arguments.require({"eps", "minpts"});
  return grid(parse_eps_list(arguments.text("eps")), parse_minpts_list(arguments.text("minpts")));
}

/// The bound on time, if one is given.
std::optional<double> bound_of(const Arguments& arguments) {
  if (!arguments.given("seconds")) return std::nullopt;
  return arguments.decimal("seconds", "a number above 0, as 60", [](double seconds) { return seconds > 0; });
}

OptionGroup grid_options() {
  return {"The grid (left out, it is chosen)",
          {{.name = "eps", .value = "LIST", .help = "radii in even ratios, as 0.05:1:40:log"},
           {.name = "minpts", .alias = "min-samples", .value = "LIST", .help = "minpts, as 3,4,6,9,13,20"}}};
}

std::vector<const Offer*> offers_of(const Exploration& made) {
  std::vector<const Offer*> offers;
  if (made.recommended) offers.push_back(&*made.recommended);
  for (const Offer& offer : made.alternatives) offers.push_back(&offer);
  return offers;
}

nlohmann::ordered_json json_of(const Exploration& made, const io::FilePoints& points, const Metric& metric) {
  nlohmann::ordered_json json{{"points", points.size()}};
  add_metric(json, metric);
  add_input(json, points);
  json.update(report::as_json(made));
  return json;
}

void print(const Exploration& made, const Metric& metric) {
  const std::string unit = eps_unit(metric).empty() ? std::string() : " " + std::string(eps_unit(metric));
  const auto line = [&](const char* what, const Offer& offer) {
    print_result("{} eps {}{}, minpts {}: {} (confidence {:.2f})\n", what, format_number(offer.variant.eps), unit,
                 offer.variant.minpts, offer.reason, offer.confidence);
  };
  if (made.recommended) {
    line("recommended:", *made.recommended);
  } else {
    print_result("no cluster structure is seen in these points\n");
  }
  for (const Offer& offer : made.alternatives) line("or:         ", offer);
  for (const Doubt doubt : made.doubts) print_result("doubt: {}\n", sentence_of(doubt));
}

/// Opened before anything is computed, so that what is in the way is told then. Which variants it is to hold is not known yet.
std::unique_ptr<io::ResultsFolder> open_folder(const Arguments& arguments) {
  if (!arguments.given("out")) {
    if (arguments.flag("overwrite") && !arguments.given("report")) {
      throw UsageError("--overwrite is about the folder of --out; give --out as well");
    }
    return nullptr;
  }
  const io::FolderMode mode = arguments.flag("overwrite") ? io::FolderMode::overwrite : io::FolderMode::fresh;
  io::FolderOutputs outputs = folder_outputs(arguments);
  outputs.resumable = false;
  return std::make_unique<io::ResultsFolder>(arguments.text("out"), Sweep(), mode, outputs, notices(arguments));
}

/// Labels of the offered cells, the map and its lineage, and what was found.
void write_folder(io::ResultsFolder& folder, const Arguments& arguments, const Exploration& made,
                  const io::FilePoints& points, const Metric& metric, const EngineOptions& engine, double seconds) {
  std::vector<Variant> variants;
  for (const Offer* offer : offers_of(made)) variants.push_back(offer->variant);
  if (variants.empty()) {
    say("nothing is written to " + arguments.text("out") + ", as there is nothing to recommend");
    return;
  }
  folder.ask(Sweep(variants));
  const std::vector<Variant> missing = folder.begin(io::results_input(points), describe_run(arguments, metric, engine));
  for (const Offer* offer : offers_of(made)) {
    if (std::ranges::find(missing, offer->variant) == missing.end()) continue;
    VariantResult result;
    result.variant = offer->variant;
    result.summary = offer->summary;
    result.labels = offer->labels;
    result.seconds = offer->seconds;
    folder.add(result);
  }
  folder.add_file(io::kMapName, [&](const auto& file) { write_map(file, made.map, made.scores); });
  folder.add_file(io::kLineageName, [&](const auto& file) { write_lineage(file, made.map, points, points.size()); });
  folder.add_file(io::kExploreName, [&](const auto& file) {
    io::write_text_file(
        file, json_of(made, points, metric).dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  });
  folder.finish("complete", seconds, Trace());
}

/// The page of what was found. Where there was time for it (no bound is given) each cell gets labels, and so a map, in another sweep.
void write_report(const Arguments& arguments, const Exploration& made, const io::FilePoints& points,
                  const Metric& metric, const Dataset& data, const RunSettings& settings, const Observer& observer) {
  const Origin origin{.command = "explore",
                      .files = arguments.operands(),
                      .checksum = io::checksum_of_input(points, describe(metric)),
                      .started = io::now_utc(),
                      .run = describe_run(arguments, metric, settings.engine)};
  report::Report report(subject_of(points, metric, origin));
  const CancelToken cancel(observer.cancel);
  const auto take = [&](VariantResult&& result) { report.add(result.variant, result.summary, result.labels, cancel); };
  std::vector<Variant> variants;
  for (const LineageCell& cell : made.map.cells()) variants.push_back(cell.variant);
  if (arguments.given("seconds") || variants.empty()) {
    for (const Offer* offer : offers_of(made)) {
      report.add(offer->variant, offer->summary, offer->labels, cancel);
    }
  } else {
    run_each({data}, {}, Sweep(variants), settings.run, take, observer);
  }
  report.add_lineage(made.map);
  std::vector<std::pair<Variant, double>> scores;
  for (std::size_t i = 0; i < made.scores.size(); ++i) scores.emplace_back(variants[i], made.scores[i].score);
  report.add_scores(scores);
  report.advise(report::as_json(made).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  write_page(arguments, arguments.text("report"), overwrite(arguments), report);
}

/// What a long exploration is going to take.
void foretell(const Progress& p, const EngineOptions& options) {
  constexpr double kLong = 10;
  const double seconds = p.seconds + *p.seconds_left;
  if (seconds < kLong) return;
  say(fmt::format("{} in about {:.0f} s, with at most {} of memory", format_count(p.variants, "cell"), seconds,
                  format_bytes(options.memory > 0 ? options.memory : machine_memory() / 2)));
}

int run_explore(const Arguments& arguments) {
  // Everything that can be wrong with the words is found before a file is read.
  const std::optional<Sweep> sweep = own_grid(arguments);
  const std::optional<double> bound = bound_of(arguments);
  RunSettings settings = run_settings(arguments);
  if (sweep) require_even_grid(sweep->variants());
  Metric metric = requested_metric(arguments);
  require_page(arguments, "report", overwrite(arguments));
  const std::unique_ptr<io::ResultsFolder> folder = open_folder(arguments);
  io::FilePoints points = read_input(arguments);
  require_points(points);
  settle_columns(arguments, points, metric);
  settle_backend(points.size(), points.dims(), metric, settings);
  const InterruptGuard interrupt;
  const auto begin = std::chrono::steady_clock::now();
  std::optional<Exploration> made;
  std::optional<Dataset> data;
  // Calls work(observer), and shows how far it is.
  const auto watched = [&](bool foretold, const std::function<void(const Observer&)>& work) {
    ProgressReport report(!arguments.flag("quiet"));
    work({.on_progress =
              [&](const Progress& p) {
                if (!foretold && p.seconds_left) foretell(p, settings.engine);
                foretold = foretold || p.seconds_left;
                report.show(p);
              },
          .cancel = &interrupt.token()});
  };
  watched(arguments.flag("quiet"), [&](const Observer& observer) {
    data.emplace(load(arguments, points, metric, settings.engine));
    try {
      made =
          sweep ? explore(*data, *sweep, settings.run, observer, bound) : explore(*data, settings.run, observer, bound);
    } catch (const UsageError& error) {
      // The words of the command are right; the machine was too slow for them.
      const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
      if (bound && passed.count() >= *bound) throw ResourceError(error.what());
      throw;
    }
  });
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (folder != nullptr) write_folder(*folder, arguments, *made, points, metric, settings.engine, seconds);
  if (arguments.given("report")) {
    watched(true, [&](const Observer& observer) {
      write_report(arguments, *made, points, metric, *data, settings, observer);
    });
  }
  if (arguments.flag("json")) {
    print_json(json_of(*made, points, metric));
  } else if (!arguments.flag("quiet")) {
    print(*made, metric);
  }
  return kDone;
}

std::string option_list(const auto& values, const auto& format) {
  std::string text;
  for (const auto value : values) text += (text.empty() ? "" : ",") + format(value);
  return text;
}

int run_suggest(const Arguments& arguments) {
  RunSettings settings = run_settings(arguments);
  Metric metric = requested_metric(arguments);
  io::FilePoints points = read_input(arguments);
  require_points(points);
  settle_columns(arguments, points, metric);
  settle_backend(points.size(), points.dims(), metric, settings);
  const InterruptGuard interrupt;
  const Sweep sweep =
      suggest(load(arguments, points, metric, settings.engine), settings.run, {.cancel = &interrupt.token()});
  std::vector<double> eps;
  std::vector<std::uint32_t> minpts;
  for (const Variant& v : sweep.variants()) {
    if (std::ranges::find(eps, v.eps) == eps.end()) eps.push_back(v.eps);
    if (std::ranges::find(minpts, v.minpts) == minpts.end()) minpts.push_back(v.minpts);
  }
  if (arguments.flag("json")) {
    nlohmann::ordered_json json{{"points", points.size()}};
    add_metric(json, metric);
    add_input(json, points);
    json["eps"] = eps;
    json["minpts"] = minpts;
    print_json(json);
  } else if (eps.empty()) {
    // What is printed there is taken for options of another command.
    throw InputError(
        "there is no grid for these points: there are fewer than 10, or each has two others at its own place; name eps "
        "and minpts, or give more points");
  } else {
    print_result("--eps {} --minpts {}\n", option_list(eps, [](double e) { return format_number(e); }),
                 option_list(minpts, [](std::uint32_t m) { return std::to_string(m); }));
  }
  return kDone;
}

}  // namespace

Command explore_command() {
  return {.name = "explore",
          .summary = "find out which (eps, minpts) show clusters, without being told any",
          .usage = "FILE …",
          .about =
              "Sweeps a grid of (eps, minpts) that it chooses, and recommends one cell, and up to two at other\n"
              "scales, by how long its clusters live along eps against what chance explains; each with its reason,\n"
              "and with what is to be doubted. Says so where it sees no clusters. With --out it writes the labels\n"
              "of these cells, the map (map.csv), how clusters lie in each other (lineage.npz) and explore.json.\n"
              "With --seconds it sweeps some eps of the grid first, and others while there is time; it says what\n"
              "it left out.",
          .example = "epsflow explore points.csv --columns x,y --out explored",
          .operand = {"FILE …"},
          .groups = {grid_options(),
                     metric_options(),
                     {"Time",
                      {{.name = "seconds",
                        .value = "SECONDS",
                        .help = "take no longer, reading and writing apart (default: as long as it takes)"}}},
                     {"Results",
                      {{.name = "out",
                        .kind = ValueKind::folder,
                        .value = "FOLDER",
                        .writes = true,
                        .help = "folder to write to"},
                       {.name = "overwrite",
                        .kind = ValueKind::flag,
                        .help = "replace the results that the folder holds by the new ones once these are complete"},
                       report_option("page for a browser, with a map of every cell, which takes about as long again")}},
                     input_options(),
                     machine_options(),
                     message_options()},
          .run = run_explore};
}

Command suggest_command() {
  return {.name = "suggest",
          .summary = "print the grid of (eps, minpts) that explore would sweep",
          .usage = "FILE …",
          .about =
              "Prints --eps and --minpts as epsflow sweep takes them: minpts in even ratios from 3 to a twentieth of\n"
              "the points, at most 200, and eps from where 2 % of the points are core at the smallest minpts to\n"
              "where 98 % are one cluster at the largest. Of points with weights, minpts counts in units of their\n"
              "mean weight.",
          .example = "epsflow suggest points.csv --columns x,y",
          .operand = {"FILE …"},
          .groups = {metric_options(), input_options(), machine_options(), message_options()},
          .run = run_suggest};
}

}  // namespace epsflow::cli
