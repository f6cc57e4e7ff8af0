// Reads any bytes as a FITS file. Only a build with an instrumented cfitsio covers the parser.
#include "fuzz/checking_sink.hpp"
#include "fuzz/fuzz.hpp"

#include <epsflow/io/read/byte_stream.hpp>
#include <epsflow/io/read/fits/fits_format.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return epsflow::fuzz::read_or_refuse(data, size, "fuzz.fits", [](auto bytes, const auto& source, std::uint8_t) {
    const auto stream = epsflow::io::stream_of(bytes, source.name);
    epsflow::fuzz::CheckingSink sink(source);
    epsflow::io::parse_fits(library_file(*stream, source), source, sink);
    return sink.take();
  });
}
