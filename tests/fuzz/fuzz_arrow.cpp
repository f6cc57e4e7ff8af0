// Reads any bytes as a Parquet file, or as an Arrow file if the first byte has the bit of value 16. Only a build with
// instrumented libparquet and libarrow covers the parsers.
#include "fuzz/checking_sink.hpp"
#include "fuzz/fuzz.hpp"

#include <epsflow/io/read/arrow/arrow_formats.hpp>
#include <epsflow/io/read/byte_stream.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return epsflow::fuzz::read_or_refuse(data, size, "fuzz.arrow", [](auto bytes, const auto& source, std::uint8_t mode) {
    const auto stream = epsflow::io::stream_of(bytes, source.name);
    const auto parse = (mode & 16) != 0 ? epsflow::io::parse_arrow : epsflow::io::parse_parquet;
    epsflow::fuzz::CheckingSink sink(source);
    parse(library_file(*stream, source), source, sink);
    return sink.take();
  });
}
