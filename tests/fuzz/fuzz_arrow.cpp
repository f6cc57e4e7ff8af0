// Reads any bytes as a Parquet file, or as an Arrow file if the bit of value 16 is set in the first byte. The parsers
// are libparquet and libarrow, which have no coverage probes unless they are built with sanitizers.
#include "fuzz/fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return epsflow::fuzz::read_or_refuse(data, size, "fuzz.arrow", [](auto bytes, const auto& source, std::uint8_t mode) {
    return epsflow::fuzz::read_as((mode & 16) != 0 ? "Arrow" : "Parquet", bytes, source);
  });
}
