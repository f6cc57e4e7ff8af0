#include <epsflow/io/read/input_file.hpp>

#include <sys/stat.h>

#include <epsflow/io/read/raw_reader.hpp>

namespace epsflow::io {
namespace {

/// Raw coordinates may happen to begin like a gzip file, so for raw files only the name decides.
Unpack unpack_of(const FileName& name) {
  return name.format == &raw_format() && !name.is_packed ? Unpack::nothing : Unpack::gzip;
}

}  // namespace

std::string stamp_of(const std::filesystem::path& file) {
  struct stat status {};
  if (file == "-" || stat(file.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
  const auto time_of = [](const timespec& time) { return fmt::format("{}.{:09}", time.tv_sec, time.tv_nsec); };
  return fmt::format("{}:{} {} bytes {} {}", status.st_dev, status.st_ino, status.st_size, time_of(status.st_mtim),
                     time_of(status.st_ctim));
}

InputFile::InputFile(const std::filesystem::path& file, const ReadOptions& options)
    : shown(display_name(file)),
      stamp(stamp_of(file)),
      name(parse_name(file)),
      bytes(open_stream(file, unpack_of(name))),
      format(find_format(bytes->peek(), name, options.raw.dims > 0, shown)) {
  if (bytes->peek().empty()) throw InputError(shown + ": empty: the file has no bytes; points are needed");
}

}  // namespace epsflow::io
