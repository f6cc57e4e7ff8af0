// What kind of file this is, by its first bytes and its name.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace epsflow::io {

enum class FileKind : std::uint8_t { text, npy, npz, fits, hdf5, parquet, arrow, raw };

/// As messages call it: "NPY".
[[nodiscard]] std::string_view kind_name(FileKind kind) noexcept;

/// What the name of a file says.
struct FileName {
  std::string extension;  ///< in lower case, with its dot, without .gz
  bool is_packed = false;
  std::optional<FileKind> kind;  ///< of the extension, where that belongs to one
};

[[nodiscard]] FileName parse_name(const std::filesystem::path& file);

/// The kind of a file that begins with `bytes`, unpacked, a few hundred of them at least where there are as many. Bytes
/// that are unmistakable win over the name; without any, a file whose name says nothing is text, or raw where these are
/// no text and `raw_is_expected`. `shown` is how errors name the file.
///
/// Throws InputError for a file that begins as one of another program does (ZIP, Excel, PDF, …), naming it and the
/// way out, and for bytes that are no text.
[[nodiscard]] FileKind find_kind(std::span<const char> bytes, const FileName& name, bool raw_is_expected,
                                 const std::string& shown);

}  // namespace epsflow::io
