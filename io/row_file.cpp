#include <epsflow/io/row_file.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): mkostemp() is of POSIX
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <system_error>
#include <utility>

#include <epsflow/core/checked.hpp>
#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/io/read/format.hpp>
#include <epsflow/io/read/library_file.hpp>
#include <epsflow/io/read/numpy/npy_header.hpp>
#include <epsflow/io/read/source.hpp>

namespace epsflow::io {
namespace {

class HeldFile {
 public:
  HeldFile(std::string name, const std::filesystem::path& path)
      : HeldFile(std::move(name), OwnedDescriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC))) {
    if (descriptor_.get() < 0) throw InputError(fmt::format("{}: cannot be opened: {}", name_, std::strerror(errno)));
  }
  HeldFile(std::string name, OwnedDescriptor descriptor) : name_(std::move(name)), descriptor_(std::move(descriptor)) {}

  /// Fills `to` with the bytes from `offset` on.
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

/// Sets the source of rows that are stored consecutively from byte `begin` on.
void set_rows(RowFile& found, HeldFile file, std::uint64_t begin) {
  found.rows.write = [held = std::make_shared<const HeldFile>(std::move(file)), begin, row = found.rows.row_bytes()](
                         std::size_t first, std::size_t last, void* to) {
    held->read(begin + first * row, {static_cast<std::byte*>(to), (last - first) * row});
  };
}

/// Writes coordinates to a file without a name.
class CopyOfRows {
 public:
  CopyOfRows(const std::string& of, std::uint64_t bytes, const std::filesystem::path& folder)
      : failed_(fmt::format("{}: no room for the coordinates of {}, {}", folder.string(), of, format_bytes(bytes))) {
    std::error_code unknown;
    const std::filesystem::space_info space = std::filesystem::space(folder, unknown);
    if (!unknown && space.available < bytes) refuse(ENOSPC);
    std::string name = (folder / ".epsflow-rows-XXXXXX").string();
    descriptor_ = OwnedDescriptor(::mkostemp(name.data(), O_CLOEXEC));
    if (descriptor_.get() < 0) refuse(errno);
    (void)::unlink(name.c_str());
  }

  void add(const Points& some) {
    const int reason =
        write_all(descriptor_.get(), {static_cast<const char*>(some.view().data()), some.view().bytes()});
    if (reason != 0) refuse(reason);
  }
  /// Throws ResourceError if the data cannot be written to disk; returns the file.
  [[nodiscard]] OwnedDescriptor take() {
    if (::fdatasync(descriptor_.get()) != 0) refuse(errno);
    return std::move(descriptor_);
  }

 private:
  [[noreturn]] void refuse(int reason) const {
    throw ResourceError(fmt::format("{}: {}; free some, write the results elsewhere, or raise ReadOptions::memory",
                                    failed_, std::strerror(reason)));
  }

  std::string failed_;
  OwnedDescriptor descriptor_;
};

/// True if a file can be read repeatedly, and the options use its rows unchanged.
bool may_stay(const std::filesystem::path& file, const ReadOptions& options) {
  if (!options.weight.empty() || options.on_nan != NanPolicy::error) return false;
  std::error_code unknown;
  const std::filesystem::file_status status = std::filesystem::status(file, unknown);
  return file != "-" && (!std::filesystem::exists(status) || std::filesystem::is_regular_file(status));
}

/// Throws InputError if there are more rows than points may have.
void require_countable(const std::string& name, const ReadOptions& options, std::uint64_t n, std::size_t dims) {
  ReadOptions without_limit = options;
  without_limit.memory = std::numeric_limits<std::uint64_t>::max();
  require_points_fit({.name = name, .options = without_limit}, n, dims, 1);
}

/// Returns the last row, by reading the last of as many shares as there may be points.
FilePoints last_row(const std::filesystem::path& file, ReadOptions options) {
  constexpr std::uint64_t kShares = std::uint64_t{1} << 32U;  // the maximum number of points
  options.share = {.index = kShares - 1, .count = kShares};
  return read_points(file, options);
}

/// Rows that are stored as in memory. begin: their offset in the file, in bytes.
struct StoredRows {
  std::uint64_t begin = 0;
  std::uint64_t count = 0;
};

/// Returns the rows of an NPY file, if they are stored as in memory. Bytes after them are ignored.
std::optional<StoredRows> rows_of_npy(InputFile& file, const ReadOptions& options, std::uint64_t bytes) {
  const NpyHeader header = read_npy_header(*file.bytes, {.name = file.shown, .options = options});
  const std::optional<ValueType> type = header.type.number;
  const bool plain = !header.is_record && !header.fortran_order && header.shape.size() == 2 && header.data_bytes &&
                     (type == ValueType::float32 || type == ValueType::float64) &&
                     header.type.big_endian == (std::endian::native == std::endian::big);
  if (!plain) return std::nullopt;
  return StoredRows{bytes - *header.data_bytes, header.shape[0]};
}

}  // namespace

std::optional<RowFile> open_row_file(const std::filesystem::path& file, const ReadOptions& options) {
  if (!options.columns.empty() || !may_stay(file, options)) return std::nullopt;
  InputFile input(file, options);
  const std::filesystem::path* const path = input.bytes->regular_file();
  const std::optional<std::uint64_t> bytes = input.bytes->size();
  const bool raw = input.format.name == "raw";
  if (path == nullptr || !bytes || (!raw && input.format.name != "NPY")) return std::nullopt;
  if (raw && std::endian::native == std::endian::big) return std::nullopt;
  // Reading a share without rows gives the description of the columns and checks the file.
  ReadOptions of_none = options;
  of_none.share = {.index = 0, .count = std::size_t{1} << 63U};
  FilePoints none = read_points(file, of_none);
  RowFile found{.origin = std::move(static_cast<PointsOrigin&>(none)), .rows = {0, none.dims(), none.precision(), {}}};
  const std::optional<StoredRows> stored =
      raw ? StoredRows{0, *bytes / found.rows.row_bytes()} : rows_of_npy(input, options, *bytes);
  if (!stored) return std::nullopt;
  found.rows.size = narrow<std::size_t>(stored->count);
  require_countable(input.shown, options, found.rows.size, found.rows.dims);
  InputRows& of_file = found.origin.inputs.front();
  of_file.rows = found.rows.size;
  of_file.after = 0;
  set_rows(found, {input.shown, *path}, stored->begin);
  return found;
}

std::optional<RowFile> shape_of(const std::filesystem::path& file, const ReadOptions& options) {
  if (!may_stay(file, options)) return std::nullopt;
  const InputFile input(file, options);
  // Any row of an Arrow file requires reading all of its batches.
  if (!input.format.takes_option("share") || input.format.name == "Arrow" || input.bytes->regular_file() == nullptr) {
    return std::nullopt;
  }
  FilePoints last = last_row(file, options);
  InputRows& of_file = last.inputs.front();
  of_file.rows += std::exchange(of_file.first, 0);
  require_countable(input.shown, options, of_file.rows, last.dims());
  const auto size = narrow<std::size_t>(of_file.rows);
  return RowFile{.origin = std::move(static_cast<PointsOrigin&>(last)),
                 .rows = {size, last.dims(), last.precision(), {}}};
}

RowFile copy_rows(const std::filesystem::path& file, const ReadOptions& options, RowFile found,
                  const std::filesystem::path& folder, std::uint64_t at_once) {
  const PointsSource& rows = found.rows;
  const InputRows& input = found.origin.inputs.front();
  CopyOfRows copy(input.name, rows.bytes(), folder);
  ReadOptions some = options;
  some.share.count = rows.bytes() / std::max<std::uint64_t>(at_once, 1) + 1;
  std::uint64_t copied = 0;
  for (some.share.index = 0; some.share.index < some.share.count; ++some.share.index) {
    const FilePoints share = read_points(file, some);
    copied += share.size();
    const bool last = some.share.index + 1 == some.share.count;
    if (share.inputs.front().stamp != input.stamp || share.dims() != rows.dims || share.precision() != rows.precision ||
        (last && copied != rows.size)) {
      throw InputError(input.name + ": has changed while it was read: leave it as it is until all is done");
    }
    copy.add(share);
  }
  set_rows(found, {"the copy of " + input.name, copy.take()}, 0);
  return found;
}

}  // namespace epsflow::io
