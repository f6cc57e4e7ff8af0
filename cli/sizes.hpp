// Sizes of memory as the command line spells them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace epsflow::cli {

/// `512M`, `8GiB`, `1.5g`, plain bytes; K, M, G and T are powers of 1024. Nothing where the text is no size of at least
/// a byte and at most 2^62.
[[nodiscard]] std::optional<std::uint64_t> parse_bytes(std::string_view text);

}  // namespace epsflow::cli
