// The bytes of a file, mapped or read, and gzip's inverse.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <epsflow/core/buffer.hpp>

namespace epsflow::io {

namespace detail {
struct Unmap {
  std::size_t size = 0;
  void operator()(const char* p) const noexcept;
};
}  // namespace detail

/// All bytes of a file, read-only. Move-only. A regular file is mapped, so that its bytes never exist twice in memory;
/// a pipe or device is read to its end. The file must not be shortened while it is mapped.
class FileBytes {
 public:
  /// Throws InputError when the file is missing, a folder, or not readable.
  explicit FileBytes(const std::filesystem::path& file);

  [[nodiscard]] std::span<const char> span() const noexcept { return view_; }

 private:
  friend FileBytes inflate_gzip(std::span<const char> packed, std::string_view name);
  FileBytes() = default;

  std::unique_ptr<const char, detail::Unmap> mapping_;
  Buffer<char> owned_;
  std::span<const char> view_;
};

/// Whether the bytes begin as a gzip file does.
[[nodiscard]] bool is_gzip(std::span<const char> bytes) noexcept;

/// The unpacked bytes of a gzip file of one or more members. Throws InputError naming `name` when it is truncated or
/// corrupt.
[[nodiscard]] FileBytes inflate_gzip(std::span<const char> packed, std::string_view name);

/// At most `count` first unpacked bytes of a gzip file, fewer when it is short or damaged.
[[nodiscard]] std::string inflate_gzip_prefix(std::span<const char> packed, std::size_t count);

}  // namespace epsflow::io
