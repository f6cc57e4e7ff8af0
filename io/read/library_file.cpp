#include <epsflow/io/read/library_file.hpp>

#include <epsflow/core/error.hpp>

namespace epsflow::io {

LibraryFile library_file(ByteStream& stream, const Source& source) {
  if (stream.peek().empty()) throw InputError(source.name + ": empty: the file has no bytes");
  if (const std::filesystem::path* const path = stream.regular_file()) {
    return {.path = path, .size = stream.size().value_or(0)};
  }
  LibraryFile file{.bytes = read_all(stream, memory_left(source), source.name)};
  file.size = file.bytes.size;
  return file;
}

}  // namespace epsflow::io
