#include <epsflow/cli/running.hpp>
#include <epsflow/io/checksum.hpp>
#include <epsflow/io/read/source.hpp>

namespace epsflow::cli {

OptionGroup table_options() {
  return {"A table of neighbours in place of points",
          {flag("neighbors",
                "FILE is a table that epsflow neighbors wrote: with distances for every eps up to its own, without for "
                "that eps")}};
}

void require_table_options(const Arguments& arguments, const Words& more) {
  const auto refuse = [&](const std::string& name) {
    if (!arguments.given(name)) return;
    throw usage_error("--{} is about points, and --neighbors reads a table of their neighbours; leave one of them out",
                      name);
  };
  for (const OptionGroup& group :
       {metric_options(), input_options(), several_gpus_options(), search_options(), run_options()}) {
    for (const OptionSpec& option : group.options) refuse(option.name);
  }
  for (const std::string& name : more) refuse(name);
  if (arguments.operands().size() != 1) {
    throw usage_error("--neighbors takes one table, and {} files are named; give one", arguments.operands().size());
  }
}

TableInput read_table(const Input& input) {
  const std::string& file = input.files.front();
  TableInput read{.table = io::read_neighbors(file, input.options.memory), .origin = {}};
  const NeighborsView table = read.table.view();
  read.origin.inputs.push_back({.name = file, .kind = "HDF5 table of neighbours", .rows = table.size()});
  input.messages.tell("{}: {} within {}; {}, {}, with{} distances", io::show_name(file),
                      read.origin.inputs.front().kind, format_number(table.eps), format_count(table.size(), "row"),
                      format_count(table.ids.size(), "pair"), table.distances.empty() ? "out" : "");
  return read;
}

io::ResultsInput results_input(const TableInput& input) {
  const NeighborsView table = input.table.view();
  io::Checksum checksum;
  checksum.add(fmt::format("neighbors {}", table.eps));
  checksum.add(std::as_bytes(table.offsets));
  checksum.add(std::as_bytes(table.ids));
  checksum.add(std::as_bytes(table.distances));
  return {.origin = input.origin, .points = table.size(), .checksum = "crc32:" + io::format_checksum(checksum.value())};
}

}  // namespace epsflow::cli
