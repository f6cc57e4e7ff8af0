// Any bytes as text: the outcome is points whose coordinates are finite, or an epsflow::Error. The first byte picks the
// options, so that both NaN policies, chosen columns and a memory budget are reached.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include <epsflow/core/error.hpp>
#include <epsflow/io/file_bytes.hpp>
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
    epsflow::Points points;
    if (epsflow::io::is_gzip(bytes)) {
      const epsflow::io::FileBytes unpacked = epsflow::io::inflate_gzip(bytes, source.name);
      points = epsflow::io::read_text(unpacked.span(), source);
    } else {
      points = epsflow::io::read_text(bytes, source);
    }
    epsflow::require_finite(points);
    if (points.view().bytes() > options.memory) std::abort();
  } catch (const epsflow::Error&) {
    // Refused with a reason.
  }
  return 0;
}
