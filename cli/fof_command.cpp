#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <variant>

#include <epsflow/catalog/friends.hpp>
#include <epsflow/cli/attaching.hpp>
#include <epsflow/cli/catalogs.hpp>
#include <epsflow/cli/commands.hpp>
#include <epsflow/cli/interrupt.hpp>
#include <epsflow/cli/metric.hpp>
#include <epsflow/cli/options.hpp>
#include <epsflow/cli/output.hpp>
#include <epsflow/cli/outputs.hpp>
#include <epsflow/cli/progress_report.hpp>
#include <epsflow/cli/reading.hpp>
#include <epsflow/cli/running.hpp>
#include <epsflow/cli/slicing.hpp>
#include <epsflow/cli/swift_catalog.hpp>
#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/io/write_labels.hpp>
#include <epsflow/io/write_table.hpp>
#include <epsflow/pipeline/attach.hpp>
#include <epsflow/pipeline/sweep.hpp>

namespace epsflow::cli {
namespace {

/// Nothing where it is not given.
std::optional<double> positive(const Arguments& arguments, const std::string& name) {
  if (!arguments.given(name)) return std::nullopt;
  return arguments.decimal(name, "a number above 0", [](double value) { return value > 0 && std::isfinite(value); });
}

template <class T>
T word_given(const Arguments& arguments, const char* name) {
  return choice_of<T>(arguments.text(name)).value();
}

/// The weights of a snapshot's particles, where --weight does not say others.
void take_masses(const Arguments& arguments, io::FilePoints& points) {
  const bool quiet = arguments.flag("quiet");
  const auto is_pipe = [](const io::InputRows& input) { return input.stamp.empty(); };
  if (std::ranges::any_of(points.inputs, is_pipe)) {
    // They are read in a second pass.
    if (quiet) return;
    say(fmt::format("masses of the snapshot are left out, as a pipe gives its bytes once: --weight {} takes them",
                    io::kMassColumn));
    return;
  }
  points.weight_column = io::kMassColumn;
  points.weights = std::move(read_beside(arguments, {points.weight_column}, points).front());
  if (!quiet) say("masses are those of the snapshot: --weight " + points.weight_column);
}

/// Throws InputError for a mass that none can be, before anything is clustered.
void check_masses(const io::FilePoints& points) {
  for (std::size_t i = 0; i < points.weights.size(); ++i) {
    if (std::isfinite(points.weights[i]) && points.weights[i] >= 0) continue;
    throw InputError(
        fmt::format("{} (point {}) has the mass, or weight, {} in the column {}, and a mass is 0 or more: take the row "
                    "out, or name another column with --weight",
                    row_of(points, i), i, points.weights[i], points.weight_column));
  }
}

/// The numbers of the catalogue become those of the labels.
void rename_groups(Table& table, GroupDialect dialect) {
  table.front().name = "group";
  if (dialect == GroupDialect::epsflow) return;
  for (std::int64_t& id : std::get<std::vector<std::int64_t>>(table.front().values)) ++id;
}

int run_fof(const Arguments& arguments) {
  const std::optional<double> length = positive(arguments, "linking-length");
  const std::optional<double> b = positive(arguments, "b");
  if (length.has_value() == b.has_value()) {
    throw UsageError(length ? "--linking-length and --b both say how far friends are: give one of them"
                            : "how far friends are is missing: give --linking-length, or --b with --box");
  }
  for (const char* name : {"velocity", "stats", "weight"}) {
    if (!arguments.given(name) || arguments.given("catalog")) continue;
    throw UsageError(fmt::format("--{} is about the groups of --catalog: give --catalog as well", name));
  }
  require_row_output(arguments, io::kLabelFormats);
  require_output(arguments, "catalog", io::kTableFormats);
  check_attaching(arguments);
  check_swift_catalog(arguments);
  const bool streamed = goes_to_standard_output(arguments, "out") || goes_to_standard_output(arguments, "catalog") ||
                        goes_to_standard_output(arguments, "attached");
  RunSettings settings = run_settings(arguments);
  Metric metric = requested_metric(arguments);
  io::FilePoints points = read_input(arguments);
  require_points(points);
  settle_columns(arguments, points, metric);
  check_swift_dims(arguments, points.dims());
  if (b && metric.box.empty()) {
    throw UsageError("--b is a fraction of the mean separation of points that fill a box: give --box as well");
  }
  settle_backend(points.size(), points.dims(), metric, settings);
  std::optional<Cataloguing> cataloguing;
  if (arguments.given("catalog") && !arguments.given("weight") && points.has_masses) take_masses(arguments, points);
  if (arguments.given("catalog")) check_masses(points);
  if (arguments.given("catalog")) cataloguing.emplace(arguments, points, metric, nullptr);
  const double eps = length ? *length : *b * mean_separation(metric, points.dims(), points.size());
  const std::uint64_t least = arguments.number("min-size");
  std::optional<io::FilePoints> others;
  if (arguments.given("attach")) others = read_attached(arguments, points, metric);

  const InterruptGuard interrupt;
  VariantResult result;
  {
    ProgressReport report(!arguments.flag("quiet"));
    // Weights are masses: they do not say who is whose friend.
    const Dataset data = Engine(settings.engine, notices(arguments)).load(points, metric);
    settings.run.core_mask = cataloguing.has_value();
    result = std::move(run(data, grid({eps}, {linking_minpts(least)}), settings.run,
                           {.on_progress = [&](const Progress& p) { report.show(p); }, .cancel = &interrupt.token()})
                           .front());
  }
  settle_groups(result, least, word_given<GroupOrder>(arguments, "ids"));
  std::optional<VariantResult> attached;
  if (others) {
    attached = attached_result(result, attach({points.view(), result.labels.span(), others->view(), metric, eps},
                                              {.memory = settings.engine.memory, .threads = settings.engine.threads},
                                              {.cancel = &interrupt.token()}));
  }
  const auto dialect = word_given<GroupDialect>(arguments, "dialect");
  if (is_swift_catalog(arguments)) {
    write_swift_catalog(arguments, cataloguing->catalog(result), metric);
  } else if (cataloguing) {
    Table table = cataloguing->table(result);
    rename_groups(table, dialect);
    if (attached) table.push_back(attached_counts(*attached, result.summary.clusters));
    io::write_table(arguments.text("catalog"), table, {"groups", result, metric}, overwrite(arguments));
  }
  translate_groups(result.labels.span(), dialect);
  const auto numbers = dialect == GroupDialect::epsflow ? io::LabelNumbers::label : io::LabelNumbers::group;
  write_label_output(arguments, result, points, metric, numbers);
  if (attached && arguments.given("attached")) {
    translate_groups(attached->labels.span(), dialect);
    io::write_labels(arguments.text("attached"), *attached, overwrite(arguments), metric, numbers);
  }
  const LabelSummary& s = result.summary;
  if (arguments.flag("json")) {
    nlohmann::ordered_json json{{"points", points.size()},  {"linking_length", eps}, {"groups", s.clusters},
                                {"grouped", s.core},        {"ungrouped", s.noise},  {"largest", s.largest},
                                {"seconds", result.seconds}};
    if (attached) json["attached"] = attached->summary.border;
    add_metric(json, metric);
    add_input(json, points);
    print_json(json);
  } else if (!arguments.flag("quiet") && !streamed) {
    print_result("{}: {} of {} and more (largest {}) at the linking length {}, {} ungrouped{}; {:.3f} s\n",
                 format_count(points.size(), "point"), format_count(s.clusters, "group"), format_count(least, "point"),
                 format_count(s.largest), format_number(eps), format_count(s.noise),
                 attached ? fmt::format(", {} of {} attached", format_count(attached->summary.border),
                                        format_count(others->size()))
                          : "",
                 result.seconds);
  }
  return kDone;
}

}  // namespace

Command fof_command() {
  Command command{
      .name = "fof",
      .summary = "friends of friends: groups of points that are linked, and their catalogue",
      .usage = "FILE … (--linking-length L | --b B --box SIDE) --catalog groups.csv",
      .about =
          "Links every two points that are no farther apart than the linking length, and calls what hangs\n"
          "together a group: DBSCAN with minpts 2, in the words of cosmology. Of snapshots (SWIFT, Gadget-4,\n"
          "Arepo; all files of one) it takes --particles, and box and masses where --box and --weight give\n"
          "none.",
      .example = "epsflow fof halos.h5 --columns x,y,z --b 0.2 --box 250 --min-size 32 --catalog groups.csv",
      .operand = {"FILE …"},
      .groups =
          {{"Friends",
            {{.name = "linking-length",
              .value = "L",
              .help = "how far friends are apart, in the unit of the coordinates; exactly as far counts"},
             {.name = "b",
              .value = "B",
              .help = "the same as a fraction of the mean separation of the points, which fill the box of --box"},
             {.name = "min-size",
              .kind = ValueKind::integer,
              .value = "N",
              .least = 1,
              .standard = "2",
              .help = "points of the smallest group; smaller ones are dissolved"},
             {.name = "ids",
              .kind = ValueKind::word,
              .words = {"size", "first"},
              .standard = "size",
              .help = "what groups are numbered by: their size, the largest first, or their first point"},
             {.name = "dialect",
              .kind = ValueKind::word,
              .words = {"epsflow", "swift", "nbodykit"},
              .standard = "epsflow",
              .help = "numbers of groups, and of points in none: from 0 and -1, from 1 and 2147483647, from 1 and 0"}}},
           metric_options(),
           {"Results",
            {{.name = "out",
              .kind = ValueKind::file,
              .value = "FILE",
              .writes = true,
              .help = "the group of each point as .npy (int32), .csv, .fits, .h5 or .parquet, or - for CSV on standard "
                      "output"},
             {.name = "catalog",
              .kind = ValueKind::file,
              .value = "FILE",
              .writes = true,
              .help = "a row for each group as .csv, .fits, .h5 or .parquet: size, first point, mass (--weight), and "
                      "of the coordinates centre of mass, spread, ends and radius; - for CSV on standard output; with "
                      "--dialect swift an HDF5 file is SWIFT's own catalogue, which swiftsimio opens"},
             {.name = "velocity",
              .value = "A,B",
              .help = "with --catalog: columns whose mean, weighted by mass, is that of the group; they are no "
                      "coordinates"},
             stats_option(),
             cgs_option(),
             overwrite_option()}},
           input_options(),
           machine_options(),
           run_options(),
           search_options(),
           message_options()},
      .run = run_fof};
  std::ranges::move(attaching_options(), std::back_inserter(command.groups.front().options));
  return command;
}

}  // namespace epsflow::cli
