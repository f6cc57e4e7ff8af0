// Any bytes as text: the outcome is points whose coordinates are finite, or an epsflow::Error. The first byte picks the
// options, so that both NaN policies, chosen columns and a memory budget are reached.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include <epsflow/core/error.hpp>
#include <epsflow/io/byte_stream.hpp>
#include <epsflow/io/text_reader.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::uint8_t mode = data[0];
  epsflow::io::ReadOptions options;
  if ((mode & 1) != 0) options.on_nan = epsflow::io::NanPolicy::drop;
  if ((mode & 2) != 0) options.columns = {"1", "x"};
  if ((mode & 4) != 0) options.columns = {"0"};
  if ((mode & 8) != 0) options.memory = 64;
  const epsflow::io::Source source{.name = "fuzz.csv", .options = options};
  const std::span<const char> bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  try {
    const auto stream = epsflow::io::stream_of(bytes, source.name);
    const epsflow::Points points = epsflow::io::read_text(*stream, source);
    epsflow::require_finite(points);
    if (points.view().bytes() > options.memory) std::abort();
  } catch (const epsflow::Error&) {
    // Refused with a reason.
  }
  return 0;
}
