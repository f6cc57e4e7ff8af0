// A copy of the input with a label for each row, to plot it and to look up objects.
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

/// The columns that a copy has besides the label.
struct AddedColumns {
  bool core = false;
  bool probability = false;
};

/// Writes files with the columns of the input, in its order, followed by `label` (int32, −1 is noise) and, if
/// requested, `core` (0 or 1) and `probability` (float64).
///
/// There are two cases:
///
/// - From text to CSV and from FITS to FITS, every column and every row is copied as it is. A dropped row has no
///   label: the field is empty in CSV, and the null value (TNULL) in FITS. So is `core`. Its `probability` is NaN in
///   FITS, or 0 in an ASCII table. The input must be regular files. FITS files must not be gzipped.
/// - Otherwise only the coordinates are written, and only for rows that became points. A column has its name from the
///   input, or else x and its number. If PointsOrigin::renumbered(), a column `row` comes first: the row of the input,
///   counted from 0 through all files. In HDF5 all of it is one data set `labelled` of compound elements.
class LabelledCopy {
 public:
  /// `points` must be the result of read_points(files, options), and must outlive this object. Opens the files again to
  /// find out whether they can be copied. Create it before the labels are computed. Throws UsageError for a format that
  /// is not in kTableFormats, that this build leaves out or that cannot hold such points, and for another number of
  /// files than `points` has. Throws InputError if a column has the name of an added one; if all columns are copied,
  /// also if the files differ in their columns or have changed; otherwise, unless the format is CSV, if two coordinates
  /// have the same name.
  LabelledCopy(std::vector<std::filesystem::path> files, ReadOptions options, const FilePoints& points,
               OutputFormat format, AddedColumns added, Metric metric = {});

  /// Returns the reason why only the coordinates are written, in words; empty if all columns are copied.
  [[nodiscard]] const std::string& limit() const noexcept { return limit_; }
  /// Describes in words the parts of the files that are not copied. For text: lines before the first row, such as
  /// comments and units (comments between rows are not mentioned). For FITS: keywords of the primary header, and other
  /// extensions. Empty if there are none, and whenever limit() is not empty.
  [[nodiscard]] const std::string& left_out() const noexcept { return left_out_; }
  /// Returns a text that decides whether an older copy is still valid: two copies with the same text, format and labels
  /// are the same, as long as the coordinates are. It has the names of the columns that are copied, in their order. If
  /// all columns are copied, it also has the fingerprints of the input files; if not, a checksum of the dropped rows if
  /// a copy has the column `row`.
  [[nodiscard]] std::string contents() const;
  /// Returns about how many bytes one copy takes.
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

  /// Writes the copy to `file`, not atomically. Overwrites an existing file; for FITS there must be none. Errors name
  /// `target` in place of `file`. `result` must belong to the points of the constructor, and have core flags if `core`
  /// is requested. If all columns are copied, reads the input files again, blockwise. Throws InputError if they have
  /// changed since they were read, ResourceError if `file` cannot be written. probabilities: [n], or empty without the
  /// column; else throws UsageError.
  void write(const std::filesystem::path& file, const std::filesystem::path& target, const VariantResult& result,
             std::span<const double> probabilities = {}) const;
  /// Writes a copy without probabilities, atomically. Errors also as commit_file().
  void write(const std::filesystem::path& target, const VariantResult& result, Overwrite overwrite) const;

 private:
  void find_names();
  void require_free_names() const;
  void require_unchanged() const;

  std::vector<std::filesystem::path> files_;
  ReadOptions options_;
  const FilePoints& points_;
  OutputFormat format_;
  AddedColumns added_;
  Metric metric_;
  std::string limit_;
  std::string left_out_;
  std::vector<std::string> names_;       ///< columns of the input that are written
  std::vector<std::int64_t> rows_ = {};  ///< [n] the row of each point, if the copy has a column of it
  std::uint64_t bytes_ = 0;
};

}  // namespace epsflow::io
