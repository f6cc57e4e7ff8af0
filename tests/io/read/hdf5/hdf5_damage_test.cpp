// HDF5 files lose their end or have a bit flipped. libhdf5 crashes on some of them, in a separate process.
#include <string>
#include <vector>

#include "io/damage_checks.hpp"
#include "io/hdf5_samples.hpp"

namespace epsflow::io::test {
namespace {

/// Returns a file of each layout.
std::vector<DamageSample> samples() {
  Values values(400);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = 0.25 * static_cast<double>(i * 7919 % 1000) + 1;
  std::vector<Row> rows(50);
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = {values[i], 2, 3, "abc", {4, 5}};
  const TempFolder folder;
  std::vector<DamageSample> list;
  for (const bool chunked : {false, true}) {
    Hdf5Writer(folder / "matrix.h5").matrix("/cloud/xy", H5T_IEEE_F64LE, {200, 2}, values, chunked);
    Hdf5Writer(folder / "table.h5").table("/events", rows, chunked);
    const std::string prefix = chunked ? "chunks_" : "";
    list.push_back({prefix + "matrix.h5", bytes_of_file(folder / "matrix.h5")});
    list.push_back({prefix + "table.h5", bytes_of_file(folder / "table.h5"), {.columns = {"lat", "pair[1]"}}});
  }
  return list;
}

}  // namespace

TEST_CASE("hdf5 damage: a truncated file is an error, or all of its points are there") { check_truncated(samples()); }

TEST_CASE("hdf5 damage: a flipped bit is an error, or leaves the number of rows") { check_flipped(samples(), 400, 2); }

TEST_CASE("hdf5: chunks of another size than their shape tells are not read past") {
  const TempFolder folder;
  const std::filesystem::path whole = folder / "whole.h5";
  Hdf5Writer(whole).matrix("/x", H5T_IEEE_F64LE, {64, 2}, Values(128, 1.0), true);
  const std::string bytes = bytes_of_file(whole);
  // The chunk extents are 2 rows of 2 values of 8 bytes. They occur once, in the layout of the data set.
  const std::string extents("\2\0\0\0\2\0\0\0\10\0\0\0", 12);
  const std::size_t at = bytes.find(extents);
  REQUIRE(at != std::string::npos);
  for (std::size_t byte = at; byte < at + extents.size(); ++byte) {
    for (int bit = 0; bit < 8; ++bit) {
      CAPTURE(byte - at, bit);
      std::string damaged = bytes;
      damaged[byte] = static_cast<char>(damaged[byte] ^ (1 << bit));
      const std::filesystem::path file = folder.write("x.h5", damaged);
      check_mentions(refusal(file), {"x.h5"});
      check_mentions(refusal(file, {.external_storage = true}), {"x.h5"});
    }
  }
}

TEST_CASE("hdf5: chunks for values of another size are refused in a linked file, too") {
  const TempFolder folder;
  const std::filesystem::path part = folder / "part.h5";
  {
    Hdf5Writer writer(part);
    writer.matrix("/first", H5T_IEEE_F64LE, {3}, {1, 2, 3});
    writer.matrix("/x", H5T_IEEE_F64LE, {64, 2}, Values(128, 1.0), true);
  }
  const std::filesystem::path outer = folder / "outer.h5";
  {
    Hdf5Writer writer(outer);
    H5Lcreate_external(part.c_str(), "/x", writer.file(), "/link", H5P_DEFAULT, H5P_DEFAULT);
  }
  const ReadOptions options{.table = "/link", .external_storage = true};
  CHECK(values_of(read_points(outer, options)) == Values(128, 1.0));
  std::string bytes = bytes_of_file(part);
  // 2 rows of 2 values of 8 bytes, as above.
  const std::size_t extents = bytes.find(std::string("\2\0\0\0\2\0\0\0\10\0\0\0", 12));
  REQUIRE(extents != std::string::npos);
  bytes[extents + 8] = 4;
  (void)folder.write("part.h5", bytes);
  check_mentions(refusal(outer, options), {"outer.h5", "chunks of '/link'", "values of 4 bytes", "takes 8"});
}

}  // namespace epsflow::io::test
