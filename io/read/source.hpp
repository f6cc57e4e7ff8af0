// What all readers share: the source that they name in errors, the choice of columns, the memory check, the NaN policy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <epsflow/io/file_points.hpp>
#include <epsflow/io/read_points.hpp>

namespace epsflow::io {

/// One file, or bytes that stand for one, and how to read it.
struct Source {
  std::string name;  ///< as errors name it
  const ReadOptions& options;
  std::uint64_t memory_taken = 0;  ///< bytes of options.memory that earlier files of the same data set hold
};

/// The columns that a file offers.
struct ColumnList {
  std::size_t count = 0;
  std::vector<std::string> names;  ///< count of them, or empty when the file has none
  bool ignore_case = false;        ///< FITS names its columns without regard to case

  /// As errors name a column: 'lat' or 3.
  [[nodiscard]] std::string label(std::size_t column) const;
  /// For errors: "a, b, c", or "0 to 2" without names; of many the first 40.
  [[nodiscard]] std::string describe() const;
};

/// The columns that source.options asks for as indices into `available`: by name, blanks around it aside, else by
/// 0-based number, -1 for the last one, or a range such as 0-2; all of them when none is asked for. Throws InputError
/// listing the columns there are, UsageError for one asked for twice.
[[nodiscard]] std::vector<std::size_t> select_columns(const Source& source, const ColumnList& available);

/// The names of the selected columns, or nothing without names.
[[nodiscard]] std::vector<std::string> selected_names(const ColumnList& available,
                                                      std::span<const std::size_t> selected);

/// The error for a selected column that holds no plain numbers; `type` says what it holds instead.
[[noreturn]] void throw_not_numeric(const Source& source, const ColumnList& available, std::size_t column,
                                    std::string_view type);

/// Bytes of options.memory that earlier files of the same data set have left.
[[nodiscard]] std::uint64_t memory_left(const Source& source) noexcept;

/// Whether n points in d dimensions fit what is left of the memory budget.
[[nodiscard]] bool fits_memory(const Source& source, std::uint64_t n, std::uint64_t dims, Precision precision);

/// The error for points that exceed the memory budget; `points` says which: "2 points".
[[noreturn]] void throw_over_memory(const Source& source, std::string_view points, std::uint64_t dims,
                                    std::uint64_t bytes);

/// Room for n × d coordinates. Throws InputError for sizes that no data set may have, ResourceError when the points
/// exceed the memory budget.
[[nodiscard]] FilePoints make_points(const Source& source, std::uint64_t n, std::uint64_t dims, Precision precision);

/// Drops the rows with NaN or infinity and counts them, or throws InputError naming the first, as the options say.
/// O(n·d).
void apply_nan_policy(FilePoints& points, const Source& source);

/// Text from a file as errors show it: in quotes, shortened between characters, and with control characters and bytes
/// that are no UTF-8 escaped, so that none reaches a terminal.
[[nodiscard]] std::string show_text(std::string_view text);

}  // namespace epsflow::io
