// A file for a library that opens files itself.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <utility>

#include <epsflow/io/read/byte_stream.hpp>
#include <epsflow/io/read/source.hpp>

namespace epsflow::io {

/// A descriptor that is closed by its owner. Move-only.
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

  /// -1 for none.
  [[nodiscard]] int get() const noexcept { return descriptor_; }

 private:
  int descriptor_ = -1;
};

/// Writes all bytes. Returns 0, or the errno of the failure.
[[nodiscard]] int write_all(int descriptor, std::span<const char> bytes) noexcept;

/// An empty file that lies in memory, and is gone with its last descriptor. Throws ResourceError where there can be none.
[[nodiscard]] OwnedDescriptor make_memory_file();

/// The path under which this process opens one of its descriptors anew.
[[nodiscard]] std::filesystem::path path_of_descriptor(int descriptor);

/// A plain regular file by its path; the bytes of any other by that of a file in memory.
struct LibraryFile {
  std::filesystem::path path;
  std::uint64_t size = 0;
  OwnedDescriptor memory = {};     ///< of the file in memory
  std::uint64_t memory_taken = 0;  ///< bytes of ReadOptions::memory that the file in memory takes
};

/// Throws InputError for a file without bytes or one that cannot be read, ResourceError as soon as the bytes that have to
/// be held in memory are more than what is left of the budget.
[[nodiscard]] LibraryFile library_file(ByteStream& stream, const Source& source);

}  // namespace epsflow::io
