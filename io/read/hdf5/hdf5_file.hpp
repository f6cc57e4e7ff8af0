// An HDF5 file open for reading.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <epsflow/io/read/hdf5/hdf5_handle.hpp>
#include <epsflow/io/read/library_file.hpp>
#include <epsflow/io/read/source.hpp>

namespace epsflow::io {

/// Throws InputError after a call of the library that failed. doing: the call, in words, as "opening /a". The error has
/// the reason that the library gives.
[[noreturn]] void throw_hdf5(const Source& source, std::string_view doing);
/// Throws the same error with the given reason, such as an earlier result of take_error_text().
[[noreturn]] void throw_hdf5(const Source& source, std::string_view doing, std::string_view reason);

/// Throws InputError if the status of a call is an error.
inline void check(herr_t status, const Source& source, std::string_view doing) {
  if (status < 0) throw_hdf5(source, doing);
}

/// Returns the handle. Throws InputError if it is not valid.
template <class H>
H check(H handle, const Source& source, std::string_view doing) {
  if (!handle.valid()) throw_hdf5(source, doing);
  return handle;
}

/// How a data set stores its values. The library reports it only for an open data set, and may crash when
/// it opens a damaged virtual one.
struct Hdf5Storage {
  bool is_virtual = false;                                ///< true if the values are in other data sets
  bool is_external = false;                               ///< true if the values are in other files
  std::optional<std::uint64_t> chunk_element_bytes = {};  ///< bytes of an element in the chunks; none without chunks
};

/// The sizes of addresses and lengths in the file.
struct Hdf5Sizes {
  std::uint64_t base = 0;  ///< offset from which addresses count
  std::size_t address_bytes = 8;
  std::size_t length_bytes = 8;
};

/// Fills a span with the file's bytes from an offset on; returns false if the file is shorter.
using ReadAt = std::function<bool(std::uint64_t, std::span<unsigned char>)>;

/// Returns the storage of the object whose header is at `address`. Damage is not reported here; the library refuses
/// such a file. Source: HDF5 File Format Specification 3.0, IV.A.
[[nodiscard]] Hdf5Storage find_hdf5_storage(const ReadAt& read_at, const Hdf5Sizes& sizes, std::uint64_t address);

/// The kind of object at a path of a file.
enum class Hdf5Object : std::uint8_t { none, group, dataset, other };

/// An open file. Use it within an Hdf5Session. The constructor, address_of(), open_dataset(), open_object() and list()
/// throw InputError if the library fails. The constructor also throws InputError if another program has the file open
/// for writing, and ResourceError if the bytes of a file in memory cannot be mapped. The source must outlive the
/// object.
class Hdf5File {
 public:
  Hdf5File(const LibraryFile& file, const Source& source);
  Hdf5File(const Hdf5File&) = delete;
  Hdf5File& operator=(const Hdf5File&) = delete;

  [[nodiscard]] const Source& source() const noexcept { return source_; }

  /// Returns the kind of the object at the path, or Hdf5Object::none if there is none. Throws InputError for a link
  /// into another file, unless ReadOptions::external_storage is set.
  [[nodiscard]] Hdf5Object kind_of(const std::string& path) const;
  /// Returns the address of an object, which is the same for every path that leads to it.
  [[nodiscard]] std::uint64_t address_of(const std::string& path) const;
  /// Opens a data set. Throws InputError if the chunks are made for values of another size than the type has, and,
  /// unless ReadOptions::external_storage is set, if the values are stored in other data sets or files. Does not check
  /// the chunks of the data sets that a virtual one refers to.
  [[nodiscard]] ObjectHandle open_dataset(const std::string& path) const;
  /// Opens an object without these checks, such as a group.
  [[nodiscard]] ObjectHandle open_object(const std::string& path) const;
  /// Returns the names of the members of a group, sorted. Looks at the first 10,000 links only, and leaves out soft and
  /// external links, because their target may be missing.
  [[nodiscard]] std::vector<std::string> list(const std::string& group) const;

 private:
  struct Unmap {
    std::size_t size;
    void operator()(void* mapped) const noexcept;
  };
  using ImagePointer = std::unique_ptr<void, Unmap>;

  void open_image(std::size_t size);
  [[noreturn]] void throw_unopened();
  [[nodiscard]] Hdf5Storage storage_of(const std::string& path) const;
  void check_storage(const std::string& path) const;
  void throw_if_linked_away(const std::string& path) const;

  const Source& source_;
  OwnedDescriptor descriptor_;
  ImagePointer image_{nullptr, {0}};  ///< bytes of a file in memory, which the library cannot open by its path
  mutable std::string linked_file_;   ///< target of the last link out of the file
  std::optional<FileHandle> file_;
  std::optional<ListHandle> links_;
  Hdf5Sizes sizes_;
};

/// Returns true if a type is an integer or a float of at most 128 bits, and its sign, exponent and mantissa lie within
/// its bits. Call it before values are converted, because the library does not check the type.
[[nodiscard]] bool is_sound_number(hid_t type);

/// Returns all values of a numeric attribute; empty if it is missing, is not numeric, has more than 64 values, or
/// cannot be read.
[[nodiscard]] std::vector<double> read_numbers(hid_t object, const char* attribute);

/// Returns the bytes of a text attribute without the NUL bytes that pad its end; blanks stay. Returns an empty text if
/// the attribute is missing, is not a text, holds more than one text or over 16 MiB, or cannot be read. in_heap: true
/// to read texts of variable length too. They are stored in a heap that the library does not check, so a damaged file
/// may crash it. If in_heap is false, the result for such a text is empty.
[[nodiscard]] std::string read_text(hid_t object, const char* attribute, bool in_heap = false);

}  // namespace epsflow::io
