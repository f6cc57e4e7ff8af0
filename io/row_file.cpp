#include <epsflow/io/row_file.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <system_error>
#include <utility>

#include <epsflow/core/checked.hpp>
#include <epsflow/core/error.hpp>
#include <epsflow/io/read/input_file.hpp>
#include <epsflow/io/read/library_file.hpp>
#include <epsflow/io/read/numpy/npy_header.hpp>

namespace epsflow::io {
namespace {

/// A file as it lies on the disk, held open.
class HeldFile {
 public:
  HeldFile(std::string name, const std::filesystem::path& path)
      : name_(std::move(name)), descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (descriptor_.get() < 0) throw InputError(fmt::format("{}: cannot be opened: {}", name_, std::strerror(errno)));
  }

  /// Fills `to` with what lies behind `offset`.
  void read(std::uint64_t offset, std::span<std::byte> to) const {
    while (!to.empty()) {
      const ssize_t count = ::pread(descriptor_.get(), to.data(), to.size(), static_cast<off_t>(offset));
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) throw InputError(fmt::format("{}: cannot be read: {}", name_, std::strerror(errno)));
      if (count == 0)
        throw InputError(name_ + ": has become shorter while it was read: leave it as it is until all is done");
      offset += static_cast<std::uint64_t>(count);
      to = to.subspan(static_cast<std::size_t>(count));
    }
  }

 private:
  std::string name_;
  OwnedDescriptor descriptor_;
};

/// Where the rows of an NPY file begin, if they lie there as in memory.
std::optional<std::uint64_t> begin_of_rows(InputFile& file, const ReadOptions& options, std::uint64_t bytes) {
  const NpyHeader header = read_npy_header(*file.bytes, {.name = file.shown, .options = options});
  const std::optional<ValueType> type = header.type.number;
  const bool plain = !header.is_record && !header.fortran_order && header.shape.size() == 2 && header.data_bytes &&
                     (type == ValueType::float32 || type == ValueType::float64) &&
                     header.type.big_endian == (std::endian::native == std::endian::big);
  return plain ? std::optional(bytes - *header.data_bytes) : std::nullopt;
}

}  // namespace

std::optional<RowFile> open_row_file(const std::filesystem::path& file, const ReadOptions& options) {
  if (!options.columns.empty() || !options.weight.empty() || options.on_nan != NanPolicy::error) return std::nullopt;
  // What gives its bytes once is not touched.
  std::error_code unknown;
  const std::filesystem::file_status status = std::filesystem::status(file, unknown);
  if (file == "-" || (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)))
    return std::nullopt;
  InputFile input(file, options);
  const std::filesystem::path* const path = input.bytes->regular_file();
  const std::optional<std::uint64_t> bytes = input.bytes->size();
  const bool raw = &input.format == &raw_format();
  if (path == nullptr || !bytes || (!raw && input.format.name != "NPY")) return std::nullopt;
  if (raw && std::endian::native == std::endian::big) return std::nullopt;
  // Without any rows, which tells what they are, and what is wrong with the file.
  ReadOptions of_none = options;
  of_none.share = {.index = 0, .count = std::size_t{1} << 63U};
  FilePoints none = read_points(file, of_none);
  const std::optional<std::uint64_t> begin = raw ? 0 : begin_of_rows(input, options, *bytes);
  if (!begin) return std::nullopt;
  RowFile found;
  found.origin = std::move(static_cast<PointsOrigin&>(none));
  found.rows.dims = none.dims();
  found.rows.precision = none.precision();
  const std::uint64_t row = found.rows.row_bytes();
  found.rows.size = narrow<std::size_t>((*bytes - *begin) / row);
  found.origin.inputs.front().rows = found.rows.size;
  found.rows.write = [held = std::make_shared<const HeldFile>(input.shown, *path), begin = *begin, row](
                         std::size_t first, std::size_t last, void* to) {
    held->read(begin + first * row, {static_cast<std::byte*>(to), (last - first) * row});
  };
  return found;
}

}  // namespace epsflow::io
