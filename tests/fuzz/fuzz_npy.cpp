// Reads any bytes as an NPY file. A missing magic string is put before them, so that most inputs reach the header.
#include <string>

#include "fuzz/fuzz.hpp"

#include <epsflow/io/read/byte_stream.hpp>
#include <epsflow/io/read/numpy/npy_header.hpp>
#include <epsflow/io/read/readers.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return epsflow::fuzz::read_or_refuse(data, size, "fuzz.npy", [](auto input, const auto& source, std::uint8_t mode) {
    std::string bytes(input.begin(), input.end());
    if ((mode & 16) != 0 && bytes.size() <= 0xFFFF) {
      // The whole input becomes the dictionary. Its correct length is put before it and some data after it.
      const std::string length{static_cast<char>(bytes.size()), static_cast<char>(bytes.size() >> 8)};
      bytes = std::string("\x93NUMPY\1\0", 8) + length + bytes + std::string(96, '\x40');
    } else if (!epsflow::io::is_npy(bytes)) {
      bytes = "\x93NUMPY" + bytes;
    }
    const auto stream = epsflow::io::stream_of(bytes, source.name, epsflow::io::Unpack::nothing);
    return epsflow::io::read_npy(*stream, source);
  });
}
