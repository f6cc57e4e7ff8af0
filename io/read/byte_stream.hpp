// The bytes of a file, pipe or device in order, unpacked where they are gzipped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <epsflow/core/buffer.hpp>

namespace epsflow::io {

/// Bytes that are read once, from the first to the last. Not for several threads at once.
class ByteStream {
 public:
  /// What peek() shows of a stream that is long enough.
  static constexpr std::size_t kPeekBytes = 4096;

  ByteStream() = default;
  virtual ~ByteStream() = default;
  ByteStream(const ByteStream&) = delete;
  ByteStream& operator=(const ByteStream&) = delete;

  /// Fills `to` with the next bytes and returns how many they are: fewer than to.size() only at the end. Throws
  /// InputError for a file that cannot be read, was shortened meanwhile, or is damaged gzip.
  std::size_t read(std::span<char> to);

  /// Passes over the next bytes and returns how many they are: fewer than `count` only at the end. A file that is not packed is not
  /// read there. Throws as read().
  std::uint64_t skip(std::uint64_t count);

  /// The next kPeekBytes bytes, or all that are left, which stay unread. Valid until the next call. Throws as read().
  [[nodiscard]] std::span<const char> peek();

  /// How many bytes the stream holds from its beginning to its end, unpacked, where that is known beforehand.
  [[nodiscard]] virtual std::optional<std::uint64_t> size() const noexcept { return std::nullopt; }

  /// Whether the bytes are unpacked on the way.
  [[nodiscard]] virtual bool is_gzip() const noexcept { return false; }

  /// The path under which others may open the same bytes again: that of a regular file which is not gzipped.
  [[nodiscard]] virtual const std::filesystem::path* regular_file() const noexcept { return nullptr; }

 private:
  /// Writes at least one byte to the front of `to`, which is not empty, and returns how many; 0 at the end.
  virtual std::size_t read_some(std::span<char> to) = 0;

  /// Passes over up to `count` bytes without reading them and returns how many; 0 where there is no such way.
  virtual std::uint64_t skip_some(std::uint64_t count) {
    static_cast<void>(count);
    return 0;
  }

  std::size_t fill(std::span<char> to);

  std::vector<char> ahead_;  ///< read by peek(), unread from ahead_begin_ on
  std::size_t ahead_begin_ = 0;
  bool is_at_end_ = false;  ///< a terminal that said so once would be asked again
};

/// Whether bytes that begin as a gzip file does are unpacked.
enum class Unpack : std::uint8_t { gzip, nothing };

/// Opens a regular file, a pipe or a device for reading; "-" is standard input. A gzip file of one or more members is
/// unpacked on the way. A named pipe is waited for until somebody writes to it. Throws InputError when the file is
/// missing, a folder, or not readable.
[[nodiscard]] std::unique_ptr<ByteStream> open_stream(const std::filesystem::path& file, Unpack unpack = Unpack::gzip);

/// Bytes in memory as a stream; they must outlive it. `name` is how errors name them.
[[nodiscard]] std::unique_ptr<ByteStream> stream_of(std::span<const char> bytes, std::string name,
                                                    Unpack unpack = Unpack::gzip);

/// How errors name a file: its path, or "standard input" for "-".
[[nodiscard]] std::string display_name(const std::filesystem::path& file);

/// Bytes with their storage.
struct OwnedBytes {
  Buffer<char> storage;
  std::size_t size = 0;
  [[nodiscard]] std::span<const char> span() const noexcept { return storage.span().first(size); }
};

/// The ResourceError of a file whose bytes are more than the `budget` that is left for them.
[[noreturn]] void throw_over_budget(const std::string& name, std::uint64_t budget);

/// All bytes that are left. Throws ResourceError naming ReadOptions::memory as soon as they are more than `budget`, and
/// at once where the size is known; otherwise as ByteStream::read. Peak memory: the bytes, and 16 MiB where their
/// number is not known beforehand.
[[nodiscard]] OwnedBytes read_all(ByteStream& stream, std::uint64_t budget, const std::string& name);

}  // namespace epsflow::io
