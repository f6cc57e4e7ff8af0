#include <fmt/chrono.h>

#include <chrono>
#include <cmath>

#include <epsflow/cli/running.hpp>
#include <epsflow/cli/slicing.hpp>
#include <epsflow/io/write_table.hpp>
#include <epsflow/pipeline/on_threads.hpp>
#include <epsflow/pipeline/sweep.hpp>

namespace epsflow::cli {
namespace {

/// Returns how clusters are linked. eps: the radius of the clustering.
TrackOptions parse_links(const Arguments& arguments, double eps) {
  TrackOptions links;
  links.match = arguments.given("ids") ? TrackMatch::ids : TrackMatch::cores;
  links.eps = eps;
  links.least_share =
      arguments.decimal("least-share", "a number from 0 to 1", [](double share) { return share >= 0 && share <= 1; });
  if (!arguments.given("match-eps")) return links;
  if (links.match == TrackMatch::ids) {
    throw UsageError("--match-eps is for matching by core points: leave it or --ids out");
  }
  const std::vector<double> given = parse_eps_list(arguments.text("match-eps"));
  if (given.size() != 1) throw UsageError("--match-eps takes one value");
  links.eps = given.front();
  return links;
}

/// Keys from this value on are seconds since 1970. Numbers of frames are smaller.
constexpr double kFirstTime = 1e8;

std::string time_text(double key) {
  if (std::abs(key) < kFirstTime || std::abs(key) > 1e11) return format_number(key);
  const auto seconds = static_cast<std::int64_t>(std::floor(key));
  std::string text = fmt::format("{:%Y-%m-%d %H:%M:%S}", fmt::gmtime(static_cast<std::time_t>(seconds)));
  if (key != std::floor(key)) text += fmt::format("{:.6f}", key - std::floor(key)).substr(1);
  return text;
}

/// Returns SliceRows::offsets with an empty slice per gap of --by-width, so that no cluster is linked across a gap.
std::vector<std::uint64_t> with_gaps(const SliceRows& slices) {
  std::vector<std::uint64_t> starts;
  for (std::size_t s = 0; s < slices.count(); ++s) {
    if (s > 0 && !slices.stretches.empty() && slices.stretches[s] - slices.stretches[s - 1] > 1) {
      starts.push_back(slices.offsets[s]);
    }
    starts.push_back(slices.offsets[s]);
  }
  starts.push_back(slices.offsets.back());
  return starts;
}

/// Returns a table with the columns of tobac in its order. Latitude and longitude are left out for a plane. starts:
/// with_gaps() of the slices. With a width, frames count its multiples, including those without points.
Table tracks_table(const TrackedSlices& found, const SliceRows& slices, const std::vector<std::uint64_t>& starts,
                   bool sphere) {
  const auto slice_of = [&](const TrackRow& row) {
    const auto after = std::ranges::upper_bound(slices.offsets, starts[row.frame]);
    return static_cast<std::size_t>(after - slices.offsets.begin()) - 1;
  };
  const auto column = [&]<class T>(std::string name, T TrackRow::*member) {
    using Number = std::conditional_t<std::is_floating_point_v<T>, double, std::int64_t>;
    std::vector<Number> values;
    values.reserve(found.rows.size());
    for (const TrackRow& row : found.rows) values.push_back(static_cast<Number>(row.*member));
    return TableColumn{std::move(name), std::move(values)};
  };
  std::vector<std::string> times;
  times.reserve(found.rows.size());
  std::vector<std::int64_t> frames;
  frames.reserve(found.rows.size());
  for (const TrackRow& row : found.rows) {
    const std::size_t slice = slice_of(row);
    times.push_back(time_text(slices.keys[slice]));
    frames.push_back(static_cast<std::int64_t>(
        slices.stretches.empty() ? static_cast<double>(slice) : slices.stretches[slice] - slices.stretches.front()));
  }
  Table table{TableColumn{"frame", frames},   column("idx", &TrackRow::idx), column("hdim_1", &TrackRow::y),
              column("hdim_2", &TrackRow::x), column("num", &TrackRow::num), column("feature", &TrackRow::feature),
              TableColumn{"time", times},     TableColumn{"timestr", times}, column("y", &TrackRow::y),
              column("x", &TrackRow::x)};
  if (sphere) {
    table.push_back(column("lat", &TrackRow::lat));
    table.push_back(column("lon", &TrackRow::lon));
  }
  table.push_back(column("cell", &TrackRow::cell));
  table.push_back(column("track", &TrackRow::track));
  return table;
}

/// Returns the id of each point as a whole number, in the order of the slices.
std::vector<std::int64_t> read_ids(const Input& input, const io::FilePoints& points, const Slicing& slicing) {
  const std::vector<std::vector<double>> columns = input.read_beside(input.beside.ids, points);
  std::vector<std::int64_t> ids;
  ids.reserve(columns.front().size());
  for (const double id : columns.front()) {
    if (!(std::abs(id) < 0x1p53) || id != std::floor(id)) {
      throw input_error("{} has {} in the column {}, and an id is a whole number below 2^53",
                        row_of(points, ids.size()), id, input.beside.ids.front());
    }
    ids.push_back(static_cast<std::int64_t>(id));
  }
  return slicing.in_order(std::span<const std::int64_t>(ids));
}

int run_tracks(const Arguments& arguments) {
  const Sweep variant = parse_variant(arguments, {"out"});
  Outputs outputs(arguments);
  if (!arguments.given("by") && !arguments.given("by-file")) {
    throw UsageError("what the slices are is missing: give --by with the column of the time, or --by-file");
  }
  const TrackOptions links = parse_links(arguments, variant.variants().front().eps);
  const std::string out = outputs.take("out", io::kTableFormats);
  RunSettings settings = parse_run_settings(arguments);
  Input input = parse_input(arguments);
  if (const std::size_t ids = input.beside.ids.size(); ids > 1) {
    throw usage_error("--ids '{}' names {}: name one", arguments.text("ids"), format_count(ids, "column"));
  }
  const Metric& metric = input.metric;
  io::FilePoints points = input.read_resolved();
  const Slicing slicing(input, points);
  settings.resolve(points.size(), points.dims(), metric);
  settings.run.core_mask = true;

  const InterruptGuard interrupt;
  const Observer observer{.cancel = &interrupt.token()};
  const Dataset data = slicing.load(Engine(settings.engine, input.messages.notices()), metric);
  const VariantResult result = std::move(run(data, variant, settings.run, observer).front());
  const std::vector<std::uint64_t> starts = with_gaps(slicing.rows());
  std::vector<std::int64_t> ids;
  if (links.match == TrackMatch::ids) ids = read_ids(input, points, slicing);
  const SlicedLabels slices{.starts = starts,
                            .labels = result.labels.span(),
                            .core = result.core,
                            .points = slicing.points(),
                            .metric = metric,
                            .ids = ids};
  const TrackedSlices found = track(
      slices, links,
      {.memory = settings.engine.memory, .threads = settings.engine.threads, .backend = BackendChoice::cpu}, observer);
  io::write_table(out, tracks_table(found, slicing.rows(), starts, on_sphere(metric.kind)), {"tracks", result, metric},
                  outputs.overwrite());
  const std::size_t count = slicing.rows().count();
  nlohmann::ordered_json json{{"points", points.size()},
                              {"slices", count},
                              {"features", found.rows.size()},
                              {"cells", found.tracks.cells},
                              {"tracks", found.tracks.tracks}};
  add_input(json, points, &metric);
  outputs.print(json,
                fmt::format("{} in {}: {} of clusters, in {} and {}\n", format_count(points.size(), "point"),
                            format_count(count, "slice"), format_count(found.rows.size(), "feature"),
                            format_count(found.tracks.cells, "cell"), format_count(found.tracks.tracks, "track")));
  return kDone;
}

}  // namespace

Command tracks_command() {
  return {
      .name = "tracks",
      .summary = "cluster every slice of a time series, and follow the clusters from slice to slice",
      .usage = "FILE … --by TIME --eps EPS --minpts N --out tracks.csv",
      .about =
          "Clusters the points of each time with DBSCAN, and links clusters of one time and the next that\n"
          "have core points within eps of each other, or points in common. Writes a row for each cluster of\n"
          "each time, in the columns of tobac: cell is what goes on as one, track all that merges with it or\n"
          "splits from it.",
      .example = "epsflow tracks maps.csv --columns lon,lat --by time --eps 0.5 --minpts 8 --out tracks.csv",
      .operand = {"FILE …"},
      .groups = {slicing_options(),
                 {"What to cluster", variant_options()},
                 {"Links",
                  {text_option("match-eps", "EPS",
                               "how near a core point of one slice must be to one of the next for their clusters to be "
                               "linked; without it, eps"),
                   text_option("ids", "COLUMN",
                               "link clusters that have points with the same number in this column instead, such as "
                               "that of a pixel"),
                   text_option("least-share", "S",
                               "the least part of the points of either cluster that must take part in a link", "0")}},
                 metric_options(),
                 {"Results",
                  {output_file(
                       "out",
                       "table of the clusters as .csv, .fits, .h5 or .parquet, or - for CSV on standard output; "
                       "times from 10^8 on are taken for seconds since 1970 and written as dates"),
                   overwrite_option()}},
                 input_options(),
                 machine_options(),
                 run_options(),
                 search_options(),
                 message_options()},
      .run = run_tracks};
}

}  // namespace epsflow::cli
