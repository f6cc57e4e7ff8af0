// Finds all occurrences of a value in an array.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace epsflow::parts {

/// find_equal() may write up to this many elements past the last result.
inline constexpr std::size_t kFoundBeyond = 64;

/// Writes the indices of the values that equal `wanted`, ascending. values: at most 65,536. indices: can hold all
/// results and kFoundBeyond more. Returns the number of results.
std::size_t find_equal(std::span<const std::uint16_t> values, std::uint16_t wanted, std::uint16_t* indices);

}  // namespace epsflow::parts
