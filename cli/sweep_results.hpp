// The results folder of a sweep, for one process or several.
#pragma once

#include <epsflow/cli/running.hpp>
#include <epsflow/core/stopwatch.hpp>
#include <epsflow/io/results/results_names.hpp>

namespace epsflow::cli {

/// Returns the options for outputs of the results folder that have this property; null: for all outputs.
[[nodiscard]] Words options_of_outputs(bool io::ResultsOutput::*property);

/// Returns the requested outputs, by kResultsOutputs. Throws UsageError if this build cannot write a requested format.
[[nodiscard]] io::FolderOutputs parse_folder_outputs(const Arguments& arguments);

struct SweepCommand {
  bool of_table = false;  ///< whether the input is a table of neighbours
  Sweep sweep;
  io::FolderMode mode = io::FolderMode::fresh;
  RunSettings settings = {};
  Input input = {};
  std::string out = {};            ///< the results folder
  io::FolderOutputs outputs = {};  ///< the outputs of the folder
  std::string report = {};         ///< the page to write, or empty
  InputOptions given = {};
};

/// Parses the options that sweeps of one process and of several ranks, and hdbscan (whose `sweep` is empty), have in
/// common. SweepCommand::report stays empty. Throws UsageError, ResourceError. Callers check the other options.
[[nodiscard]] SweepCommand parse_sweep_command(const Arguments& arguments, Sweep sweep);

/// Sets SweepCommand::report. Throws as Outputs::take_page().
void parse_report_of(const Arguments& arguments, SweepCommand& command);
/// Writes the page of the current contents of the folder. name: the name of the command. Throws as read_results(),
/// add_folder() and write_page().
void write_report(const SweepCommand& command, const std::string& name, const io::FilePoints& points);

/// Returns the writer of the files labelled/… of a results folder. The points, and `probabilities` if they are added,
/// must outlive it. Throws as Input::labelled_copy().
[[nodiscard]] io::VariantWriter labelled_writer(const Input& input, const io::FilePoints& points,
                                                const std::string& extension, io::AddedColumns added,
                                                const Buffer<double>* probabilities = nullptr);
/// Returns the variants of the folder and the missing ones, sorted by eps, then minpts.
[[nodiscard]] std::vector<Variant> all_variants(const io::ResultsFolder& folder, const std::vector<Variant>& missing);
/// Returns true if all variants of the folder must be clustered together, because no lineage links their clusters: if
/// variants are missing, or the folder lacks a lineage. The lineage of an exploration does not count, because it covers
/// only its own map.
[[nodiscard]] bool lineage_is_missing(const io::ResultsFolder& folder, const std::vector<Variant>& missing);

/// Runs a sweep whose results go to a folder, and finishes the folder. All arguments must outlive the object.
class SweepRun {
 public:
  /// folder: null on ranks without one. points: the points of all ranks. metric: null for a table of neighbours.
  /// variants: the number of variants that are made.
  SweepRun(const SweepCommand& command, io::ResultsFolder* folder, const io::ResultsInput& input, const Metric* metric,
           std::size_t variants)
      : command_(command), folder_(folder), input_(input), metric_(metric), variants_(variants) {}

  /// Calls make(observer), which adds results to the folder, and finishes the sweep. Returns kDone, or kInterrupted
  /// after Cancelled. Rethrows other exceptions of make() after fail(). The folder must not be null.
  [[nodiscard]] int run(const std::function<void(const Observer&)>& make);
  /// Finishes the folder, and prints JSON with --json. If status is "complete", prints a table of the variants and the
  /// paths, unless --json or --quiet is given. If status is "interrupted", always prints how to continue. The folder
  /// must not be null.
  void finish(std::string_view status) const;
  /// Finishes the folder of a sweep that failed for this reason, if there is a folder. Ignores ResourceError.
  void fail(const std::string& reason) const;

 private:
  void print_as_json(std::string_view status, double seconds) const;
  [[nodiscard]] std::string what_is_left() const;

  const SweepCommand& command_;
  io::ResultsFolder* folder_;
  const io::ResultsInput& input_;
  const Metric* metric_;
  std::size_t variants_;
  Trace trace_;
  Stopwatch time_;
};

}  // namespace epsflow::cli
