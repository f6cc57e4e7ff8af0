#include <epsflow/cli/running.hpp>
#include <epsflow/io/generate.hpp>
#include <epsflow/io/read/source.hpp>

namespace epsflow::cli {
namespace {

/// Returns "x, y, z", or "x0, x1, … x383" if there are many.
std::string list_of(const std::vector<std::string>& columns) {
  constexpr std::size_t kMostListed = 10;
  if (columns.size() <= kMostListed) return fmt::format("{}", fmt::join(columns, ", "));
  return fmt::format("{}, {}, … {}", columns[0], columns[1], columns.back());
}

double parse_rate(const std::string& text) {
  if (const auto rate = io::number_in<double>(text)) return *rate;
  throw usage_error("--rate is '{}', no number; finite numbers from {} on are possible", text,
                    format_number(io::kLeastRate));
}

/// Returns a help text with the kinds that have the option: "coordinates per point of exponential (default: 64),
/// embeddings (default: 384)".
template <class T>
std::string help_with_kinds(const char* help, std::optional<T> io::GeneratorKind::*own) {
  Words kinds;
  for (const io::GeneratorKind& kind : io::generator_kinds()) {
    if (kind.*own) kinds.push_back(fmt::format("{} (default: {})", kind.name, *(kind.*own)));
  }
  return fmt::format("{} of {}", help, fmt::join(kinds, ", "));
}

std::string seed_help() {
  const io::GeneratorKind usual;
  std::string help = fmt::format("another seed, other points (default: {}", usual.seed);
  for (const io::GeneratorKind& kind : io::generator_kinds()) {
    if (kind.seed != usual.seed) help += fmt::format("; {}: {}", kind.name, kind.seed);
  }
  return help + ")";
}

int run_generate(const Arguments& arguments) {
  arguments.require({"out"});
  const Words& kinds = arguments.operands();
  if (kinds.size() != 1) throw usage_error("generate takes one kind, not {}", fmt::join(kinds, " and "));
  const io::GeneratorKind& kind = io::generator_kind(kinds.front());
  Outputs outputs(arguments);
  const std::string out = outputs.take("out", io::kPointFormats);
  io::GeneratorOptions options;
  if (arguments.given("seed")) options.seed = arguments.number("seed");
  if (arguments.given("dims")) options.dims = arguments.number("dims");
  if (arguments.given("rate")) options.rate = parse_rate(arguments.text("rate"));
  const io::FilePoints points = io::generate(kind.name, arguments.number("n"), options);
  io::write_points(out, points, points.column_names, outputs.overwrite());
  nlohmann::json json{{"points", points.size()},
                      {"kind", kind.name},
                      {"seed", options.seed.value_or(kind.seed)},
                      {"columns", points.column_names},
                      {"out", out}};
  if (kind.rate) json["rate"] = options.rate.value_or(*kind.rate);
  outputs.print(
      json, fmt::format("{} ({}) in {}\n", format_count(points.size(), "point"), list_of(points.column_names), out));
  return kDone;
}

}  // namespace

Command generate_command() {
  std::string about = "Writes generated points. The kinds:\n";
  Words kinds;
  for (const io::GeneratorKind& kind : io::generator_kinds()) {
    about += fmt::format("\n  {:<13}{}", kind.name, kind.about);
    kinds.emplace_back(kind.name);
  }
  return {.name = "generate",
          .summary = "write look-alike data to play with",
          .usage = "KIND --n N --out FILE",
          .about = about,
          .example = "epsflow generate tec --n 200000 --out tec.npy",
          .operand = {"KIND", kinds},
          .groups = {{"What to generate",
                      {{.name = "n",
                        .kind = ValueKind::integer,
                        .value = "N",
                        .most = kMaxPoints,
                        .standard = "100000",
                        .help = "points"},
                       {.name = "seed", .kind = ValueKind::integer, .value = "S", .help = seed_help()},
                       {.name = "dims",
                        .kind = ValueKind::integer,
                        .value = "D",
                        .least = 1,
                        .most = kMaxDims,
                        .help = help_with_kinds("coordinates per point", &io::GeneratorKind::dims)},
                       text_option("rate", "R", help_with_kinds("rate of the distribution", &io::GeneratorKind::rate)),
                       output_file("out", "file to write, .npy or .csv, or - for CSV on standard output"),
                       overwrite_option()}},
                     message_options()},
          .run = run_generate};
}

}  // namespace epsflow::cli
