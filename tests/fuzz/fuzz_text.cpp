// Reads any bytes as text.
#include "fuzz/fuzz.hpp"

#include <epsflow/io/read/byte_stream.hpp>
#include <epsflow/io/read/text/text_reader.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return epsflow::fuzz::read_or_refuse(data, size, "fuzz.csv", [](auto bytes, const auto& source, std::uint8_t) {
    return epsflow::io::read_text(*epsflow::io::stream_of(bytes, source.name), source);
  });
}
