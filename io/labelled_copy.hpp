// The input with the labels beside it: what somebody draws, or looks an object up in.
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

/// Writes files with the columns of the input, in its order, and behind them `label` (int32, −1 is noise) and, where asked
/// for, `core` (0 or 1).
///
/// From text to CSV and from FITS to FITS every column of the input is copied as it is, and every row: a dropped one has no
/// label (an empty field; TNULL). That takes regular files, and plain ones for FITS. Otherwise the coordinates alone are
/// written, of points alone, under the names of their columns, or x and their number; before them `row`, the row of the
/// input from 0 through all files, where rows were dropped or files joined; in HDF5 as a data set `labelled` of compound
/// elements.
class LabelledCopy {
 public:
  /// `points` are those that read_points(files, options) gave, and must outlive this. Looks at the files once more and
  /// finds out whether they can be copied: to be done before the labels are computed. Throws UsageError for a format that
  /// is none of kLabelledFormats or that this build leaves out, InputError where files differ in their columns, and where
  /// a column has the name of one that is to be added.
  LabelledCopy(std::vector<std::filesystem::path> files, ReadOptions options, const FilePoints& points,
               OutputFormat format, bool core, Metric metric = {});

  /// Why the coordinates alone are written, in words; empty where all columns are copied.
  [[nodiscard]] const std::string& limit() const noexcept { return limit_; }
  /// What the files hold that no copy has, in words, as comments of text and other extensions of FITS; empty where there is nothing,
  /// and where limit() is not.
  [[nodiscard]] const std::string& left_out() const noexcept { return left_out_; }
  /// What the files are made of beside the labels: what is made of the same is the same.
  [[nodiscard]] std::string contents() const;
  /// About how many bytes one copy takes.
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

  /// Writes `file` anew, which errors call `target`; not atomic. The result is of the points. Copying reads the files
  /// again, blockwise. Throws InputError where they have changed since, ResourceError where they cannot be written.
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
  std::vector<std::string> names_;  ///< of the columns of the input that are written
  std::uint64_t bytes_ = 0;
};

}  // namespace epsflow::io
