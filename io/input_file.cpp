#include <epsflow/io/input_file.hpp>

#include <epsflow/core/error.hpp>

namespace epsflow::io {
namespace {

/// Raw coordinates may happen to begin like a gzip file, so that there only the name counts.
Unpack unpack_of(const FileName& name) {
  return name.kind == FileKind::raw && !name.is_packed ? Unpack::nothing : Unpack::gzip;
}

}  // namespace

InputFile::InputFile(const std::filesystem::path& file, const ReadOptions& options)
    : shown(display_name(file)),
      name(parse_name(file)),
      bytes(open_stream(file, unpack_of(name))),
      kind(find_kind(bytes->peek(), name, options.raw.dims > 0, shown)) {
  if (bytes->peek().empty()) throw InputError(shown + ": empty: the file has no bytes; points are needed");
}

}  // namespace epsflow::io
