// An HDF5 file open for reading, and nothing but the file itself.
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

/// The InputError of a call that failed, with the library's reason.
[[noreturn]] void throw_hdf5(const Source& source, std::string_view doing);
/// The same with a reason that was taken before.
[[noreturn]] void throw_hdf5(const Source& source, std::string_view doing, std::string_view reason);

inline void check(herr_t status, const Source& source, std::string_view doing) {
  if (status < 0) throw_hdf5(source, doing);
}

template <class H>
H check(H handle, const Source& source, std::string_view doing) {
  if (!handle.valid()) throw_hdf5(source, doing);
  return handle;
}

/// To be used within an Hdf5Session.
class Hdf5File {
 public:
  enum class Object : std::uint8_t { none, group, dataset, other };

  Hdf5File(const LibraryFile& file, const Source& source);
  Hdf5File(const Hdf5File&) = delete;
  Hdf5File& operator=(const Hdf5File&) = delete;

  [[nodiscard]] const Source& source() const noexcept { return source_; }

  /// What the path leads to. Throws InputError for a link into another file, unless ReadOptions::external_storage.
  [[nodiscard]] Object kind_of(const std::string& path) const;
  /// What tells an object from others, by whichever path it was reached.
  [[nodiscard]] std::uint64_t address_of(const std::string& path) const;
  /// Throws InputError for a data set that keeps its values elsewhere, unless ReadOptions::external_storage.
  [[nodiscard]] ObjectHandle open_dataset(const std::string& path) const;
  [[nodiscard]] ObjectHandle open_group(const std::string& path) const;
  /// Names of what lies in a group along hard links, which cannot dangle; in the order of the names.
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
  ImagePointer image_{nullptr, {0}};  ///< of a file in memory, whose path is none that the library takes
  mutable std::string linked_file_;   ///< where the last link out of the file led to
  std::optional<FileHandle> file_;
  std::optional<ListHandle> links_;
  Hdf5Sizes sizes_;
};

/// Whether a type is an integer or a float whose parts lie within it. The library converts any other without looking.
[[nodiscard]] bool is_sound_number(hid_t type);

/// All values of a numeric attribute, or nothing where it is missing or no number.
[[nodiscard]] std::vector<double> read_numbers(hid_t object, const char* attribute);

/// The bytes of a text attribute without the padding behind them; empty where it is missing or no text. Texts of variable
/// length lie in a heap that the library does not check. They are passed over, unless `in_heap`.
[[nodiscard]] std::string read_text(hid_t object, const char* attribute, bool in_heap = false);

}  // namespace epsflow::io
