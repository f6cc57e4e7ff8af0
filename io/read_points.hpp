// Reads points: text, NPY, NPZ, FITS, HDF5, Parquet, Arrow and raw files become one data set.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <epsflow/core/choices.hpp>
#include <epsflow/core/option.hpp>
#include <epsflow/io/file_points.hpp>

namespace epsflow::io {

/// What to do with a row that holds NaN, infinity or no value in a used column. `keep` is for read_columns() only: NaN
/// and infinity stay, a missing value becomes NaN, and times become seconds: ISO 8601 in text since 1970 (UTC), times
/// of Parquet and Arrow as for parquet_reader() in io/read/readers.hpp.
enum class NanPolicy : std::uint8_t { error, drop, keep };

/// How to read a raw little-endian file, which has no header.
struct RawLayout {
  std::size_t dims = 0;  ///< values in each row of the file, 1 to kMaxDims, the weight included; 0: not given
  /// If it is empty, the extension .f32 or .f64 decides; other files are read as float64. A precision that contradicts
  /// the extension is a UsageError.
  std::optional<Precision> precision = {};
};

/// How to read a text table.
struct TextLayout {
  enum class Header : std::uint8_t { automatic, yes, no };

  /// Whether the first row holds the names of the columns. Automatic: it does if it holds text and no number, and a
  /// number follows below its text. If it holds no text or has a number, names are taken from a comment line right
  /// before it that has a name for each column. If the first row could be names or data, read_points() throws
  /// InputError, which suggests setting this option.
  Header header = Header::automatic;
  /// The character between fields; ' ' stands for runs of blanks and tabs. '\0': detected from the first rows.
  char delimiter = '\0';
  char decimal = '.';
  /// Lines that begin with this are skipped, but not those that begin with a mark of spreadsheets such as #N/A or
  /// #DIV/0!. Empty: the text has no comments.
  std::string comment = "#";
  /// Lines to skip before anything else.
  std::uint64_t skip_rows = 0;
};

/// One of `count` shares of n rows of a file: from row n · index / count, rounded down, up to the row before
/// n · (index + 1) / count, rounded down. `index` must be less than `count`.
struct RowShare {
  std::uint64_t index = 0;
  std::uint64_t count = 1;
};

/// The particles of a snapshot, by the number of their type.
enum class Particles : std::uint8_t { gas, dark_matter, type2, type3, stars, black_holes, type6 };

struct ReadOptions {
  /// Columns to use as coordinates, in this order; all must be numeric. An entry is a name, a number from 0, a negative
  /// number from the end (-1: the last column), a range of numbers (0-2) or one value of a column of vectors (pos[0]).
  /// An entry that is the name of a column selects that column, even if it looks like a number. Empty: x, y and z of a
  /// snapshot; of any other file the columns that `choose` returns, or every column except a weight column of one value
  /// and columns in which pandas stored an index.
  std::vector<std::string> columns = {};
  /// If `columns` is empty and the file names its columns, except in a snapshot, this is called with the names of the
  /// columns that would be coordinates without it. It returns the coordinates as indices into this list, in the order
  /// of the coordinates. If it returns no index, all columns of the list are coordinates.
  std::function<std::vector<std::size_t>(const std::vector<std::string>& names)> choose = {};
  /// The weight column, written like an entry of `columns`. If `columns` names this column too, it is also a
  /// coordinate. Weights are float64, whatever the type of the coordinates. raw.dims counts this column. Empty: points
  /// have no weights.
  std::string weight = {};
  /// FITS: extension number or EXTNAME (default: the first table). NPZ: name of the array (default: the only one that
  /// can be points). HDF5: path of a data set or a group (default: the particles of a snapshot, else the only data set
  /// that has the chosen columns; hdf5_reader() in io/read/readers.hpp lists all rules).
  std::string table = {};
  /// HDF5: which particles of a snapshot of a cosmological simulation to read. A file counts as a snapshot if its
  /// /Header has NumPart_ThisFile, if NumPart_Total counts particles or one of the groups /PartType0 to /PartType6
  /// exists, and if neither `table` nor paths in `columns` choose otherwise.
  Particles particles = Particles::dark_matter;
  NanPolicy on_nan = NanPolicy::error;
  RawLayout raw = {};
  TextLayout text = {};
  /// HDF5: read data sets that keep their values in other files (virtual and external storage).
  bool external_storage = false;
  /// Bytes that the points may take, their weights included, together with a file that read_points() must hold in
  /// memory as a whole. A file that needs more is refused before its points are read, a text as soon as the points that
  /// were read from it need more.
  std::uint64_t memory = std::numeric_limits<std::uint64_t>::max();
  /// Which rows of each file to read, if several processes read it together. Not supported for text and NPZ files.
  RowShare share = {};
};

}  // namespace epsflow::io

namespace epsflow {

template <>
struct Choice<io::NanPolicy> {
  static constexpr std::string_view kType = "NanPolicy";
  static constexpr std::array kWords{Word{"error", io::NanPolicy::error}, Word{"drop", io::NanPolicy::drop}};
};
template <>
struct Choice<io::Particles> {
  static constexpr std::string_view kType = "Particles";
  static constexpr std::array kWords{Word{"dark-matter", io::Particles::dark_matter},
                                     Word{"gas", io::Particles::gas},
                                     Word{"stars", io::Particles::stars},
                                     Word{"black-holes", io::Particles::black_holes},
                                     Word{"0", io::Particles::gas},
                                     Word{"1", io::Particles::dark_matter},
                                     Word{"2", io::Particles::type2},
                                     Word{"3", io::Particles::type3},
                                     Word{"4", io::Particles::stars},
                                     Word{"5", io::Particles::black_holes},
                                     Word{"6", io::Particles::type6}};
};
template <>
struct Choice<io::TextLayout::Header> {
  static constexpr std::string_view kType = "Header";
  static constexpr std::array kWords{Word{"auto", io::TextLayout::Header::automatic},
                                     Word{"yes", io::TextLayout::Header::yes}, Word{"no", io::TextLayout::Header::no}};
};
template <>
std::span<const Option<io::ReadOptions>> options_of<io::ReadOptions>() noexcept;

}  // namespace epsflow

namespace epsflow::io {

/// Reads a file as points. The format follows from the name: .npy, .npz, .fits .fit .fts, .h5 .hdf5 .hdf, .parquet
/// .parq .pq, .arrow .feather .ipc, .raw .bin .f32 .f64 (the last two set the precision). A file with another name,
/// such as .csv .tsv .txt .dat .asc, is recognised by its first bytes. If these identify no format, it is read as text,
/// or as raw if they are not text and options.raw.dims is set. Unmistakable first bytes win over a name. `-` is
/// standard input. All may be gzipped, but a file that is named as raw is unpacked only if .gz follows, as in .raw.gz.
/// If all coordinate columns are float32, so are the points; otherwise, and from text always, they are float64.
///
/// Complexity: one pass over the file. Peak memory: the points and some blocks, which for Arrow files are record
/// batches; with weights, the points once more. A FITS, HDF5, Parquet, Arrow, raw or NPZ file that is gzipped or comes
/// from a pipe is first held in memory as a whole, which adds its unpacked size. Safe to call from several threads.
///
/// FITS, HDF5, Parquet and Arrow files are read by another program, epsflow-reader. If the environment variable
/// EPSFLOW_READER is set, it names this program. Otherwise the program is searched beside the running one and where
/// epsflow was installed.
///
/// Throws InputError naming file, row and column. The row is a data row, counted from 0 with dropped rows included; for
/// text the line is named, too. An integer beyond 2^53 that float64 would round is such an error. Throws UsageError for
/// options, options.share included, that do not fit the format, and for a format that this build leaves out. Throws
/// ResourceError if the points exceed options.memory or epsflow-reader is not found or is killed.
[[nodiscard]] FilePoints read_points(const std::filesystem::path& file, const ReadOptions& options = {});

/// Values of columns that are not coordinates.
struct ColumnsBeside {
  std::vector<std::vector<double>> values;  ///< [columns] [n], NaN if a value is missing
  std::vector<std::size_t> numbers;         ///< [columns] numbers of these columns in the files, from 0
};

/// Returns the values of `columns` at each point. `files` and `options` must be those that gave `points`; the
/// coordinate and weight columns in `options` are ignored, and on_nan too: NanPolicy::keep applies. `columns` are
/// entries as in ReadOptions::columns, of one column each. Reads the files a second time. Throws as read_points();
/// UsageError if a file is not regular or an entry selects several columns; InputError if the files have changed since.
[[nodiscard]] ColumnsBeside read_columns(const std::vector<std::filesystem::path>& files, const ReadOptions& options,
                                         const std::vector<std::string>& columns, const FilePoints& points);

/// Reads several files of one format as one data set: the rows of a file follow the rows of the file before it. The
/// points are float32 if the points of every file are. Peak memory: the points, plus the points of the largest file.
/// Throws as for one file; UsageError without files or for files of different formats; InputError if they differ in the
/// number of columns, in the periodic box or, unless options.columns chooses, in the names of columns.
[[nodiscard]] FilePoints read_points(const std::vector<std::filesystem::path>& files, const ReadOptions& options = {});

}  // namespace epsflow::io
