// The single files that commands write: what they may be called, and whether they may replace others.
#pragma once

#include <nlohmann/json.hpp>
#include <span>

#include <epsflow/cli/arguments.hpp>
#include <epsflow/core/labels.hpp>
#include <epsflow/core/metric.hpp>
#include <epsflow/io/file_points.hpp>
#include <epsflow/io/write/atomic_file.hpp>
#include <epsflow/io/write_labels.hpp>

namespace epsflow::cli {

/// Returns --overwrite for commands that write single files.
[[nodiscard]] OptionSpec overwrite_option();

/// Prints a result as JSON. Text that is not UTF-8, as file names may be, is made so.
void print_json(const nlohmann::ordered_json& json);

/// What a command reads and writes, as far as options name it. Inputs are its operands, and the files of every option
/// that names one and does not write it.
class Outputs {
 public:
  explicit Outputs(const Arguments& arguments);

  /// Returns the file of `option`, or an empty path if it is not given. Its name has to say one of `formats`, it can be
  /// written, and it replaces neither another file without --overwrite, nor what another option of the command writes,
  /// nor ever an input, nor a file of a results folder that is one. Throws UsageError, ResourceError.
  std::string take(std::string_view option, std::span<const io::OutputFormat> formats);
  /// take() of --out for what has NAME.rows.npy beside it if rows were dropped or files joined: the input row of each
  /// point. That file may not be there without --overwrite either, is never one that epsflow did not write
  /// (io::is_marked_npy()), and is none that another option writes.
  std::string take_with_rows(std::span<const io::OutputFormat> formats);
  /// take() of a page for a browser, whose name must end in .html or .htm.
  std::string take_page(std::string_view option, io::Overwrite replaces);

  /// Has these files count as inputs, too.
  void add_inputs(const Words& files) { inputs_.insert(inputs_.end(), files.begin(), files.end()); }
  [[nodiscard]] const std::vector<std::filesystem::path>& inputs() const noexcept { return inputs_; }
  [[nodiscard]] io::Overwrite overwrite() const noexcept { return overwrite_; }
  /// Returns whether people are told of the result: nothing else may be printed beside a file on standard output.
  [[nodiscard]] bool has_summary() const noexcept { return !messages_.quiet && !streamed_; }

  /// Prints the result: as JSON with --json, else the line, if people are told of it.
  void print(const nlohmann::ordered_json& json, const std::string& line) const;

  /// Removes NAME.rows.npy before what it belongs to is replaced, with --overwrite: never do rows stand beside what is
  /// not theirs.
  void remove_rows() const;
  /// Writes NAME.rows.npy, if rows are needed to tell what --out is of. If there is no such place, as for standard
  /// output, a line says so of `what`.
  void write_rows(const io::FilePoints& points, std::string_view what) const;
  /// Writes the labels to --out, if it is given, and the rows beside them; NAME.rows.npy of other labels goes. Rows are
  /// also needed to tell what a mask of core points is of.
  void write_labels(const VariantResult& result, const io::FilePoints& points, const Metric& metric,
                    io::LabelNumbers numbers = io::LabelNumbers::label) const;

 private:
  [[nodiscard]] std::string named(std::string_view option) const;
  void require_no_other(std::string_view option, const std::string& file) const;
  void require_unread(const std::filesystem::path& file, io::Overwrite replaces) const;

  std::vector<std::pair<std::string, std::string>> written_;  ///< the options that are given, and what they name
  std::vector<std::filesystem::path> inputs_;
  Messages messages_;
  io::Overwrite overwrite_;
  std::string out_;             ///< that of take_with_rows()
  std::filesystem::path rows_;  ///< beside it; empty if it is no file
  bool streamed_ = false;       ///< one of the files is standard output
};

}  // namespace epsflow::cli
