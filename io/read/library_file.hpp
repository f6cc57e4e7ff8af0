// Access to a file for a library that opens files itself.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <utility>

#include <epsflow/io/read/byte_stream.hpp>
#include <epsflow/io/read/source.hpp>

namespace epsflow::io {

/// A file descriptor that is closed by its owner. Move-only.
class OwnedDescriptor {
 public:
  OwnedDescriptor() = default;
  explicit OwnedDescriptor(int descriptor) noexcept : descriptor_(descriptor) {}
  ~OwnedDescriptor();
  OwnedDescriptor(OwnedDescriptor&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  OwnedDescriptor& operator=(OwnedDescriptor&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }

  /// Returns -1 if there is none.
  [[nodiscard]] int get() const noexcept { return descriptor_; }

 private:
  int descriptor_ = -1;
};

/// Writes all bytes. Returns 0, or the errno of the failure.
[[nodiscard]] int write_all(int descriptor, std::span<const char> bytes) noexcept;

/// Returns the path under which this process can open one of its descriptors again.
[[nodiscard]] std::filesystem::path path_of_descriptor(int descriptor);

/// A file that a library can open, and whose size is known: by its own path if ByteStream::regular_file() returns one,
/// any other as a copy of its unpacked bytes in memory.
struct LibraryFile {
  std::filesystem::path path;
  std::uint64_t size = 0;
  OwnedDescriptor memory = {};     ///< the descriptor of the copy, which is deleted with it; -1 without a copy
  std::uint64_t memory_taken = 0;  ///< bytes of ReadOptions::memory that the copy takes; 0 without a copy
};

/// Makes a LibraryFile of a stream that is at its beginning. Throws InputError if the file is empty or unreadable,
/// ResourceError as soon as the bytes that must be held in memory exceed memory_left(), before reading if their number
/// is known.
[[nodiscard]] LibraryFile library_file(ByteStream& stream, const Source& source);

}  // namespace epsflow::io
