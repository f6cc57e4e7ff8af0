// A file for a library that opens files itself.
#pragma once

#include <cstdint>
#include <filesystem>

#include <epsflow/io/read/byte_stream.hpp>
#include <epsflow/io/read/source.hpp>

namespace epsflow::io {

/// A plain regular file by its path, any other as its bytes.
struct LibraryFile {
  const std::filesystem::path* path = nullptr;  ///< of the stream that it was made from
  OwnedBytes bytes = {};
  std::uint64_t size = 0;
};

/// To be called before there is a child process, which would wait for the end of a pipe that it holds open itself. Throws
/// as read_all(), and InputError for a file without bytes.
[[nodiscard]] LibraryFile library_file(ByteStream& stream, const Source& source);

}  // namespace epsflow::io
