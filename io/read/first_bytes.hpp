// What the first bytes of a file tell of it.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace epsflow::io {

/// Where the first byte is that no text has: a control character, or no UTF-8.
[[nodiscard]] std::optional<std::size_t> find_binary(std::string_view bytes) noexcept;

/// What an archive's first entry is called; empty where `bytes` begin no ZIP archive.
[[nodiscard]] std::string_view first_zip_entry(std::string_view bytes) noexcept;

/// A kind of file that is not read.
struct ForeignKind {
  std::string_view name;
  std::string_view remedy;
};

/// The kind of another program's file, where bytes, which are no text from `binary` on, begin one. PAR1,PAR2 may as well
/// be names of columns.
[[nodiscard]] std::optional<ForeignKind> find_foreign(std::string_view bytes, std::optional<std::size_t> binary);

}  // namespace epsflow::io
