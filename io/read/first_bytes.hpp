// Recognises files by their first bytes.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace epsflow::io {

/// Returns the position of the first byte that text cannot contain: a control character, or invalid UTF-8.
[[nodiscard]] std::optional<std::size_t> find_binary(std::string_view bytes) noexcept;

/// Returns the name of the first entry of a ZIP archive; empty if `bytes` do not begin one.
[[nodiscard]] std::string_view first_zip_entry(std::string_view bytes) noexcept;

/// A kind of file that epsflow does not read.
struct ForeignKind {
  std::string_view name;
  std::string_view remedy;
};

/// Returns the kind of another program's file that begins with `bytes`, if any; `binary` is the result of
/// find_binary(). PAR1,PAR2 alone are not evidence: they may be names of columns.
[[nodiscard]] std::optional<ForeignKind> find_foreign(std::string_view bytes, std::optional<std::size_t> binary);

}  // namespace epsflow::io
