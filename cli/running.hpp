// The common parts of commands that run the library: options, the description of the run, the machine.
#pragma once

#include <array>

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

/// Returns the options that choose the variants: --eps with --minpts, or --variants.
[[nodiscard]] OptionGroup sweep_options();
/// Returns the variants of the command line. also: further options that are required, as the operand is. Throws
/// UsageError that names all missing options, for invalid values, and for --variants beside --eps or --minpts.
[[nodiscard]] Sweep parse_sweep(const Arguments& arguments, const Words& also = {});

/// Returns --eps and --minpts for commands with one variant.
[[nodiscard]] std::vector<OptionSpec> variant_options();
/// Returns the variant of these options. Throws UsageError as parse_sweep(), and if there are several variants.
[[nodiscard]] Sweep parse_variant(const Arguments& arguments, const Words& also = {});

/// Return the options for the machine, the search and the run. Labels never depend on them.
[[nodiscard]] OptionGroup machine_options();
[[nodiscard]] OptionGroup several_gpus_options();
[[nodiscard]] OptionGroup search_options();
[[nodiscard]] OptionGroup run_options();

struct RunSettings {
  EngineOptions engine;
  RunOptions run;
  parts::DeviceOptions devices;

  /// Sets the backend: to the GPU if `devices` names GPUs, else by choose_backend() if the command line leaves it open.
  /// n, dims: the shape of the points.
  void resolve(std::uint64_t n, std::size_t dims, const Metric& metric);
};

/// Returns the settings of the command line. Throws UsageError for invalid options, ResourceError for unsupported ones.
[[nodiscard]] RunSettings parse_run_settings(const Arguments& arguments);

/// Reads the points of a command, and resolves points, metric and backend. Throws as Input::read_resolved().
[[nodiscard]] inline io::FilePoints read_points(Input& input, RunSettings& settings) {
  io::FilePoints points = input.read_resolved();
  settings.resolve(points.size(), points.dims(), input.metric);
  return points;
}

/// The given options and their values, for results and pages.
using InputOptions = std::vector<std::pair<std::string, std::string>>;
[[nodiscard]] inline InputOptions parse_given(const Arguments& arguments) {
  return {arguments.all_given().begin(), arguments.all_given().end()};
}

/// The options that name columns beside the coordinates, in commands with one data set.
inline constexpr std::array kColumnsBeside{"weight", "stats", "velocity"};
/// Adds --columns to the options of a run if one of these is among them, because commands without it would read its
/// column as a coordinate. names, numbers: the columns that were read.
void name_columns(InputOptions& options, const Words& names, const std::vector<std::size_t>& numbers);

/// Returns the description of the run for a results folder. Queries the GPU only if it may be used.
[[nodiscard]] io::RunDescription describe_run(const InputOptions& given, const Metric& metric, BackendChoice backend);

/// Returns the name of the processor from the operating system, or its architecture if there is no name.
[[nodiscard]] std::string processor_name();

}  // namespace epsflow::cli
