// Reads any bytes as an NPZ archive. libzip reads the ZIP format; it has no coverage probes.
#include "fuzz/fuzz.hpp"

#include <epsflow/io/read/byte_stream.hpp>
#include <epsflow/io/read/readers.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return epsflow::fuzz::read_or_refuse(data, size, "fuzz.npz", [](auto bytes, const auto& source, std::uint8_t) {
    return epsflow::io::read_npz(*epsflow::io::stream_of(bytes, source.name), source);
  });
}
