// What commands are made of, and how they run the library: options, description of the run, machine.
#pragma once

#include <epsflow/cli/commands.hpp>
#include <epsflow/cli/input.hpp>
#include <epsflow/cli/interrupt.hpp>
#include <epsflow/cli/outputs.hpp>
#include <epsflow/cli/progress_report.hpp>
#include <epsflow/core/points.hpp>
#include <epsflow/core/sweep.hpp>
#include <epsflow/io/results/results_folder.hpp>
#include <epsflow/parts/sweep.hpp>

namespace epsflow::cli {

/// Returns the options that say which variants: --eps with --minpts, or --variants.
[[nodiscard]] OptionGroup sweep_options();
/// Returns the variants that the command line asks for. Throws UsageError; what is missing is named together with those
/// of `also` that are.
[[nodiscard]] Sweep parse_sweep(const Arguments& arguments, const Words& also = {});

/// Returns --eps and --minpts of commands that cluster under one variant.
[[nodiscard]] std::vector<OptionSpec> variant_options();
/// Returns that variant. Throws as parse_sweep().
[[nodiscard]] Sweep parse_variant(const Arguments& arguments, const Words& also = {});

/// Return the options that say what to use of the machine, how to search and how to run: labels never depend on them.
[[nodiscard]] OptionGroup machine_options();
[[nodiscard]] OptionGroup several_gpus_options();
[[nodiscard]] OptionGroup search_options();
[[nodiscard]] OptionGroup run_options();

struct RunSettings {
  EngineOptions engine;
  RunOptions run;
  parts::DeviceOptions devices;

  /// Has the backend be choose_backend()'s if the command line leaves it open. n, dims: of the points.
  void settle(std::uint64_t n, std::size_t dims, const Metric& metric);
};

/// Returns what the command line says about the run. Throws UsageError, ResourceError for what no run, or this machine,
/// can have.
[[nodiscard]] RunSettings parse_run_settings(const Arguments& arguments);

/// Reads the points of a command, and settles them, the metric and the backend. Throws as Input::read_settled().
[[nodiscard]] inline io::FilePoints read_points(Input& input, RunSettings& settings) {
  io::FilePoints points = input.read_settled();
  settings.settle(points.size(), points.dims(), input.metric);
  return points;
}

/// Options and their values as they were given, for results and pages.
using GivenOptions = std::vector<std::pair<std::string, std::string>>;
[[nodiscard]] inline GivenOptions parse_given(const Arguments& arguments) {
  return {arguments.all_given().begin(), arguments.all_given().end()};
}

/// Returns what a results folder says of the run. The GPU is looked at only if it may be used.
[[nodiscard]] io::RunDescription describe_run(const GivenOptions& given, const Metric& metric, BackendChoice backend);

/// Returns the name of the processor as the system tells it, or else its architecture.
[[nodiscard]] std::string processor_name();

}  // namespace epsflow::cli
