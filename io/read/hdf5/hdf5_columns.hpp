// Columns of equal length in an HDF5 file: what points are made of, whatever layout holds them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <epsflow/io/file_points.hpp>
#include <epsflow/io/read/hdf5/hdf5_file.hpp>
#include <epsflow/io/read/value_sink.hpp>

namespace epsflow::io {

/// What every row of a data set holds one or more of: a member of a table, or the row of a matrix.
struct Hdf5Member {
  std::string name = {};              ///< empty for a matrix
  std::vector<hsize_t> extents = {};  ///< of a member that is an array
  std::uint64_t elements = 1;
  bool is_number = false;
  bool is_float32 = false;
  bool is_wide_integer = false;  ///< of more than 53 bits
  bool is_unsigned = false;
  std::string type = {};  ///< for errors, where it is no number
};

/// A data set of rows, described. netCDF's attributes say what its values stand for.
struct Hdf5Dataset {
  std::string path;
  ObjectHandle id;
  std::string why_not = {};  ///< why it can be no points; empty where it can
  bool is_table = false;
  int axes = 0;
  std::uint64_t rows = 0;
  std::vector<Hdf5Member> members = {};
  /// The type of its integers by netCDF's _Unsigned, where that makes unsigned ones of signed ones or the other way round.
  std::optional<TypeHandle> netcdf_type = {};
  std::vector<double> missing = {};  ///< values that stand for none
  double scale = 1;
  double offset = 0;
  /// What every row holds, where the file has it elsewhere; then there is no id.
  std::optional<double> constant = {};

  [[nodiscard]] bool is_scaled() const noexcept { return scale != 1 || offset != 0; }
};

struct Hdf5Columns {
  struct Column {
    std::size_t dataset = 0;
    std::size_t member = 0;
    std::uint64_t first_element = 0;
    std::uint64_t elements = 1;
  };

  std::string kind;  ///< as InputRows::kind
  std::vector<Hdf5Dataset> datasets;
  std::vector<Column> columns;
  ColumnList available;
  std::vector<std::string> standard =
      {};                        ///< the columns that are the coordinates where none are asked for; empty: all
  std::vector<double> box = {};  ///< sides of the periodic box of the columns x, y, z; empty without one
  std::uint64_t pieces = 1;      ///< as InputRows::pieces
  bool is_chosen = false;        ///< ReadOptions::columns has chosen already: all columns become coordinates
};

/// Opens a data set and finds out what it holds.
[[nodiscard]] Hdf5Dataset describe_hdf5_dataset(const Hdf5File& file, const std::string& path);

/// Reads `count` rows from `first` on, as values of a type in memory. Throws as throw_unread().
void read_rows(const Hdf5Dataset& dataset, hid_t type, std::uint64_t first, std::uint64_t count, void* rows,
               const Source& source);

/// The columns of one data set: members of a table, or columns of a matrix.
[[nodiscard]] Hdf5Columns columns_of_dataset(const Hdf5File& file, const std::string& path);

/// Appends a column of one value per row.
void add_column(Hdf5Columns& all, const Hdf5Columns::Column& column, std::string name);

/// Whether points can be made of them with the columns that are asked for.
[[nodiscard]] bool is_suitable(const Hdf5Columns& all, const Source& source);

/// Reads all rows of the chosen columns. The file itself takes `memory_taken` bytes of the budget.
void read_columns(const Hdf5Columns& all, const Hdf5File& file, std::uint64_t memory_taken, ValueSink& points);

}  // namespace epsflow::io
