#include <epsflow/cli/swift_catalog.hpp>

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <epsflow/cli/output.hpp>
#include <epsflow/cli/outputs.hpp>
#include <epsflow/cli/reading.hpp>
#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/io/write_table.hpp>

namespace epsflow::cli {
namespace {

double unit(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size() && value > 0 && std::isfinite(value)) return value;
  throw UsageError(
      fmt::format("--cgs: '{}' is no number above 0; give the units of length, in cm, and of mass, in g, "
                  "as in 3.0857e24,1.9884e43",
                  text));
}

}  // namespace

OptionSpec cgs_option() {
  return {
      .name = "cgs",
      .value = "LENGTH,MASS",
      .help =
          "of SWIFT's catalogue (--dialect swift, --catalog in HDF5): the units of the coordinates, in cm, and of the "
          "masses, in g; Mpc and 10^10 solar masses where it is left out"};
}

bool is_swift_catalog(const Arguments& arguments) {
  return arguments.given("catalog") && arguments.text("dialect") == "swift" &&
         io::output_format(arguments.text("catalog"), io::kTableFormats) == io::OutputFormat::hdf5;
}

void check_swift_catalog(const Arguments& arguments) {
  if (!is_swift_catalog(arguments)) {
    if (!arguments.given("cgs")) return;
    throw UsageError("--cgs is about SWIFT's catalogue: give --dialect swift and --catalog in HDF5 as well");
  }
  for (const char* name : {"velocity", "stats"}) {
    if (!arguments.given(name)) continue;
    throw UsageError(
        fmt::format("SWIFT's catalogue, which --dialect swift asks for in HDF5, has no columns of --{}: leave "
                    "it out, or write --catalog as .csv, .fits or .parquet",
                    name));
  }
  if (arguments.given("attach") && !arguments.given("attached")) {
    throw UsageError(
        "SWIFT's catalogue, which --dialect swift asks for in HDF5, has no column of how many points --attach adds: "
        "give --attached as well, or write --catalog as .csv, .fits or .parquet");
  }
  if (!arguments.given("cgs")) return;
  const Words units = split_list("cgs", arguments.text("cgs"));
  if (units.size() != 2) {
    throw UsageError(fmt::format("--cgs '{}' has {}: give the unit of length and that of mass", arguments.text("cgs"),
                                 format_count(units.size(), "number")));
  }
  for (const std::string& text : units) (void)unit(text);
}

void check_swift_dims(const Arguments& arguments, std::size_t dims) {
  if (!is_swift_catalog(arguments) || dims == 3) return;
  throw UsageError(
      fmt::format("SWIFT's catalogue, which --dialect swift asks for in HDF5, is of three dimensions, and {} read: "
                  "choose three with --columns, or write --catalog as .csv",
                  dims == 1 ? "1 column was" : fmt::format("{} were", format_count(dims, "column"))));
}

void write_swift_catalog(const Arguments& arguments, const Catalog& catalog, const Metric& metric) {
  const std::vector<std::int64_t> sizes(catalog.size.begin(), catalog.size.end());
  const std::vector<double> ones(sizes.begin(), sizes.end());
  io::SwiftGroups groups{
      .masses = catalog.weight.empty() ? ones : catalog.weight, .centres = catalog.center, .sizes = sizes};
  for (std::size_t k = 0; k < metric.box.size(); ++k) groups.box[k] = metric.box[k].hi - metric.box[k].lo;
  if (arguments.given("cgs")) {
    const Words units = split_list("cgs", arguments.text("cgs"));
    groups.length_unit = unit(units[0]);
    groups.mass_unit = unit(units[1]);
  } else if (!arguments.flag("quiet")) {
    say("SWIFT's catalogue has units: Mpc and 10^10 solar masses are taken; --cgs gives others");
  }
  io::write_swift_groups(arguments.text("catalog"), groups, overwrite(arguments));
}

}  // namespace epsflow::cli
