// The formats of files that points are read from: all that is known of each, and which of them a file is of. What depends on
// the format of a file asks here. A new one is a record in format.cpp and its place in all_formats().
#pragma once

#include <cstdint>
#include <filesystem>
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

/// Parts of ReadOptions that some formats have no use for.
enum class ReadOption : std::uint8_t { table, particles, external_storage, raw, text, share };

/// What reads the files of a format: nothing where the build leaves out the library that it takes.
struct Reader {
  /// Reads the points from a stream, in this process.
  FilePoints (*read)(ByteStream& stream, const Source& source) = nullptr;
  /// In its place, for a library that damaged files may crash: runs in a process of its own (child_reader.hpp).
  void (*parse)(const LibraryFile& file, const Source& source, ValueSink& points) = nullptr;
  /// Reads a table of neighbours, likewise, where the format has them.
  void (*parse_neighbors)(const LibraryFile& file, const Source& source, ValueSink& table) = nullptr;
  std::string_view library = {};       ///< as errors name it: "cfitsio"
  std::string (*version)() = nullptr;  ///< the library and its version: "cfitsio 4.2.0"
};

struct Format {
  std::string_view name;                          ///< as messages call it: "NPY"
  std::vector<std::string_view> extensions = {};  ///< in lower case, with the dot
  /// How files of it begin, where that is no accident even at the beginning of a raw file.
  std::string_view magic = {};
  /// Whether bytes that a raw file may begin with as well begin a file of it.
  bool (*begins)(std::string_view bytes) = nullptr;
  std::vector<ReadOption> takes = {};
  std::string_view needs = {};       ///< what takes it into a build, where that may leave it out
  std::string_view must_begin = {};  ///< with what its files begin without exception, whatever they are called
  std::string_view otherwise = {};   ///< the error where they do not
  Reader reader = {};

  [[nodiscard]] bool usable() const noexcept { return reader.read != nullptr || reader.parse != nullptr; }
};

/// Every format, whether this build reads it or not.
[[nodiscard]] std::span<const Format* const> all_formats();

/// The UsageError of a format that this build leaves out.
[[noreturn]] void throw_left_out(const Format& format);

/// What the name of a file says.
struct FileName {
  std::string extension;  ///< in lower case, with its dot, without .gz
  bool is_packed = false;
  const Format* format = nullptr;  ///< of the extension, where that belongs to one
};

[[nodiscard]] FileName parse_name(const std::filesystem::path& file);

/// The format of a file that begins with `bytes`, unpacked, a few hundred of them at least where there are as many. Bytes
/// that are unmistakable win over the name; without any, a file whose name says nothing is text, or raw where these are
/// no text and `raw_is_expected`. `shown` is how errors name the file.
///
/// Throws InputError for a file that begins as one of another program does (ZIP, Excel, PDF, …), naming it and the
/// way out, and for bytes that are no text.
[[nodiscard]] const Format& find_format(std::span<const char> bytes, const FileName& name, bool raw_is_expected,
                                        const std::string& shown);

}  // namespace epsflow::io
