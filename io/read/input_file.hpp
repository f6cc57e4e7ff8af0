// A file of points, opened and recognised.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include <epsflow/io/read/byte_stream.hpp>
#include <epsflow/io/read/format.hpp>
#include <epsflow/io/read_points.hpp>

namespace epsflow::io {

/// Returns a fingerprint that changes whenever a regular file is written to: its identity, size, and time of last
/// change. Empty for any other file.
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
