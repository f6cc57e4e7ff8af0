// An HDF5 file open for reading.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <epsflow/io/read/hdf5/hdf5_handle.hpp>
#include <epsflow/io/read/hdf5/hdf5_storage.hpp>
#include <epsflow/io/read/library_file.hpp>
#include <epsflow/io/read/source.hpp>

namespace epsflow::io {

/// Throws InputError for a call that failed, with the library's reason.
[[noreturn]] void throw_hdf5(const Source& source, std::string_view doing);
/// As above, with a reason that was taken before.
[[noreturn]] void throw_hdf5(const Source& source, std::string_view doing, std::string_view reason);

inline void check(herr_t status, const Source& source, std::string_view doing) {
  if (status < 0) throw_hdf5(source, doing);
}

template <class H>
H check(H handle, const Source& source, std::string_view doing) {
  if (!handle.valid()) throw_hdf5(source, doing);
  return handle;
}

/// The kind of object at a path of a file.
enum class Hdf5Object : std::uint8_t { none, group, dataset, other };

/// An open file. Use it within an Hdf5Session.
class Hdf5File {
 public:
  Hdf5File(const LibraryFile& file, const Source& source);
  Hdf5File(const Hdf5File&) = delete;
  Hdf5File& operator=(const Hdf5File&) = delete;

  [[nodiscard]] const Source& source() const noexcept { return source_; }

  /// Returns the kind of object at the path. Throws InputError for a link into another file, unless
  /// ReadOptions::external_storage is set.
  [[nodiscard]] Hdf5Object kind_of(const std::string& path) const;
  /// Returns the address of an object, which is the same for every path that leads to it.
  [[nodiscard]] std::uint64_t address_of(const std::string& path) const;
  /// Throws InputError for a data set that stores its values elsewhere, unless ReadOptions::external_storage is set.
  [[nodiscard]] ObjectHandle open_dataset(const std::string& path) const;
  [[nodiscard]] ObjectHandle open_group(const std::string& path) const;
  /// Returns the names of the members of a group that are hard links, which cannot dangle; sorted by name.
  [[nodiscard]] std::vector<std::string> list(const std::string& group) const;

 private:
  struct Unmap {
    std::size_t size;
    void operator()(void* mapped) const noexcept;
  };
  using ImagePointer = std::unique_ptr<void, Unmap>;

  void open_image(std::size_t size);
  [[noreturn]] void throw_unopened();
  [[nodiscard]] bool read_at(std::uint64_t offset, std::span<unsigned char> bytes) const;
  void require_own_values(const std::string& path) const;
  void throw_if_linked_away(const std::string& path) const;

  const Source& source_;
  OwnedDescriptor descriptor_;
  ImagePointer image_{nullptr, {0}};  ///< bytes of a file in memory, which the library cannot open by its path
  mutable std::string linked_file_;   ///< target of the last link out of the file
  std::optional<FileHandle> file_;
  std::optional<ListHandle> links_;
  Hdf5Sizes sizes_;
};

/// True if a type is an integer or a float whose parts lie within it. The library converts any other without a check.
[[nodiscard]] bool is_sound_number(hid_t type);

/// Returns all values of a numeric attribute; empty if it is missing or not numeric.
[[nodiscard]] std::vector<double> read_numbers(hid_t object, const char* attribute);

/// Returns the bytes of a text attribute without the padding after them; empty if it is missing or not a text. Texts of
/// variable length are stored in a heap that the library does not check; they are ignored unless `in_heap`.
[[nodiscard]] std::string read_text(hid_t object, const char* attribute, bool in_heap = false);

}  // namespace epsflow::io
