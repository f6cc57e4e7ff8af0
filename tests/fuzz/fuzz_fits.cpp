// Reads any bytes as a FITS file. cfitsio parses them; it has coverage probes only if it is built with sanitizers.
#include "fuzz/fuzz.hpp"

#include <epsflow/io/read/readers.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return epsflow::fuzz::read_or_refuse(data, size, "fuzz.fits", [](auto bytes, const auto& source, std::uint8_t) {
    return epsflow::fuzz::parse_points(epsflow::io::parse_fits, bytes, source);
  });
}
