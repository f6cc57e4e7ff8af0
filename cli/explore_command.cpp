#include <algorithm>
#include <memory>

#include <epsflow/cli/report_pages.hpp>
#include <epsflow/cli/structure_files.hpp>
#include <epsflow/cli/sweep_results.hpp>
#include <epsflow/core/memory.hpp>
#include <epsflow/core/stopwatch.hpp>
#include <epsflow/io/formats.hpp>
#include <epsflow/pipeline/sweep.hpp>
#include <epsflow/report/as_json.hpp>

namespace epsflow::cli {
namespace {

struct ExploreCommand {
  std::optional<Sweep> grid = {};    ///< empty if the command chooses it
  std::optional<double> bound = {};  ///< the largest number of seconds
  RunSettings settings = {};
  Input input = {};
  io::Overwrite overwrite = io::Overwrite::refuse;
  std::string report = {};         ///< the page to write, or empty
  std::string out = {};            ///< the folder to write, or empty
  io::FolderOutputs outputs = {};  ///< the outputs of that folder
  InputOptions given = {};
};

ExploreCommand parse_explore(const Arguments& arguments) {
  ExploreCommand command{.given = parse_given(arguments)};
  if (arguments.given("eps") || arguments.given("minpts")) command.grid = parse_sweep(arguments);
  if (arguments.given("seconds")) {
    command.bound = arguments.decimal("seconds", "a number above 0, as 60", [](double seconds) { return seconds > 0; });
  }
  command.settings = parse_run_settings(arguments);
  if (command.grid) require_even_grid(command.grid->variants());
  command.input = parse_input(arguments);
  Outputs outputs(arguments);
  command.overwrite = outputs.overwrite();
  command.report = outputs.take_page("report", command.overwrite);
  command.out = arguments.text("out");
  if (command.out.empty() && command.report.empty() && arguments.given("overwrite")) {
    throw UsageError("--overwrite is about the folder of --out; give --out as well");
  }
  if (command.out.empty()) return command;
  command.outputs = parse_folder_outputs(arguments);
  command.outputs.resumable = false;
  return command;
}

OptionGroup grid_options() {
  return {"The grid (left out, it is chosen)",
          {text_option("eps", "LIST", "radii in even ratios, as 0.05:1:40:log"),
           minpts_option("LIST", "minpts, as 3,4,6,9,13,20")}};
}

/// An offer, and the name of the file of its labels if its clusters have an eps each.
struct NamedOffer {
  const Offer* offer;
  std::string name;
};

/// Returns all offers, each once. If time was short, the recommended one is the best cell.
std::vector<NamedOffer> offers_of(const Exploration& made) {
  std::vector<NamedOffer> offers;
  if (made.recommended && !made.recommended->cell) offers.push_back({&*made.recommended, io::kRecommendedName});
  if (made.one_eps) offers.push_back({&*made.one_eps, {}});
  for (const Offer& offer : made.alternatives) offers.push_back({&offer, io::kAlternativeName});
  return offers;
}

nlohmann::ordered_json json_of(const Exploration& made, const io::FilePoints& points, const Metric& metric) {
  nlohmann::ordered_json json{{"points", points.size()}};
  add_input(json, points, &metric);
  json.update(report::as_json(made));
  return json;
}

void print(const Exploration& made, const Metric& metric) {
  const std::string unit = eps_unit(metric).empty() ? std::string() : " " + std::string(eps_unit(metric));
  const auto line = [&](const char* what, const Offer& offer) {
    const std::string eps = offer.variant.eps > 0 ? "eps " + format_number(offer.variant.eps) + unit
                                                  : "eps of each cluster, " + format_number(offer.plateau.eps_from) +
                                                        " to " + format_number(offer.plateau.eps_to) + unit;
    print_result("{} {}, minpts {}: {} (confidence {:.2f})\n", what, eps, offer.variant.minpts, offer.reason,
                 offer.confidence);
  };
  if (made.recommended) {
    line("recommended:", *made.recommended);
  } else {
    print_result("no cluster structure is seen in these points\n");
  }
  if (made.one_eps) line("at one eps: ", *made.one_eps);
  for (const Offer& offer : made.alternatives) line("or:         ", offer);
  for (const Doubt doubt : made.doubts) print_result("doubt: {}\n", sentence_of(doubt));
}

/// Opens the folder before anything is computed, so that conflicts are reported early. Its variants are not known yet.
std::unique_ptr<io::ResultsFolder> open_folder(const ExploreCommand& command) {
  if (command.out.empty()) return nullptr;
  const bool replaces = command.overwrite == io::Overwrite::replace;
  return std::make_unique<io::ResultsFolder>(command.out, Sweep(),
                                             replaces ? io::FolderMode::overwrite : io::FolderMode::fresh,
                                             command.outputs, command.input.messages.notices());
}

/// Writes the labels of all offers, the map and its lineage, and the recommendation.
void write_folder(io::ResultsFolder& folder, const ExploreCommand& command, const Exploration& made,
                  const io::FilePoints& points, double seconds) {
  const Metric& metric = command.input.metric;
  std::vector<Variant> variants;
  for (const auto& [offer, name] : offers_of(made)) {
    if (offer->cell) variants.push_back(offer->variant);
  }
  if (variants.empty()) return say("nothing is written to " + command.out + ", as there is nothing to recommend");
  folder.ask(Sweep(variants));
  const std::vector<Variant> missing =
      folder.begin(io::results_input(points), describe_run(command.given, metric, command.settings.engine.backend));
  for (const auto& [offer, name] : offers_of(made)) {
    if (!offer->cell || std::ranges::find(missing, offer->variant) == missing.end()) continue;
    VariantResult result;
    result.variant = offer->variant;
    result.summary = offer->summary;
    result.labels = offer->labels;
    result.seconds = offer->seconds;
    folder.add(result);
  }
  for (const auto& [offer, name] : offers_of(made)) {
    if (offer->cell) continue;
    folder.add_file(name, [&labels = offer->labels](const auto& file) {
      static_cast<void>(io::write_array(file, file, io::npy_labels(labels)));
    });
  }
  folder.add_file(io::kMapName, [&](const auto& file) { write_map(file, made.map, made.scores); });
  folder.add_file(io::kLineageName, [&](const auto& file) { write_lineage(file, made.map, points, points.size()); });
  folder.add_file(io::kExploreName, [&](const auto& file) {
    io::write_text_file(
        file, json_of(made, points, metric).dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  });
  folder.finish("complete", seconds, Trace());
}

/// Writes the page of the exploration. Without a bound, another sweep makes a map for each cell.
void write_report(const ExploreCommand& command, const Exploration& made, const io::FilePoints& points,
                  const Dataset& data, const Observer& observer) {
  const Metric& metric = command.input.metric;
  const Origin origin{.command = "explore",
                      .files = command.input.files,
                      .checksum = io::checksum_of_input(points, describe(metric)),
                      .started = io::now_utc(),
                      .run = describe_run(command.given, metric, command.settings.engine.backend)};
  report::Report report(subject_of(points, metric, origin));
  const CancelToken cancel(observer.cancel);
  const auto take = [&](VariantResult&& result) { report.add(result.variant, result.summary, result.labels, cancel); };
  std::vector<Variant> variants;
  for (const LineageCell& cell : made.map.cells()) variants.push_back(cell.variant);
  if (command.bound || variants.empty()) {
    for (const auto& [offer, name] : offers_of(made)) {
      if (offer->cell) report.add(offer->variant, offer->summary, offer->labels, cancel);
    }
  } else {
    run_each({data}, {}, Sweep(variants), command.settings.run, take, observer);
  }
  report.add_lineage(made.map);
  std::vector<std::pair<Variant, double>> scores;
  for (std::size_t i = 0; i < made.scores.size(); ++i) scores.emplace_back(variants[i], made.scores[i].score);
  report.add_scores(scores);
  const Labels none;
  report.advise(report::as_json(made).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace),
                made.recommended && !made.recommended->cell ? made.recommended->labels : none, cancel);
  write_page(command.input.messages, command.report, command.overwrite, report);
}

/// Prints the expected duration of a long exploration.
void foretell(const Progress& p, const EngineOptions& options) {
  constexpr double kLong = 10;
  const double seconds = p.seconds + *p.seconds_left;
  if (seconds < kLong) return;
  say(fmt::format("{} in about {:.0f} s, with at most {} of memory", format_count(p.variants, "cell"), seconds,
                  format_bytes(options.memory > 0 ? options.memory : machine_memory() / 2)));
}

int run_explore(const Arguments& arguments) {
  ExploreCommand command = parse_explore(arguments);
  Input& input = command.input;
  const Messages& messages = input.messages;
  const RunSettings& settings = command.settings;
  const std::unique_ptr<io::ResultsFolder> folder = open_folder(command);
  const io::FilePoints points = read_points(input, command.settings);
  const InterruptGuard interrupt;
  const Stopwatch time;
  std::optional<Dataset> data;
  const Exploration made = watched(!messages.quiet, interrupt.token(), [&](Observer observer) {
    bool foretold = messages.quiet;
    observer.on_progress = [&, show = observer.on_progress](const Progress& p) {
      if (!foretold && p.seconds_left) foretell(p, settings.engine);
      foretold = foretold || p.seconds_left;
      show(p);
    };
    data.emplace(input.load(points, settings.engine));
    try {
      return command.grid ? explore(*data, *command.grid, settings.run, observer, command.bound)
                          : explore(*data, settings.run, observer, command.bound);
    } catch (const UsageError& error) {
      // The options are valid; the machine was too slow for the bound.
      if (command.bound && time.seconds() >= *command.bound) throw ResourceError(error.what());
      throw;
    }
  });
  if (folder != nullptr) write_folder(*folder, command, made, points, time.seconds());
  if (!command.report.empty()) {
    watched(!messages.quiet, interrupt.token(),
            [&](const Observer& observer) { write_report(command, made, points, *data, observer); });
  }
  if (messages.json) {
    print_json(json_of(made, points, input.metric));
  } else if (!messages.quiet) {
    print(made, input.metric);
  }
  return kDone;
}

std::string option_list(const auto& values, const auto& format) {
  std::string text;
  for (const auto value : values) text += (text.empty() ? "" : ",") + format(value);
  return text;
}

int run_suggest(const Arguments& arguments) {
  RunSettings settings = parse_run_settings(arguments);
  Input input = parse_input(arguments);
  const io::FilePoints points = read_points(input, settings);
  const InterruptGuard interrupt;
  const Sweep sweep = suggest(input.load(points, settings.engine), settings.run, {.cancel = &interrupt.token()});
  std::vector<double> eps;
  std::vector<std::uint32_t> minpts;
  for (const Variant& v : sweep.variants()) {
    if (std::ranges::find(eps, v.eps) == eps.end()) eps.push_back(v.eps);
    if (std::ranges::find(minpts, v.minpts) == minpts.end()) minpts.push_back(v.minpts);
  }
  if (input.messages.json) {
    nlohmann::ordered_json json{{"points", points.size()}};
    add_input(json, points, &input.metric);
    json["eps"] = eps;
    json["minpts"] = minpts;
    print_json(json);
  } else if (eps.empty()) {
    // The printed line serves as options of another command, so an empty grid must be an error.
    throw InputError(
        "there is no grid for these points: there are fewer than 10, or each has two others at the same coordinates; "
        "name eps and minpts, or give more points");
  } else {
    print_result("--eps {} --minpts {}\n", option_list(eps, [](double e) { return format_number(e); }),
                 option_list(minpts, [](std::uint32_t m) { return std::to_string(m); }));
  }
  return kDone;
}

}  // namespace

Command explore_command() {
  return {.name = "explore",
          .summary = "find clusters, and the eps and minpts that show them, without being told any",
          .usage = "FILE …",
          .about =
              "Sweeps a grid of (eps, minpts) that it chooses, and finds the cell whose clusters live longest\n"
              "along eps against what chance explains. Recommends the clusters of this cell, each at the widest\n"
              "eps at which it is alone, or clusters that split them; and offers up to two alternatives, each with\n"
              "its reason, and with what is to be doubted. Says so where it sees no clusters. With --out it writes\n"
              "the labels (recommended.npy, labels/… of cells), the map (map.csv), how clusters lie in each other\n"
              "(lineage.npz) and explore.json. With --seconds it sweeps some eps of the grid first, and others\n"
              "while there is time; it says what it left out.",
          .example = "epsflow explore points.csv --columns x,y --out explored",
          .operand = {"FILE …"},
          .groups = {grid_options(),
                     metric_options(),
                     {"Time",
                      {text_option("seconds", "SECONDS",
                                   "take no longer, reading and writing apart (default: as long as it takes)")}},
                     {"Results",
                      {folder_option("out", "folder to write to", true),
                       flag("overwrite",
                            "replace the results that the folder holds by the new ones once these are complete"),
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
