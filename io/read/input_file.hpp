// A file of points, opened and recognised.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include <epsflow/io/read/byte_stream.hpp>
#include <epsflow/io/read/format.hpp>
#include <epsflow/io/read_points.hpp>

namespace epsflow::io {

/// What changes whenever somebody writes to a regular file: which it is, its size, and the time of its last change; empty
/// for any other.
[[nodiscard]] std::string stamp_of(const std::filesystem::path& file);

/// A file that is there, with bytes in it, and of a known format. Throws as open_stream() and find_format() do, and InputError
/// for one without bytes.
struct InputFile {
  InputFile(const std::filesystem::path& file, const ReadOptions& options);

  std::string shown;  ///< as errors name it
  std::string stamp;  ///< stamp_of() it, before it was opened
  FileName name;
  std::unique_ptr<ByteStream> bytes;
  const Format& format;
};

}  // namespace epsflow::io
