// What a sweep does with its results folder, whether one process makes it or several.
#pragma once

#include <chrono>

#include <epsflow/cli/running.hpp>
#include <epsflow/io/results/results_names.hpp>

namespace epsflow::cli {

/// Returns the options that ask for outputs of the results folder which have this property; null: for any.
[[nodiscard]] Words options_of_outputs(bool io::ResultsOutput::*property);

/// Returns what the options ask the results folder to hold, by kResultsOutputs. Throws UsageError if this build does
/// not write a format that is asked for.
[[nodiscard]] io::FolderOutputs parse_folder_outputs(const Arguments& arguments);

struct SweepCommand {
  bool of_table = false;  ///< the input is a table of neighbours
  Sweep sweep;
  io::FolderMode mode = io::FolderMode::fresh;
  RunSettings settings;
  Input input;
  std::string out;            ///< the folder
  io::FolderOutputs outputs;  ///< of the folder
  std::string report;         ///< the page to write, or empty
  bool lineage = false;       ///< the folder is to tell how clusters lie in each other
  GivenOptions given;
};

/// Parses what one process and several have in common. Throws UsageError. What one process or several do not do is
/// checked there.
[[nodiscard]] SweepCommand parse_sweep_command(const Arguments& arguments);

/// Returns those that the folder holds and those that are missing, by eps, then minpts.
[[nodiscard]] std::vector<Variant> all_variants(const io::ResultsFolder& folder, const std::vector<Variant>& missing);
/// Returns whether all variants of the folder are to be clustered together, as their clusters are to be tied to each
/// other; those that are there are not made again otherwise. An exploration has a lineage of its own.
[[nodiscard]] bool lineage_is_missing(const io::ResultsFolder& folder, const std::vector<Variant>& missing);

/// A sweep while it is made, and how it ends. All that it is given must outlive it.
class SweepRun {
 public:
  /// folder: null on ranks that have none. points: of all ranks. metric: null for a table of neighbours. variants:
  /// those that are made.
  SweepRun(const SweepCommand& command, io::ResultsFolder* folder, const io::ResultsInput& input, const Metric* metric,
           std::size_t variants)
      : command_(command), folder_(folder), input_(input), metric_(metric), variants_(variants) {}

  [[nodiscard]] Trace& trace() noexcept { return trace_; }
  /// Finishes the folder, and prints what it holds: a table and where its files are, or JSON with --json, or nothing
  /// with --quiet. Of a sweep that was interrupted it says how to go on.
  void finish(std::string_view status) const;
  /// Finishes the folder of a sweep that has failed for this reason.
  void fail(const std::string& reason) const;

 private:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }
  void print_as_json(std::string_view status, double seconds) const;
  [[nodiscard]] std::string what_is_left() const;

  const SweepCommand& command_;
  io::ResultsFolder* folder_;
  const io::ResultsInput& input_;
  const Metric* metric_;
  std::size_t variants_;
  Trace trace_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace epsflow::cli
