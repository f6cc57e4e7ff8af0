// The registry of file formats that points are read from, and files of these formats. Code that depends on the format
// of a file looks it up here. A new format is a record in all_formats() (format.cpp).
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <epsflow/io/file_points.hpp>
#include <epsflow/io/read/byte_stream.hpp>
#include <epsflow/io/read/library_file.hpp>
#include <epsflow/io/read/source.hpp>
#include <epsflow/io/read/value_sink.hpp>

namespace epsflow::io {

/// The functions that read a format; all null if the build leaves out the library of the format.
struct Reader {
  /// Reads the points from a stream, in this process.
  FilePoints (*read)(ByteStream& stream, const Source& source) = nullptr;
  /// Set in place of `read` if damaged files may crash the library: runs in a process of its own (child_reader.hpp).
  void (*parse)(const LibraryFile& file, const Source& source, ValueSink& points) = nullptr;
  /// Reads a neighbour table in such a process, if the format can hold one.
  void (*parse_neighbors)(const LibraryFile& file, const Source& source, ValueSink& table) = nullptr;
  std::string_view library = {};       ///< the library as errors name it: "cfitsio"
  std::string (*version)() = nullptr;  ///< returns the library and its version: "cfitsio 4.2.0"
};

struct Format {
  std::string_view name;                          ///< the name in messages: "NPY"
  std::vector<std::string_view> extensions = {};  ///< in lower case, with the dot
  /// The first bytes of its files, if these identify the format even for a file that is named as raw.
  std::string_view magic = {};
  /// Returns true if `bytes`, the first bytes of a file, identify the format, unless the file is named as raw: a raw
  /// file may resemble such a format by accident. Null for formats with `magic`, for text and for raw.
  bool (*begins)(std::string_view bytes) = nullptr;
  /// The members of ReadOptions that apply to this format and some others only, or the beginnings of their names:
  /// "raw."
  std::vector<std::string_view> takes = {};
  std::string_view needs = {};       ///< the build option that enables the format, if a build may leave it out
  std::string_view must_begin = {};  ///< first bytes that every file of the format must have, whatever its name
  std::string_view otherwise = {};   ///< the error if a file lacks them
  Reader reader = {};

  [[nodiscard]] bool usable() const noexcept { return reader.read != nullptr || reader.parse != nullptr; }
  /// True if the name of an option of ReadOptions, without its owner, begins with one of `takes`.
  [[nodiscard]] bool takes_option(std::string_view option) const;
};

/// Returns every format, including those that this build cannot read.
[[nodiscard]] std::span<const Format> all_formats();

/// Returns the format with this Format::name, which must exist.
[[nodiscard]] const Format& format_by_name(std::string_view name);

/// The parts of a file name that decide the format.
struct FileName {
  std::string extension;           ///< in lower case, with its dot, without .gz
  bool is_packed = false;          ///< true if the name ends in .gz
  const Format* format = nullptr;  ///< the format of the extension; null if it has none, as .csv
};

[[nodiscard]] FileName parse_name(const std::filesystem::path& file);

/// Returns the format of a file that begins with `bytes`: unpacked, at least a few hundred unless the file is shorter.
/// Unmistakable bytes win over the name. If neither bytes nor name identify a format, the file is text, or raw if the
/// bytes are not text and `raw_is_expected`. `shown` is the name of the file in errors.
///
/// Throws InputError, unless the file is named as raw, for files of other programs (ZIP, Excel, PDF, …), naming a
/// remedy, and for binary bytes that neither a name nor `raw_is_expected` explains.
[[nodiscard]] const Format& find_format(std::span<const char> bytes, const FileName& name, bool raw_is_expected,
                                        const std::string& shown);

/// Returns a fingerprint that changes whenever a regular file is written to: its identity, size, and time of last
/// change. Empty for any other file and for a missing one.
[[nodiscard]] std::string stamp_of(const std::filesystem::path& file);

/// An open file of a known format. Throws as open_stream() and find_format(), and InputError if it is empty.
struct InputFile {
  InputFile(const std::filesystem::path& file, const ReadOptions& options);

  std::string shown;  ///< the name in errors
  std::string stamp;  ///< stamp_of() the file, before it was opened
  FileName name;
  std::unique_ptr<ByteStream> bytes;
  const Format& format;
};

}  // namespace epsflow::io
