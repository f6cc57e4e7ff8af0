#include <algorithm>
#include <cmath>

#include <epsflow/cli/options.hpp>
#include <epsflow/cli/running.hpp>
#include <epsflow/io/write/npy_writer.hpp>
#include <epsflow/pipeline/k_distance.hpp>
#include <epsflow/pipeline/selectivity.hpp>

namespace epsflow::cli {
namespace {

constexpr std::array kShares{0.0, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 1.0};
/// The number of eps in an offered range.
constexpr int kOfferedEps = 20;

/// The values that are printed.
struct KDistances {
  std::uint32_t k = 0;
  std::vector<double> distances;
  std::vector<double> quantiles;  ///< the distances at kShares
  Knee knee;
  EpsRange range;
  std::vector<Selectivity> selectivity;
  std::uint64_t sampled = 0;  ///< the number of points whose neighbours were counted
};

std::string ordinal(std::uint32_t k) {
  const std::uint32_t last = k % 100 / 10 == 1 ? 0 : k % 10;
  return format_count(k) + (last == 1 ? "st" : last == 2 ? "nd" : last == 3 ? "rd" : "th");
}

/// Returns the range in the form of --eps.
std::string eps_list(const EpsRange& range) {
  std::string list;
  for (const double eps : round_grid(range.from, range.to, kOfferedEps)) {
    list += (list.empty() ? "" : ",") + format_number(eps);
  }
  return list;
}

/// Returns the reason why no run accepts these eps, or an empty text.
std::string why_refused(const EpsRange& range, const Metric& metric) {
  try {
    (void)transformed_radius(metric, range.from);
    (void)transformed_radius(metric, range.to);
  } catch (const UsageError& error) {
    return in_program_words(error.what());
  }
  return {};
}

void print(const KDistances& found, const Metric& metric) {
  const std::string by = describe(metric);
  print_result("{}{}; distance to the {} nearest other point:\n\n", format_count(found.distances.size(), "point"),
               by.empty() ? "" : " (" + by + ")", ordinal(found.k));
  std::vector<Words> rows{{"share of points", "distance up to"}};
  for (std::size_t i = 0; i < kShares.size(); ++i) {
    rows.push_back({fmt::format("{:.0f} %", 100 * kShares[i]), fmt::format("{:.6g}", found.quantiles[i])});
  }
  print_columns(rows);
  if (std::isnan(found.knee.distance)) {
    print_result("\nknee: none, as fewer than three distances above 0 differ\n");
  } else {
    print_result("\nknee: {:.6g}; {:.1f} % of the points have no larger distance\n", found.knee.distance,
                 100 * found.knee.share);
  }
  if (!(found.range.to > 0)) {
    print_result("worth sweeping: none, as every distance is 0\n");
  } else if (const std::string why = why_refused(found.range, metric); !why.empty()) {
    print_result("worth sweeping: none in this unit; {}\n", why);
  } else {
    print_result("worth sweeping: --eps {} --minpts {}\n", eps_list(found.range), std::uint64_t{found.k} + 1);
  }
  if (found.selectivity.empty()) return;
  rows = {{"eps", "neighbours", "error"}};
  for (const Selectivity& s : found.selectivity) {
    rows.push_back({format_number(s.eps), fmt::format("{:.6g}", s.neighbors), fmt::format("{:.2g}", s.error)});
  }
  print_result("\nneighbours per point, the point itself not counted, {}:\n\n",
               found.sampled == found.distances.size()
                   ? "exact"
                   : "from " + format_count(found.sampled, "point") + ", with the standard error");
  print_columns(rows);
}

void print_as_json(const KDistances& found, const io::FilePoints& points, const Metric& metric) {
  nlohmann::ordered_json json{{"points", points.size()}, {"k", found.k}, {"minpts", std::uint64_t{found.k} + 1}};
  add_input(json, points, &metric);
  json["quantiles"] = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < kShares.size(); ++i) {
    json["quantiles"].push_back({{"share", kShares[i]}, {"distance", found.quantiles[i]}});
  }
  json["knee"] = nullptr;
  if (!std::isnan(found.knee.distance)) {
    json["knee"] = {{"distance", found.knee.distance}, {"share", found.knee.share}};
  }
  json["eps_range"] = nullptr;
  if (found.range.to > 0) json["eps_range"] = {{"from", found.range.from}, {"to", found.range.to}};
  if (!found.selectivity.empty()) {
    json["sampled"] = found.sampled;
    json["selectivity"] = nlohmann::ordered_json::array();
    for (const Selectivity& s : found.selectivity) {
      json["selectivity"].push_back({{"eps", s.eps}, {"neighbors", s.neighbors}, {"error", s.error}});
    }
  }
  print_json(json);
}

void write_distances(const std::string& file, const std::vector<double>& distances, io::Overwrite overwrite) {
  if (io::output_format(file, io::kPointFormats) == io::OutputFormat::npy) {
    io::write_npy(file, io::npy_numbers(distances), overwrite);
  } else {
    io::write_points(file, PointsView(std::span<const double>(distances), 1), {"k_distance"}, overwrite);
  }
}

int run_k_distance(const Arguments& arguments) {
  arguments.require({});
  const std::uint64_t sample = arguments.number("sample");
  Outputs outputs(arguments);
  std::vector<double> eps;
  if (arguments.given("eps")) eps = parse_eps_list(arguments.text("eps"));
  if (arguments.given("sample") && eps.empty()) {
    throw UsageError("--sample is of the neighbours that --eps counts: leave it out, or add --eps");
  }
  const std::string out = outputs.take_with_rows(io::kPointFormats);
  RunSettings settings = parse_run_settings(arguments);
  Input input = parse_input(arguments);
  io::FilePoints points = input.read();
  require_points(points, points.size());
  if (points.size() == 0) throw InputError("there are no points, and so no distances: name a file with rows");
  input.resolve(points);
  settings.resolve(points.size(), points.dims(), input.metric);

  const InterruptGuard interrupt;
  const Observer observer{.cancel = &interrupt.token()};
  const Dataset data = input.load(points, settings.engine);
  KDistances found;
  found.k = static_cast<std::uint32_t>(arguments.number("k"));
  found.distances = k_distances(data, found.k, {}, observer);
  if (!eps.empty()) {
    found.selectivity = selectivity(data, eps, sample, {}, observer);
    found.sampled = std::min<std::uint64_t>(sample, points.size());
  }
  if (!out.empty()) {
    outputs.remove_rows();
    write_distances(out, found.distances, outputs.overwrite());
    outputs.write_rows(points, "distances");
  }
  found.quantiles = quantiles(found.distances, kShares);
  found.knee = knee(found.distances);
  found.range = eps_range(found.distances);
  if (input.messages.json) {
    print_as_json(found, points, input.metric);
  } else if (outputs.has_summary()) {
    print(found, input.metric);
  }
  return kDone;
}

}  // namespace

Command k_distance_command() {
  OptionSpec k =
      count_option("k", 1, "4", "which of the nearest other points; minpts is one more, as it counts the point itself");
  k.most = std::numeric_limits<std::uint32_t>::max();
  return {
      .name = "k-distance",
      .summary = "tell how far points are from their k-th nearest, to choose eps",
      .usage = "FILE … [--k N]",
      .about =
          "Finds for each point the distance to its k-th nearest other point: from that eps on the point is\n"
          "core at minpts k + 1. Shows which share of the points is within which distance; the knee, where the\n"
          "sorted distances turn from flat to steep; and the eps worth sweeping, from where 1 % of the points are\n"
          "core to where 99 % are, points at distance 0 left out. With --eps it shows how many neighbours points\n"
          "have at each, on average.",
      .example = "epsflow k-distance points.csv --columns x,y --k 4 --out distances.npy",
      .operand = {"FILE …"},
      .groups = {{"What to find",
                  {std::move(k), text_option("eps", "LIST", "radii to count neighbours at"),
                   count_option("sample", 2, std::to_string(kSelectivitySample),
                                "points whose neighbours are counted; of no fewer than there are, counts are exact")}},
                 metric_options(),
                 {"Results",
                  {output_file("out",
                               "distances in input order as .npy (float64) or .csv, or - for CSV on standard output; "
                               "beside a file, where rows were dropped or files joined, NAME.rows.npy (int64): the row "
                               "of each, from 0 through all files"),
                   overwrite_option()}},
                 unweighted_input_options(),
                 machine_options(),
                 message_options()},
      .run = run_k_distance};
}

}  // namespace epsflow::cli
