// Any bytes as an NPY file: the outcome is points whose coordinates are finite, or an epsflow::Error. The first byte
// picks the options; without the magic string, the bytes are taken as what follows it, so that most inputs reach the
// header.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include <epsflow/core/error.hpp>
#include <epsflow/io/npy_reader.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::uint8_t mode = data[0];
  epsflow::io::ReadOptions options;
  if ((mode & 1) != 0) options.on_nan = epsflow::io::NanPolicy::drop;
  if ((mode & 2) != 0) options.columns = {"1", "x"};
  if ((mode & 4) != 0) options.columns = {"0"};
  if ((mode & 8) != 0) options.memory = 64;
  const epsflow::io::Source source{.name = "fuzz.npy", .options = options};
  std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  if ((mode & 16) != 0) {
    // The whole input is the dictionary, with a right length before it and some data behind it.
    const std::string length{static_cast<char>(bytes.size()), static_cast<char>(bytes.size() >> 8)};
    if (bytes.size() > 0xFFFF) return 0;
    bytes = std::string("\x93NUMPY\1\0", 8) + length + bytes + std::string(96, '\x40');
  } else if (!epsflow::io::is_npy(bytes)) {
    bytes = "\x93NUMPY" + bytes;
  }
  try {
    const epsflow::Points points = epsflow::io::read_npy(bytes, source);
    epsflow::require_finite(points);
    if (points.view().bytes() > options.memory) std::abort();
  } catch (const epsflow::Error&) {
    // Refused with a reason.
  }
  return 0;
}
