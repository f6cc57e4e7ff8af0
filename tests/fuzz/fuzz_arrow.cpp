// Reads any bytes as a Parquet file, or as an Arrow file if the bit of value 16 is set in the first byte. The parsers
// are libparquet and libarrow, which have no coverage probes unless they are built with sanitizers.
#include "fuzz/fuzz.hpp"

#include <epsflow/io/read/readers.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return epsflow::fuzz::read_or_refuse(data, size, "fuzz.arrow", [](auto bytes, const auto& source, std::uint8_t mode) {
    const auto parse = (mode & 16) != 0 ? epsflow::io::parse_arrow : epsflow::io::parse_parquet;
    return epsflow::fuzz::parse_points(parse, bytes, source);
  });
}
