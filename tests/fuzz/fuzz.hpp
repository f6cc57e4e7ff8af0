// The fuzz targets of the readers share this code. The first byte of an input selects the options. A reader must return
// points whose coordinates are finite and fit the budget, or throw an epsflow::Error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string_view>

#include <epsflow/core/error.hpp>
#include <epsflow/io/file_points.hpp>
#include <epsflow/io/read/byte_stream.hpp>
#include <epsflow/io/read/format.hpp>
#include <epsflow/io/read/library_file.hpp>
#include <epsflow/io/read/source.hpp>
#include <epsflow/io/read/value_sink.hpp>

namespace epsflow::fuzz {

/// Covers both NaN policies, chosen columns and a memory budget.
inline io::ReadOptions options_of(std::uint8_t mode) {
  io::ReadOptions options;
  if ((mode & 1) != 0) options.on_nan = io::NanPolicy::drop;
  if ((mode & 2) != 0) options.columns = {"1", "x"};
  if ((mode & 4) != 0) options.columns = {"0"};
  options.memory = (mode & 8) != 0 ? 64 : std::uint64_t{1} << 28;
  return options;
}

/// Calls read(bytes after the first, source, first byte).
template <class Read>
int read_or_refuse(const std::uint8_t* data, std::size_t size, const char* name, Read read) {
  if (size == 0) return 0;
  const io::ReadOptions options = options_of(data[0]);
  const io::Source source{.name = name, .options = options};
  try {
    const io::FilePoints points = read(std::span(reinterpret_cast<const char*>(data) + 1, size - 1), source, data[0]);
    require_finite(points);
    if (points.view().bytes() > options.memory) std::abort();
  } catch (const Error&) {
    // A refusal with a reason is a valid outcome.
  }
  return 0;
}

/// Reads with the reader of a format. The parser of a library runs in this process, not in a child, whose coverage and
/// faults would not be seen. Values that its parent would refuse are a fault of the parser, and end the program.
inline io::FilePoints read_as(std::string_view format, std::span<const char> bytes, const io::Source& source) {
  const io::Reader& reader = io::format_by_name(format).reader;
  const auto stream = io::stream_of(bytes, source.name);
  if (reader.read != nullptr) return reader.read(*stream, source);
  io::PointsBuilder points(source);
  reader.parse(io::library_file(*stream, source), source, points);
  if (!points.is_complete()) std::abort();
  return points.take();
}

}  // namespace epsflow::fuzz
