// A copy of the input with a label for each row: for plotting, and for looking up objects.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <epsflow/core/labels.hpp>
#include <epsflow/core/metric.hpp>
#include <epsflow/core/points.hpp>
#include <epsflow/io/file_points.hpp>
#include <epsflow/io/read_points.hpp>
#include <epsflow/io/write_labels.hpp>

namespace epsflow::io {

/// Writes files with the columns of the input, in its order, and behind them `label` (int32, −1 is noise) and, where
/// asked for, `core` (0 or 1).
///
/// There are two cases:
///
/// - From text to CSV and from FITS to FITS everything is copied: every column as it is, and every row. A dropped row has no
///   label: the field is empty in CSV, and the null value (TNULL) in FITS. The input must be regular files. FITS files must not be
///   gzipped.
/// - Otherwise only the coordinates are written, and only of rows that became points. A column has its name from the input, or
///   else x and its number. Where rows were dropped or several files joined, a column `row` comes first: the row of the input,
///   counted from 0 through all files. In HDF5 all of it is one data set `labelled` of compound elements.
class LabelledCopy {
 public:
  /// `points` are those that read_points(files, options) gave, and must outlive this. Looks at the files once more and
  /// finds out whether they can be copied: to be done before the labels are computed. Throws UsageError for a format
  /// that is none of kTableFormats, that this build leaves out or that cannot hold such points, and InputError if files
  /// differ in their columns, or if a column has the name of one that is to be added.
  LabelledCopy(std::vector<std::filesystem::path> files, ReadOptions options, const FilePoints& points,
               OutputFormat format, bool core, Metric metric = {});

  /// Why the coordinates alone are written, in words; empty where all columns are copied.
  [[nodiscard]] const std::string& limit() const noexcept { return limit_; }
  /// Says in words what the copy leaves out of the files. For text: lines before the first row, such as comments and
  /// units. For FITS: keywords of the primary header, and other extensions. Comments between the rows of a text are
  /// left out, too, but not mentioned. Empty if nothing is to be mentioned, and whenever limit() is not empty.
  [[nodiscard]] const std::string& left_out() const noexcept { return left_out_; }
  /// A text by which to find out whether an older copy is still good. It names the columns of the input that a copy is
  /// made of, in their order. If all columns are copied, it holds the fingerprints of the input files as well; if not,
  /// a checksum of the row numbers that a copy holds. Two copies with the same text, format and labels are the same.
  [[nodiscard]] std::string contents() const;
  /// About how many bytes one copy takes.
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

  /// Writes the copy to `file`, which is created or overwritten; not atomic. Errors name `target` in place of `file`.
  /// `result` must belong to the points of the constructor. Where all columns are copied, this reads the input files
  /// again, blockwise. Throws InputError where these have changed since they were read, ResourceError where `file`
  /// cannot be written.
  void write(const std::filesystem::path& file, const std::filesystem::path& target, const VariantResult& result) const;
  /// The same, atomically. Errors as commit_file().
  void write(const std::filesystem::path& target, const VariantResult& result, Overwrite overwrite) const;

 private:
  void find_names();
  void require_free_names() const;
  void require_unchanged() const;

  std::vector<std::filesystem::path> files_;
  ReadOptions options_;
  const FilePoints& points_;
  OutputFormat format_;
  bool core_;
  Metric metric_;
  std::string limit_;
  std::string left_out_;
  std::vector<std::string> names_;       ///< of the columns of the input that are written
  std::vector<std::int64_t> rows_ = {};  ///< [n] the row of each point, if the copy has a column of it
  std::uint64_t bytes_ = 0;
};

}  // namespace epsflow::io
