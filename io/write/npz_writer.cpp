#include <epsflow/io/write/npz_writer.hpp>

#include <array>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <zip.h>

#include <epsflow/core/error.hpp>

namespace epsflow::io {
namespace {

[[noreturn]] void throw_cannot_write_npz(const std::filesystem::path& file, const char* why) {
  throw ResourceError("cannot write " + file.string() + ": " + why + "; make room there, or choose another folder");
}

zip_buffer_fragment_t fragment_of(std::span<const std::byte> bytes) {
  auto* const data = const_cast<std::byte*>(bytes.data());
  return {reinterpret_cast<zip_uint8_t*>(data), bytes.size()};
}

}  // namespace

void write_npz(const std::filesystem::path& file, std::span<const std::pair<std::string, NpyArray>> arrays) {
  int code = 0;
  std::unique_ptr<zip_t, decltype(&zip_discard)> archive(zip_open(file.c_str(), ZIP_CREATE | ZIP_TRUNCATE, &code),
                                                         &zip_discard);
  if (archive == nullptr) {
    zip_error_t error;
    zip_error_init_with_code(&error, code);
    const std::string why = zip_error_strerror(&error);
    zip_error_fini(&error);
    throw_cannot_write_npz(file, why.c_str());
  }
  for (const auto& [name, array] : arrays) {
    // The parts of the file are read when the archive is closed.
    const std::array parts{fragment_of(std::as_bytes(std::span(array.header))), fragment_of(array.data)};
    zip_source_t* const source = zip_source_buffer_fragment(archive.get(), parts.data(), parts.size(), 0);
    const zip_int64_t index =
        source == nullptr ? -1 : zip_file_add(archive.get(), (name + ".npy").c_str(), source, ZIP_FL_ENC_UTF_8);
    if (index < 0) {
      zip_source_free(source);
      throw_cannot_write_npz(file, zip_strerror(archive.get()));
    }
    // The first of January 1980 in zip's format. A fixed time makes equal files of equal arrays.
    zip_file_set_dostime(archive.get(), static_cast<zip_uint64_t>(index), 0, 1 << 5 | 1, 0);
    zip_set_file_compression(archive.get(), static_cast<zip_uint64_t>(index), ZIP_CM_STORE, 0);
  }
  if (zip_close(archive.get()) != 0) throw_cannot_write_npz(file, zip_strerror(archive.get()));
  static_cast<void>(archive.release());
}

}  // namespace epsflow::io
