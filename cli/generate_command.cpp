#include <fmt/format.h>

#include <epsflow/cli/commands.hpp>
#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/io/generate.hpp>
#include <epsflow/io/write_labels.hpp>

namespace epsflow::cli {

int run_generate(const Words& words) {
  namespace po = boost::program_options;
  std::string kinds;
  for (const io::GeneratorKind& kind : io::generator_kinds())
    kinds += fmt::format("  {:<10}{}\n", kind.name, kind.about);
  Arguments arguments("epsflow generate KIND --n N --out FILE", "Writes generated points. The kinds:\n\n" + kinds);
  arguments.group("What to generate")("n", po::value<std::uint64_t>()->value_name("N")->default_value(100'000),
                                      "points")("seed", po::value<std::uint64_t>()->value_name("S")->default_value(1),
                                                "another seed, other points")(
      "out", po::value<std::string>()->value_name("FILE"), "file to write, .npy or .csv");
  arguments.add_output_options();
  if (!arguments.parse(words)) return kDone;
  const Words kind = arguments.inputs();
  if (kind.size() != 1) throw UsageError("generate takes one kind; the kinds are:\n" + kinds);
  const std::string out = arguments.require("out", "points.npy");
  const Points points =
      io::generate(kind.front(), arguments.get<std::uint64_t>("n"), arguments.get<std::uint64_t>("seed"));
  io::write_points(out, points, points.column_names);
  if (!arguments.get<bool>("quiet")) {
    fmt::print("{} points ({}) in {}\n", format_count(points.size()), fmt::join(points.column_names, ", "), out);
  }
  return kDone;
}

}  // namespace epsflow::cli
