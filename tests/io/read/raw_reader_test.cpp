#include <epsflow/io/read/readers.hpp>

#include <string>
#include <vector>

#include "io/io_test.hpp"

namespace epsflow::io {
namespace {

using test::check_mentions;
using test::error_of;
using test::Values;
using test::values_of;

// Returns the little-endian float64 bytes of 1, 2, 3, 4. They are spelled out, so the test is valid on any machine.
std::string four_doubles() {
  const auto bytes = [](unsigned char high, unsigned char low) {
    return std::string(6, '\0') + static_cast<char>(low) + static_cast<char>(high);
  };
  return bytes(0x3F, 0xF0) + bytes(0x40, 0x00) + bytes(0x40, 0x08) + bytes(0x40, 0x10);
}

FilePoints read(const std::string& bytes, const ReadOptions& options) {
  const auto stream = stream_of(bytes, "cloud.raw", Unpack::nothing);
  return read_raw(*stream, {.name = "cloud.raw", .options = options});
}

template <class E = InputError>
std::string refusal(const std::string& bytes, const ReadOptions& options) {
  return error_of<E>([&] { read(bytes, options); });
}

TEST_CASE("raw: float64 and float32, all columns and some") {
  const FilePoints points = read(four_doubles(), {.raw = {.dims = 2}});
  CHECK(points.size() == 2);
  CHECK(points.precision() == Precision::float64);
  CHECK(values_of(points) == Values{1, 2, 3, 4});
  CHECK(values_of(read(four_doubles(), {.columns = {"1"}, .raw = {.dims = 2}})) == Values{2, 4});
  const std::string floats("\x00\x00\x80\x3F\x00\x00\x00\x40", 8);
  const FilePoints single = read(floats, {.raw = {.dims = 1, .precision = Precision::float32}});
  CHECK(single.precision() == Precision::float32);
  CHECK(values_of(single) == Values{1, 2});
  CHECK(read("", {.raw = {.dims = 3}}).size() == 0);
}

TEST_CASE("raw: errors") {
  check_mentions(refusal<UsageError>(four_doubles(), {}), {"cloud.raw", "ReadOptions::raw.dims"});
  check_mentions(refusal<UsageError>(four_doubles(), {.raw = {.dims = 5000}}),
                 {"ReadOptions::raw.dims", "5000", "4096"});
  check_mentions(refusal(four_doubles() + "x", {.raw = {.dims = 2}}),
                 {"cloud.raw", "33 bytes", "16 bytes", "ReadOptions::raw.dims"});
  check_mentions(refusal(four_doubles(), {.columns = {"x"}, .raw = {.dims = 2}}), {"'x'", "0 to 1"});
  check_mentions(refusal<ResourceError>(four_doubles(), {.raw = {.dims = 2}, .memory = 31}),
                 {"32 bytes", "31 bytes", "ReadOptions::memory"});
}

}  // namespace
}  // namespace epsflow::io
