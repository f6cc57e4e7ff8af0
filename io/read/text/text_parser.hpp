// Rows of a text table to rows of coordinates: the loop in which reading text spends its time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <epsflow/io/read/text/text_fields.hpp>
#include <epsflow/io/read_points.hpp>

namespace epsflow::io {

/// What becomes of a field instead of a coordinate: nothing, or it must be empty, as behind the last bar of a line.
inline constexpr std::size_t kUnused = std::numeric_limits<std::size_t>::max();
inline constexpr std::size_t kBar = kUnused - 1;

/// What every row of a table looks like.
struct RowShape {
  Dialect dialect;
  std::vector<std::size_t> slots;  ///< for each field of a row: its coordinate, of several the first, kUnused or kBar
  std::size_t dims = 0;
};

enum class Fault : std::uint8_t { none, ragged, open_quote, not_finite, not_a_number, rounded_integer };

/// What became of the rows of a stretch of lines.
struct ChunkResult {
  std::uint64_t rows = 0;  ///< data rows seen, the faulty one not counted
  std::uint64_t kept = 0;
  std::uint64_t lines = 0;  ///< lines before the faulty row
  Fault fault = Fault::none;
  std::size_t fault_field = 0;
  const char* fault_row = nullptr;
  std::vector<std::uint64_t> dropped;  ///< rows, counted from the first of the stretch
};

/// Parses whole lines into rows of `out`, which has room for all of them. Stops at the first fault. O(bytes). Safe to
/// call from several threads for different stretches.
[[nodiscard]] ChunkResult parse_rows(const RowShape& shape, NanPolicy on_nan, std::span<const char> lines, double* out);

}  // namespace epsflow::io
