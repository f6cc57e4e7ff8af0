// Where in an array one value is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace epsflow::parts {

/// So many places may be written behind those that are found.
inline constexpr std::size_t kFoundBeyond = 64;

/// The places of the values that equal one, ascending. values: at most 65,536. places: room for all that are found, and kFoundBeyond more.
/// Returns how many there are.
std::size_t find_equal(std::span<const std::uint16_t> values, std::uint16_t wanted, std::uint16_t* places);

}  // namespace epsflow::parts
