// Columns of equal length in an HDF5 file, from which points are made, whatever its layout.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <epsflow/io/file_points.hpp>
#include <epsflow/io/read/hdf5/hdf5_file.hpp>
#include <epsflow/io/read/value_sink.hpp>

namespace epsflow::io {

/// A member of a table, or the row of a matrix: every row of the data set has one or more values of it.
struct Hdf5Member {
  std::string name = {};              ///< empty for a matrix
  std::vector<hsize_t> extents = {};  ///< extents of a member that is an array
  std::uint64_t elements = 1;
  bool is_number = false;
  bool is_float32 = false;
  bool is_wide_integer = false;  ///< true for integers of more than 53 bits
  bool is_unsigned = false;
  std::string type = {};  ///< name of the type for errors, unless it is a number
};

/// The description of a data set of rows. Attributes of netCDF give the meaning of its values.
struct Hdf5Dataset {
  std::string path;
  ObjectHandle id;
  std::string why_not = {};  ///< reason why it cannot give points; empty if it can
  bool is_table = false;
  int axes = 0;
  std::uint64_t rows = 0;
  std::vector<Hdf5Member> members = {};
  /// The type of its integers, if netCDF's _Unsigned makes signed integers unsigned or the other way round.
  std::optional<TypeHandle> netcdf_type = {};
  std::vector<double> missing = {};  ///< values that mark a missing value
  double scale = 1;                  ///< netCDF's scale_factor: a value is stored · scale + offset
  double offset = 0;                 ///< netCDF's add_offset
  /// The value of every row, if it is stored outside of a data set; `id` is then invalid.
  std::optional<double> constant = {};

  [[nodiscard]] bool is_scaled() const noexcept { return scale != 1 || offset != 0; }
};

/// A column: some consecutive values of a member in each row.
struct Hdf5Column {
  std::size_t dataset = 0;          ///< index into Hdf5Columns::datasets
  std::size_t member = 0;           ///< index into Hdf5Dataset::members
  std::uint64_t first_element = 0;  ///< index of its first value in the member
  std::uint64_t elements = 1;
};

/// The columns from which points may be made, and the data sets that hold them.
struct Hdf5Columns {
  std::string kind;  ///< as InputRows::kind
  std::vector<Hdf5Dataset> datasets;
  std::vector<Hdf5Column> columns;
  ColumnList available;
  std::vector<std::string> standard = {};  ///< columns that are the coordinates by default; empty: all
  std::vector<double> box = {};            ///< sides of the periodic box of the columns x, y, z; empty without one
  std::uint64_t pieces = 1;                ///< as InputRows::pieces
  bool is_chosen = false;  ///< true if ReadOptions::columns has been applied: all columns become coordinates
};

/// Opens a data set and describes it. Sets why_not if it cannot give points. Throws as Hdf5File::open_dataset(), and
/// InputError if the library fails or a member of a table is damaged.
[[nodiscard]] Hdf5Dataset describe_hdf5_dataset(const Hdf5File& file, const std::string& path);

/// Reads `count` rows from `first` on to `rows`, converted to a type in memory: the type of a value, or of a row if the
/// data set is a table. Throws as throw_unread().
void read_rows(const Hdf5Dataset& dataset, hid_t type, std::uint64_t first, std::uint64_t count, void* rows,
               const Source& source);

/// Returns the columns of one data set: members of a table, or columns of a matrix.
[[nodiscard]] Hdf5Columns columns_of_dataset(const Hdf5File& file, const std::string& path);

/// Appends a column and its name.
void add_column(Hdf5Columns& all, const Hdf5Column& column, std::string name);

/// True if points can be made of the columns that the options select. Throws UsageError as select_elements().
[[nodiscard]] bool is_suitable(const Hdf5Columns& all, const Source& source);

/// Reads the chosen columns, in the rows that ReadOptions::share selects, and puts them into `points`. memory_taken:
/// bytes of ReadOptions::memory that the file itself takes. Throws InputError if they cannot be points.
void read_columns(const Hdf5Columns& all, const Hdf5File& file, std::uint64_t memory_taken, ValueSink& points);

// The next three functions are about the chunks in which a data set is stored (hdf5_chunks.cpp).

/// Returns the number of rows to read at once: whole chunks, so that none is unpacked twice, and about 8 MiB or more.
/// It may exceed the rows of the data set.
[[nodiscard]] std::uint64_t rows_per_block(const Hdf5Dataset& dataset, std::uint64_t row_bytes);

/// Throws InputError if parts of the data set were never written and it has no fill value, because the library would
/// read zeros, or if the stored size differs from the size of the shape, because the library would read past the end.
/// Virtual and external data sets are not checked.
void require_written(const Hdf5Dataset& dataset, const Source& source);

/// Throws InputError for values that could not be read, with the library's reason: damage, or a filter that it lacks.
/// Chunks that a filter could not shrink are stored without it, so that only the attempt to read them shows whether it
/// is needed.
[[noreturn]] void throw_unread(const Hdf5Dataset& dataset, const Source& source, std::string_view doing);

// The next two functions are about snapshots of SWIFT, Gadget-4 and Arepo, programs for cosmological simulations:
// /Header, /PartType0 to /PartType6 (hdf5_snapshot.cpp).

/// True if /Header has NumPart_ThisFile, for six types or more, and if NumPart_Total counts particles or one of the
/// groups /PartType0 to /PartType6 exists. Catalogues of groups by the same programs count no particles.
[[nodiscard]] bool is_snapshot(const Hdf5File& file);

/// Returns the columns of the particles that ReadOptions::particles selects: x, y, z of Coordinates, vx, vy, vz of
/// Velocities, Masses (from Header/MassTable if only that has them), and all others that have numbers for each
/// particle. By default, x, y, z are the coordinates, in the box Header/BoxSize. If only other files of the snapshot
/// have such particles, the columns have no rows, and every name in the options counts as a column. Throws InputError
/// if the snapshot has no such particles, naming the types that it has, for a header with invalid counts or box, and if
/// Coordinates are missing or do not fit the counts.
///
/// Source: github.com/SWIFTSIM/SWIFT, src/common_io.c; the Gadget-4 manual, section "Snapshot file format".
[[nodiscard]] Hdf5Columns columns_of_snapshot(const Hdf5File& file);

}  // namespace epsflow::io
