#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include <epsflow/cli/commands.hpp>
#include <epsflow/cli/output.hpp>
#include <epsflow/cli/outputs.hpp>
#include <epsflow/cli/running.hpp>
#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/io/generate.hpp>
#include <epsflow/io/write_labels.hpp>

namespace epsflow::cli {
namespace {

int run_generate(const Arguments& arguments) {
  arguments.require({"out"});
  const Words& kinds = arguments.operands();
  if (kinds.size() != 1) throw UsageError(fmt::format("generate takes one kind, not {}", fmt::join(kinds, " and ")));
  const std::string& out = arguments.text("out");
  require_output(arguments, "out", io::kPointFormats, {});
  const bool streamed = goes_to_standard_output(arguments, "out");
  const Points points = io::generate(kinds.front(), arguments.number("n"), arguments.number("seed"));
  io::write_points(out, points, points.column_names, overwrite(arguments));
  if (arguments.flag("json")) {
    print_json({{"points", points.size()},
                {"kind", kinds.front()},
                {"seed", arguments.number("seed")},
                {"columns", points.column_names},
                {"out", out}});
  } else if (!arguments.flag("quiet") && !streamed) {
    print_result("{} ({}) in {}\n", format_count(points.size(), "point"), fmt::join(points.column_names, ", "), out);
  }
  return kDone;
}

}  // namespace

Command generate_command() {
  std::string about = "Writes generated points. The kinds:\n";
  Words kinds;
  for (const io::GeneratorKind& kind : io::generator_kinds()) {
    about += fmt::format("\n  {:<10}{}", kind.name, kind.about);
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
                       {.name = "seed",
                        .kind = ValueKind::integer,
                        .value = "S",
                        .standard = "1",
                        .help = "another seed, other points"},
                       {.name = "out",
                        .kind = ValueKind::file,
                        .value = "FILE",
                        .help = "file to write, .npy or .csv, or - for CSV on standard output"},
                       overwrite_option()}},
                     message_options()},
          .run = run_generate};
}

}  // namespace epsflow::cli
