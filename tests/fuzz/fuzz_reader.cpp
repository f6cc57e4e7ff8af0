// Reads any bytes as a file of the format FUZZED, a Format::name. The libraries that parse FITS, HDF5 and NPZ have
// coverage probes only if they are built with sanitizers.
#include "fuzz/fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return epsflow::fuzz::read_or_refuse(data, size, "fuzz.dat", [](auto bytes, const auto& source, std::uint8_t) {
    return epsflow::fuzz::read_as(FUZZED, bytes, source);
  });
}
