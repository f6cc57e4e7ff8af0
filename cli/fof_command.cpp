#include <cmath>
#include <system_error>
#include <tuple>
#include <utility>
#include <variant>

#include <epsflow/catalog/friends.hpp>
#include <epsflow/cli/catalogs.hpp>
#include <epsflow/cli/running.hpp>
#include <epsflow/core/choices.hpp>
#include <epsflow/io/read/source.hpp>
#include <epsflow/io/write/hdf5_writer.hpp>
#include <epsflow/io/write_table.hpp>
#include <epsflow/pipeline/on_threads.hpp>
#include <epsflow/pipeline/sweep.hpp>

namespace epsflow::cli {
namespace {

struct FofCommand {
  std::optional<double> length = {}, b = {};  ///< exactly one of them is set
  std::uint64_t least = 0;                    ///< the size of the smallest group
  GroupOrder order{};
  GroupDialect dialect{};
  RunSettings settings = {};
  Input input = {};
  Outputs outputs;
  std::string out = {}, catalog = {}, attached = {};  ///< files to write, or empty
  bool swift = false;                                 ///< whether the catalogue is in SWIFT's own format
  std::optional<std::pair<double, double>> cgs = {};  ///< the units of that catalogue: length in cm, mass in g
  std::string attach = {};                            ///< the points to attach: a file or a type of particles, or empty
};

/// Returns nothing if the option is not given.
std::optional<double> parse_positive(const Arguments& arguments, const std::string& name) {
  if (!arguments.given(name)) return std::nullopt;
  return arguments.decimal(name, "a number above 0", [](double value) { return value > 0 && std::isfinite(value); });
}

double parse_unit(const std::string& text) {
  const double value = io::number_in<double>(text).value_or(0);
  if (value > 0 && std::isfinite(value)) return value;
  throw usage_error(
      "--cgs: '{}' is no number above 0; give the units of length, in cm, and of mass, in g, as in "
      "3.0857e24,1.9884e43",
      text);
}

/// Returns whether --attach names a file or a folder, which may have the name of a type of particles.
bool is_there(const std::string& said) {
  std::error_code code;
  return std::filesystem::exists(said, code);
}

void require_others(const std::string& said, io::Particles particles, io::Particles linked) {
  if (particles != linked) return;
  throw usage_error("--attach {} names the particles that are linked: name others", said);
}

/// Throws UsageError, ResourceError for invalid options.
void parse_attaching(const Arguments& arguments, FofCommand& command) {
  if (!arguments.given("attach")) {
    if (!arguments.given("attached")) return;
    throw UsageError("--attached is about the points of --attach: give --attach as well");
  }
  if (!arguments.given("attached") && !arguments.given("catalog")) {
    throw UsageError("--attach is for the groups of --attached, and for the counts of --catalog: give one of them");
  }
  const std::string& said = command.attach = arguments.text("attach");
  const auto particles = choice_of<io::Particles>(said);
  if (particles && !is_there(said)) require_others(said, *particles, parse_input(arguments).options.particles);
  command.attached = command.outputs.take("attached", io::kLabelFormats);
}

/// Throws UsageError for options that SWIFT's catalogue does not support.
void parse_swift(const Arguments& arguments, FofCommand& command) {
  command.swift = !command.catalog.empty() && command.dialect == GroupDialect::swift &&
                  io::output_format(command.catalog, io::kTableFormats) == io::OutputFormat::hdf5;
  if (!command.swift) {
    if (!arguments.given("cgs")) return;
    throw UsageError("--cgs is about SWIFT's catalogue: give --dialect swift and --catalog in HDF5 as well");
  }
  for (const char* name : {"velocity", "stats"}) {
    if (!arguments.given(name)) continue;
    throw usage_error(
        "SWIFT's catalogue, which --dialect swift asks for in HDF5, has no columns of --{}: leave "
        "it out, or write --catalog as .csv, .fits or .parquet",
        name);
  }
  if (!command.attach.empty() && command.attached.empty()) {
    throw UsageError(
        "SWIFT's catalogue, which --dialect swift asks for in HDF5, has no column of how many points --attach adds: "
        "give --attached as well, or write --catalog as .csv, .fits or .parquet");
  }
  if (!arguments.given("cgs")) return;
  const Words units = parse_list(arguments, "cgs");
  if (units.size() != 2) {
    throw usage_error("--cgs '{}' has {}: give the unit of length and that of mass", arguments.text("cgs"),
                      format_count(units.size(), "number"));
  }
  command.cgs = {parse_unit(units[0]), parse_unit(units[1])};
}

FofCommand parse_fof(const Arguments& arguments) {
  FofCommand command{.length = parse_positive(arguments, "linking-length"),
                     .b = parse_positive(arguments, "b"),
                     .least = arguments.number("min-size"),
                     .order = choice_of<GroupOrder>(arguments.text("ids")).value(),
                     .dialect = choice_of<GroupDialect>(arguments.text("dialect")).value(),
                     .outputs = Outputs(arguments)};
  if (command.length.has_value() == command.b.has_value()) {
    throw UsageError(command.length ? "--linking-length and --b both say how far friends are: give one of them"
                                    : "how far friends are is missing: give --linking-length, or --b with --box");
  }
  for (const char* name : {"velocity", "stats", "weight"}) {
    if (!arguments.given(name) || arguments.given("catalog")) continue;
    throw usage_error("--{} is about the groups of --catalog: give --catalog as well", name);
  }
  command.out = command.outputs.take_with_rows(io::kLabelFormats);
  command.catalog = command.outputs.take("catalog", io::kTableFormats);
  parse_attaching(arguments, command);
  parse_swift(arguments, command);
  command.settings = parse_run_settings(arguments);
  command.input = parse_input(arguments);
  return command;
}

/// Uses the masses of a snapshot's particles as weights unless --weight is given.
void take_masses(const Input& input, io::FilePoints& points) {
  if (!input.options.weight.empty() || !points.has_masses) return;
  const auto is_pipe = [](const io::InputRows& file) { return file.stamp.empty(); };
  if (std::ranges::any_of(points.inputs, is_pipe)) {
    // Masses are read in a second pass.
    return input.messages.tell(
        "masses of the snapshot are left out, as a pipe gives its bytes once: --weight {} takes them", io::kMassColumn);
  }
  points.weight_column = io::kMassColumn;
  points.weights = std::move(input.read_beside({points.weight_column}, points).front());
  input.messages.tell("masses are those of the snapshot: --weight {}", points.weight_column);
}

/// Throws InputError for an invalid mass before anything is clustered.
void check_masses(const io::FilePoints& points) {
  for (std::size_t i = 0; i < points.weights.size(); ++i) {
    if (std::isfinite(points.weights[i]) && points.weights[i] >= 0) continue;
    throw input_error(
        "{} (point {}) has the mass, or weight, {} in the column {}, and a mass is 0 or more: take the row "
        "out, or name another column with --weight",
        row_of(points, i), i, points.weights[i], points.weight_column);
  }
}

/// Replaces the cluster numbers of the catalogue by the group numbers of the labels.
void rename_groups(Table& table, GroupDialect dialect) {
  table.front().name = "group";
  if (dialect == GroupDialect::epsflow) return;
  for (std::int64_t& id : std::get<std::vector<std::int64_t>>(table.front().values)) ++id;
}

bool is_snapshot(const io::FilePoints& read) {
  return !read.inputs.empty() && (read.inputs.front().kind.starts_with("snapshot, ") ||
                                  read.inputs.front().kind.starts_with("SWIFT snapshot, "));
}

/// Returns the particles of the snapshot that --attach names; empty if it names a file.
std::optional<io::Particles> particles_named(const std::string& said, const io::FilePoints& read,
                                             const Messages& messages) {
  const auto particles = choice_of<io::Particles>(said);
  if (!particles || !is_there(said)) return particles;
  if (!is_snapshot(read)) return std::nullopt;
  messages.tell("--attach {0} takes particles of the snapshot, and there is a file {0} as well: ./{0} names it", said);
  return particles;
}

/// Reads the points within the memory that the linked points leave.
io::FilePoints read_within(const std::vector<std::filesystem::path>& files, io::ReadOptions options,
                           const io::FilePoints& linked) {
  const std::uint64_t taken = linked.view().bytes() + linked.weights.size() * sizeof(double);
  options.memory -= std::min(options.memory, taken);
  try {
    return io::read_points(files, options);
  } catch (const ResourceError& error) {
    throw ResourceError(fmt::format("{}; of ReadOptions::memory the points that are linked take {}", error.what(),
                                    format_bytes(taken)));
  }
}

/// Returns the points of --attach: other particles of the same snapshot, or the points of a file, with the same
/// columns. said: the value of --attach. read: resolved by Input::resolve(). Throws as Input::read(), and InputError if
/// rows were dropped.
io::FilePoints read_attached(const std::string& said, Input input, const io::FilePoints& read) {
  io::ReadOptions& options = input.options;
  options.weight.clear();
  if (!read.column_names.empty()) options.columns = read.column_names;
  if (const auto particles = particles_named(said, read, input.messages)) {
    require_others(said, *particles, options.particles);
    options.particles = *particles;
  } else {
    input.files = {said};
  }
  io::FilePoints others = read_within(paths_of(input.files), options, read);
  if (!input.messages.quiet) say_what_was_read(others, others.size(), others.dims());
  if (others.dropped_rows() > 0) {
    throw input_error(
        "{}: {} dropped for NaN, infinity or missing values, and --attached has a label for each row: take "
        "them out of the file",
        said, format_count(others.dropped_rows(), "row"));
  }
  if (others.dims() != read.dims()) {
    throw input_error("{} has {}, and what is linked has {}: choose the same with --columns", said,
                      format_count(others.dims(), "column"), read.dims());
  }
  input.resolve(others);
  return others;
}

/// Returns a result with the labels of attached points and their counts.
VariantResult attached_result(const VariantResult& groups, const std::vector<std::int32_t>& labels) {
  VariantResult result;
  result.variant = groups.variant;
  result.summary.clusters = groups.summary.clusters;
  for (const std::int32_t label : labels) ++(label == kNoise ? result.summary.noise : result.summary.border);
  result.labels = labels;
  return result;
}

/// Returns the number of points attached to each group, as a column of the catalogue.
TableColumn attached_counts(const VariantResult& attached, std::size_t groups) {
  std::vector<std::int64_t> counts(groups);
  for (const std::int32_t label : attached.labels) {
    if (label != kNoise) ++counts[static_cast<std::size_t>(label)];
  }
  return {.name = "attached", .values = std::move(counts)};
}

/// Throws UsageError unless points are three-dimensional.
void require_swift_dims(std::size_t dims) {
  if (dims == 3) return;
  throw usage_error(
      "SWIFT's catalogue, which --dialect swift asks for in HDF5, is of three dimensions, and {} read: "
      "choose three with --columns, or write --catalog as .csv",
      dims == 1 ? "1 column was" : fmt::format("{} were", format_count(dims, "column")));
}

void write_swift_catalog(const FofCommand& command, const Catalog& catalog) {
  const std::vector<std::int64_t> sizes(catalog.size.begin(), catalog.size.end());
  const std::vector<double> ones(sizes.begin(), sizes.end());
  io::SwiftGroups groups{
      .masses = catalog.weight.empty() ? ones : catalog.weight, .centres = catalog.center, .sizes = sizes};
  const std::vector<BoxSide>& box = command.input.metric.box;
  for (std::size_t k = 0; k < box.size(); ++k) groups.box[k] = box[k].hi - box[k].lo;
  if (command.cgs) {
    std::tie(groups.length_unit, groups.mass_unit) = *command.cgs;
  } else {
    command.input.messages.tell(
        "SWIFT's catalogue has units: Mpc and 10^10 solar masses are taken; --cgs gives others");
  }
  io::write_swift_groups(command.catalog, groups, command.outputs.overwrite());
}

/// The groups and the attached points.
struct Groups {
  double eps = 0;
  VariantResult linked;
  std::optional<VariantResult> attached;
  std::uint64_t others = 0;  ///< the number of points to attach
};

/// Writes the catalogue, and the labels in the numbers of the dialect.
void write(const FofCommand& command, const io::FilePoints& points, const Cataloguing* cataloguing, Groups& found) {
  const Metric& metric = command.input.metric;
  const io::Overwrite overwrite = command.outputs.overwrite();
  if (command.swift) {
    write_swift_catalog(command, cataloguing->catalog(found.linked));
  } else if (cataloguing != nullptr) {
    Table table = cataloguing->table(found.linked);
    rename_groups(table, command.dialect);
    if (found.attached) table.push_back(attached_counts(*found.attached, found.linked.summary.clusters));
    io::write_table(command.catalog, table, {"groups", found.linked, metric}, overwrite);
  }
  translate_groups(found.linked.labels.span(), command.dialect);
  const auto numbers = command.dialect == GroupDialect::epsflow ? io::LabelNumbers::label : io::LabelNumbers::group;
  command.outputs.write_labels(found.linked, points, metric, numbers);
  if (command.attached.empty()) return;
  translate_groups(found.attached->labels.span(), command.dialect);
  io::write_labels(command.attached, *found.attached, overwrite, metric, numbers);
}

void print(const FofCommand& command, const io::FilePoints& points, const Groups& found) {
  const LabelSummary& s = found.linked.summary;
  nlohmann::ordered_json json{
      {"points", points.size()}, {"linking_length", found.eps}, {"groups", s.clusters},           {"grouped", s.core},
      {"ungrouped", s.noise},    {"largest", s.largest},        {"seconds", found.linked.seconds}};
  std::string attached;
  if (found.attached) {
    json["attached"] = found.attached->summary.border;
    attached =
        fmt::format(", {} of {} attached", format_count(found.attached->summary.border), format_count(found.others));
  }
  add_input(json, points, &command.input.metric);
  command.outputs.print(
      json, fmt::format("{}: {} of {} and more (largest {}) at the linking length {}, {} ungrouped{}; {:.3f} s\n",
                        format_count(points.size(), "point"), format_count(s.clusters, "group"),
                        format_count(command.least, "point"), format_count(s.largest), format_number(found.eps),
                        format_count(s.noise), attached, found.linked.seconds));
}

int run_fof(const Arguments& arguments) {
  FofCommand command = parse_fof(arguments);
  Input& input = command.input;
  RunSettings& settings = command.settings;
  const Metric& metric = input.metric;
  io::FilePoints points = input.read_resolved();
  if (command.swift) require_swift_dims(points.dims());
  if (command.b && metric.box.empty()) {
    throw UsageError("--b is a fraction of the mean separation of points that fill a box: give --box as well");
  }
  settings.resolve(points.size(), points.dims(), metric);
  std::optional<Cataloguing> cataloguing;
  if (!command.catalog.empty()) {
    take_masses(input, points);
    check_masses(points);
    cataloguing.emplace(input, points, nullptr);
  }
  Groups found;
  found.eps = command.length ? *command.length : *command.b * mean_separation(metric, points.dims(), points.size());
  std::optional<io::FilePoints> others;
  if (!command.attach.empty()) others = read_attached(command.attach, input, points);

  const InterruptGuard interrupt;
  found.linked = watched(!input.messages.quiet, interrupt.token(), [&](const Observer& observer) {
    // Weights are masses. They do not influence which points are linked.
    const Dataset data = Engine(settings.engine, input.messages.notices()).load(points, metric);
    settings.run.core_mask = cataloguing.has_value();
    return std::move(run(data, grid({found.eps}, {linking_minpts(command.least)}), settings.run, observer).front());
  });
  resolve_groups(found.linked, command.least, command.order);
  if (others) {
    found.others = others->size();
    found.attached = attached_result(
        found.linked,
        attach({points.view(), found.linked.labels.span(), others->view(), metric, found.eps},
               {.memory = settings.engine.memory, .threads = settings.engine.threads}, {.cancel = &interrupt.token()}));
  }
  write(command, points, cataloguing ? &*cataloguing : nullptr, found);
  print(command, points, found);
  return kDone;
}

}  // namespace

Command fof_command() {
  OptionSpec attach = input_file("attach",
                                 "points that join the group of the nearest linked point within the linking length: "
                                 "those of a file, in the same columns, or of a snapshot its gas, stars, …");
  attach.value = "FILE|TYPE";
  return {
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
            {text_option("linking-length", "L",
                         "how far friends are apart, in the unit of the coordinates; exactly as far counts"),
             text_option("b", "B",
                         "the same as a fraction of the mean separation of the points, which fill the box of --box"),
             count_option("min-size", 1, "2", "points of the smallest group; smaller ones are dissolved"),
             word_option("ids", {"size", "first"}, "size",
                         "what groups are numbered by: their size, the largest first, or their first point"),
             word_option("dialect", {"epsflow", "swift", "nbodykit"}, "epsflow",
                         "numbers of groups, and of points in none: from 0 and -1, from 1 and 2147483647, from 1 and "
                         "0"),
             std::move(attach),
             output_file("attached",
                         "with --attach: the group of each of these points, as --out has that of linked ones")}},
           metric_options(),
           {"Results",
            {output_file("out",
                         "the group of each point as .npy (int32), .csv, .fits, .h5 or .parquet, or - for CSV on "
                         "standard output"),
             output_file(
                 "catalog",
                 "a row for each group as .csv, .fits, .h5 or .parquet: size, first point, mass (--weight), and "
                 "of the coordinates centre of mass, spread, ends and radius; - for CSV on standard output; with "
                 "--dialect swift an HDF5 file is SWIFT's own catalogue, which swiftsimio opens"),
             text_option("velocity", "A,B",
                         "with --catalog: columns whose mean, weighted by mass, is that of the group; they are no "
                         "coordinates"),
             stats_option(),
             text_option("cgs", "LENGTH,MASS",
                         "of SWIFT's catalogue (--dialect swift, --catalog in HDF5): the units of the coordinates, in "
                         "cm, and of the masses, in g; Mpc and 10^10 solar masses where it is left out"),
             overwrite_option()}},
           input_options(),
           machine_options(),
           run_options(),
           search_options(),
           message_options()},
      .run = run_fof};
}

}  // namespace epsflow::cli
