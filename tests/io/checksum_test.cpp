#include <epsflow/io/checksum.hpp>

#include <vector>

#include "io/io_test.hpp"

namespace epsflow::io::test {

TEST_CASE("checksum: CRC-32 of bytes and files, whole and in pieces") {
  const TempFolder folder;
  Checksum checksum;
  checksum.add("1234");
  checksum.add("56789");
  CHECK(format_checksum(checksum.value()) == "cbf43926");  // the check value of the CRC catalogue
  CHECK(parse_checksum("cbf43926") == checksum.value());
  for (const char* text : {"", "cbf4392", "cbf439260", "cbf4392g", "0xbf4392"}) CHECK_FALSE(parse_checksum(text));
  const std::filesystem::path file = folder.write("f", "123456789");
  CHECK(digest_of(file) == FileDigest{9, checksum.value()});
  std::filesystem::create_symlink(file, folder / "link");
  for (const char* name : {"link", "none", ""}) CHECK_FALSE(digest_of(folder / name));
}

TEST_CASE("checksum: zlib's, wherever the bytes begin and end") {
  std::string bytes;
  for (int i = 0; i < 200; ++i) bytes += static_cast<char>(i * 37 + (i >> 3));
  for (std::size_t begin = 0; begin < 20; ++begin) {
    for (std::size_t size = 0; begin + size <= bytes.size(); ++size) {
      Checksum checksum;
      checksum.add(std::string_view(bytes).substr(begin, size));
      const auto* const data = reinterpret_cast<const Bytef*>(bytes.data() + begin);
      REQUIRE(checksum.value() == crc32_z(0, data, size));
    }
  }
}

TEST_CASE("checksum: points of another shape are other points") {
  const std::vector<double> values{1, 2, 3, 4, 5, 6};
  const auto of = [&](std::size_t dims) { return checksum_of(PointsView(std::span(values), dims)); };
  CHECK(of(1) == of(1));
  CHECK(of(1) != of(2));
}

}  // namespace epsflow::io::test
