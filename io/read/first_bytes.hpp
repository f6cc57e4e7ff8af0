// Recognises files by their first bytes.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace epsflow::io {

/// Returns the position of the first byte that text cannot contain: a control character, or invalid UTF-8. Looks at the
/// first 1024 bytes only. Returns nullopt if there is none.
[[nodiscard]] std::optional<std::size_t> find_binary(std::string_view bytes) noexcept;

/// Returns the name of the first entry of a ZIP archive; empty if `bytes` do not begin one.
[[nodiscard]] std::string_view first_zip_entry(std::string_view bytes) noexcept;

/// A kind of file that epsflow does not read.
struct ForeignKind {
  std::string_view name;
  std::string_view remedy;
};

/// Returns the kind of another program's file that begins with `bytes`, if any; `binary` is the result of
/// find_binary(). A magic text such as PARE counts only in a binary file, because it may be the name of a column.
[[nodiscard]] std::optional<ForeignKind> find_foreign(std::string_view bytes, std::optional<std::size_t> binary);

}  // namespace epsflow::io
