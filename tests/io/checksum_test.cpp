#include <epsflow/io/checksum.hpp>

#include <vector>

#include "io/io_test.hpp"

namespace epsflow::io::test {

TEST_CASE("checksum: CRC-32 of bytes and files, whole and in pieces") {
  const TempFolder folder;
  Checksum checksum;
  checksum.add("1234");
  checksum.add("56789");
  CHECK(format_checksum(checksum.value()) == "cbf43926");  // check value of the CRC catalogue
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

TEST_CASE("checksum: that of pieces, wherever points are cut") {
  std::vector<float> values;
  for (int i = 0; i < 3000; ++i) values.push_back(static_cast<float>(i % 7) / 3);
  const auto rows = [&](std::size_t first, std::size_t last) {
    return PointsView(std::span<const float>(values).subspan(3 * first, 3 * (last - first)), 3);
  };
  const std::string whole = checksum_of(rows(0, 1000));
  for (const std::size_t a : {0, 1, 21, 500, 999, 1000}) {
    for (const std::size_t b : {a, (a + 1000) / 2, std::size_t{1000}}) {
      const std::vector<FileDigest> pieces{digest_of_coordinates(rows(0, a)), digest_of_coordinates(rows(a, b)),
                                           digest_of_coordinates(rows(b, 1000))};
      CHECK(checksum_of(1000, 3, Precision::float32, pieces) == whole);
    }
  }
  Checksum long_one;
  long_one.add("1");
  long_one.add(FileDigest{std::uint64_t{1} << 40, 5});
  CHECK(long_one.value() ==
        crc32_combine64(crc32_z(0, reinterpret_cast<const Bytef*>("1"), 1), 5, std::int64_t{1} << 40));
}

}  // namespace epsflow::io::test
