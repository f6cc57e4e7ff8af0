// The bytes of a file, pipe or device in order, unpacked if they are gzipped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace epsflow::io {

/// Bytes that are read once, from the first to the last. Not thread-safe.
class ByteStream {
 public:
  /// The number of bytes that peek() returns from a stream that is long enough.
  static constexpr std::size_t kPeekBytes = 4096;

  ByteStream() = default;
  virtual ~ByteStream() = default;
  ByteStream(const ByteStream&) = delete;
  ByteStream& operator=(const ByteStream&) = delete;

  /// Fills `to` with the next bytes and returns their number: fewer than to.size() only at the end. Throws InputError
  /// if the file is not readable, was shortened meanwhile, or is damaged gzip; ResourceError without memory to unpack.
  std::size_t read(std::span<char> to);

  /// Skips the next bytes and returns their number: fewer than `count` only at the end. Does not read the skipped part
  /// of a regular file that is not packed. Throws as read().
  std::uint64_t skip(std::uint64_t count);

  /// Returns the next kPeekBytes bytes, or all that are left; read() returns them again. Valid until the next call of
  /// read(), skip() or peek(). Throws as read().
  [[nodiscard]] std::span<const char> peek();

  /// Returns the unpacked size of the whole stream in bytes, bytes already read included. Returns nullopt if it is not
  /// known without reading: for pipes, gzipped files, and files that report size 0.
  [[nodiscard]] virtual std::optional<std::uint64_t> size() const noexcept { return std::nullopt; }

  /// True if the bytes are unpacked on the way.
  [[nodiscard]] virtual bool is_gzip() const noexcept { return false; }

  /// Returns the path by which a regular file that is not gzipped can be opened again; null for any other stream and
  /// for "-".
  [[nodiscard]] virtual const std::filesystem::path* regular_file() const noexcept { return nullptr; }

 private:
  /// Writes at least one byte to the front of `to`, which is not empty, and returns the number of bytes; 0 at the end.
  virtual std::size_t read_some(std::span<char> to) = 0;

  /// Skips up to `count` bytes without reading them and returns their number; 0 if the stream cannot skip.
  virtual std::uint64_t skip_some(std::uint64_t count) {
    static_cast<void>(count);
    return 0;
  }

  std::size_t fill(std::span<char> to);

  std::vector<char> ahead_;  ///< bytes that peek() has read; those from ahead_begin_ on are unread
  std::size_t ahead_begin_ = 0;
  bool is_at_end_ = false;  ///< prevents further reads: a terminal would wait for input again
};

/// Whether gzipped bytes are unpacked.
enum class Unpack : std::uint8_t { gzip, nothing };

/// Opens a regular file, a pipe or a device for reading; "-" is standard input. With Unpack::gzip, a gzip file of one
/// or more members is unpacked on the way; to recognise it, the call waits for the first bytes of a pipe. Opening a
/// named pipe waits for a writer in any case. Throws InputError for folders and unreadable files.
[[nodiscard]] std::unique_ptr<ByteStream> open_stream(const std::filesystem::path& file, Unpack unpack = Unpack::gzip);

/// Returns a stream of bytes in memory, which must outlive it. `name` is their name in errors.
[[nodiscard]] std::unique_ptr<ByteStream> stream_of(std::span<const char> bytes, std::string name,
                                                    Unpack unpack = Unpack::gzip);

/// Returns the name of a file in errors: its path, or "standard input" for "-".
[[nodiscard]] std::string display_name(const std::filesystem::path& file);

}  // namespace epsflow::io
