// The single files that commands write: their allowed names, and whether they may replace other files.
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

/// Prints a result as JSON. Replaces text that is not valid UTF-8, which file names may contain.
void print_json(const nlohmann::ordered_json& json);

/// The files that a command reads and writes. Inputs are its operands, and the files of options that do not write.
class Outputs {
 public:
  explicit Outputs(const Arguments& arguments);

  /// Returns the file of `option`, or an empty path if it is not given. Its name must have one of `formats`, and it
  /// must be writable. It must not be an existing file without --overwrite, a file that another option writes, an
  /// input, or a file of a results folder that is an input. Throws UsageError, ResourceError.
  std::string take(std::string_view option, std::span<const io::OutputFormat> formats);
  /// Calls take() for --out of a result with NAME.rows.npy beside it: the input row of each point, if rows were dropped
  /// or files joined. This file is checked in the same way, and replaced only if epsflow wrote it
  /// (io::is_marked_npy()).
  std::string take_with_rows(std::span<const io::OutputFormat> formats);
  /// Calls take() for a page for a browser, whose name must end in .html or .htm.
  std::string take_page(std::string_view option, io::Overwrite replaces);

  /// Adds files to the inputs.
  void add_inputs(const Words& files) { inputs_.insert(inputs_.end(), files.begin(), files.end()); }
  [[nodiscard]] const std::vector<std::filesystem::path>& inputs() const noexcept { return inputs_; }
  [[nodiscard]] io::Overwrite overwrite() const noexcept { return overwrite_; }
  /// Returns whether a summary is printed. It is not with --quiet, or if a file goes to standard output.
  [[nodiscard]] bool has_summary() const noexcept { return !messages_.quiet && !streamed_; }

  /// Prints the result: as JSON with --json, otherwise the line if has_summary().
  void print(const nlohmann::ordered_json& json, const std::string& line) const;

  /// Removes NAME.rows.npy before --out is replaced with --overwrite, so that rows never lie beside another result.
  void remove_rows() const;
  /// Writes NAME.rows.npy if rows are not point numbers. If there is no such file, as for standard output, prints which
  /// rows `what` belong to.
  void write_rows(const io::FilePoints& points, std::string_view what) const;
  /// Writes the labels to --out (if it is given) and the rows beside them, and removes old rows. Rows are also written
  /// for a mask of core points.
  void write_labels(const VariantResult& result, const io::FilePoints& points, const Metric& metric,
                    io::LabelNumbers numbers = io::LabelNumbers::label) const;

 private:
  [[nodiscard]] std::string named(std::string_view option) const;
  void require_no_other(std::string_view option, const std::string& file) const;
  void require_unread(const std::filesystem::path& file, io::Overwrite replaces) const;

  std::vector<std::pair<std::string, std::string>> written_;  ///< the options that write, and their files
  std::vector<std::filesystem::path> inputs_;
  Messages messages_;
  io::Overwrite overwrite_;
  std::string out_;             ///< the file of take_with_rows()
  std::filesystem::path rows_;  ///< the file of rows beside it; empty if --out is not a file
  bool streamed_ = false;       ///< whether one of the files is standard output
};

}  // namespace epsflow::cli
