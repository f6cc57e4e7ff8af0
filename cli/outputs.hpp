// The single files that commands write: checks of their names before anything is read, and rows beside labels.
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

/// The files that a command reads and writes. Inputs are its operands, if these are files, and the files and folders of
/// options that do not write.
class Outputs {
 public:
  explicit Outputs(const Arguments& arguments);

  /// Returns the file that is given with `option`, else the option's default, else an empty string. It must have the
  /// extension of one of `formats`, and its folder must be writable. It must not be an existing file without
  /// --overwrite, a file that another option writes, an input, or a file of a results folder that is an input. "-" is
  /// standard output, which must not be given together with --json. Throws UsageError, ResourceError.
  std::string take(std::string_view option, std::span<const io::OutputFormat> formats);
  /// Calls take() for --out, beside which write_rows() may write NAME.rows.npy: the input row of each point. This file
  /// must not be a file that an option writes, nor an input. It may exist only if --overwrite is given and epsflow
  /// wrote it (io::is_marked_npy()).
  std::string take_with_rows(std::span<const io::OutputFormat> formats);
  /// Returns the file of a page for a browser, as take() does. Its name must end in .html or .htm. `replaces` decides
  /// instead of --overwrite if it may exist. Throws UsageError, ResourceError.
  std::string take_page(std::string_view option, io::Overwrite replaces);

  /// Adds files to the inputs.
  void add_inputs(const Words& files) { inputs_.insert(inputs_.end(), files.begin(), files.end()); }
  [[nodiscard]] const std::vector<std::filesystem::path>& inputs() const noexcept { return inputs_; }
  [[nodiscard]] io::Overwrite overwrite() const noexcept { return overwrite_; }
  /// Returns true if a summary is printed: not with --quiet, and not if take() has returned standard output.
  [[nodiscard]] bool has_summary() const noexcept { return !messages_.quiet && !streamed_; }

  /// Prints the result: as JSON with --json, otherwise the line if has_summary().
  void print(const nlohmann::ordered_json& json, const std::string& line) const;

  // take_with_rows() must be called before the next three.

  /// Removes an old NAME.rows.npy if --overwrite is given. Must be called before --out is written, so that rows never
  /// lie beside another result.
  void remove_rows() const;
  /// If rows were dropped, files joined, or the first rows not read: writes NAME.rows.npy, or, if --out is not a file,
  /// prints which rows `what`, such as "distances", belong to, unless --quiet is given.
  void write_rows(const io::FilePoints& points, std::string_view what) const;
  /// Removes old rows, writes the labels to --out if it is given, and calls write_rows() if there are labels in --out
  /// or a mask of core points.
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
