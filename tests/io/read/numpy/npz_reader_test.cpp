#include <epsflow/io/read/readers.hpp>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <zip.h>

#include <epsflow/io/read_points.hpp>
#include <epsflow/io/write/npz_writer.hpp>

#include "io/npy_samples.hpp"
#include "support/damage.hpp"

namespace epsflow::io::test {
namespace {

std::string npy_of(const std::string& type, const std::string& shape, const Values& values) {
  std::string data;
  for (const double value : values) {
    data += type == "<f4" ? bytes_of_value(static_cast<float>(value)) : bytes_of_value(value);
  }
  return npy(type, shape, data);
}

using Members = std::vector<std::pair<std::string, std::string>>;

std::filesystem::path write_zip(const TempFolder& folder, const std::string& name, const Members& members,
                                bool packed = true) {
  std::filesystem::path file = folder / name;
  zip_t* const archive = zip_open(file.c_str(), ZIP_CREATE | ZIP_TRUNCATE, nullptr);
  REQUIRE(archive != nullptr);
  for (const auto& [member, bytes] : members) {
    zip_source_t* const source = zip_source_buffer(archive, bytes.data(), bytes.size(), 0);
    const zip_int64_t index = zip_file_add(archive, member.c_str(), source, 0);
    REQUIRE(index >= 0);
    zip_set_file_compression(archive, static_cast<zip_uint64_t>(index), packed ? ZIP_CM_DEFLATE : ZIP_CM_STORE, 0);
  }
  REQUIRE(zip_close(archive) == 0);
  return file;
}

TEST_CASE("npz: the only array that can be points, or the one that is named") {
  const TempFolder folder;
  const bool packed = GENERATE(false, true);
  const std::filesystem::path file = write_zip(folder, "sets.npz",
                                               {{"cube.npy", npy_of("<f8", "(1, 1, 2)", {1, 2})},
                                                {"names.npy", npy_of("|S8", "(2,)", {0, 0})},
                                                {"xyz.npy", npy_of("<f8", "(2, 3)", {1, 2, 3, 4, 5, 6})}},
                                               packed);
  const FilePoints points = read_points(file);
  CHECK(values_of(points) == Values{1, 2, 3, 4, 5, 6});
  CHECK(points.inputs[0].name == file.string());
  CHECK(points.inputs[0].kind == "NPZ member xyz, NPY float64");
  CHECK(values_of(read_points(file, {.columns = {"2"}, .table = "xyz"})) == Values{3, 6});
  CHECK(values_of(read_points(file, {.table = "xyz.npy"})) == Values{1, 2, 3, 4, 5, 6});
  check_mentions(refusal(file, {.table = "cube"}), {"sets.npz", "'cube'", "3", "reshape"});
  check_mentions(refusal(file, {.table = "abc"}), {"sets.npz", "no array 'abc'", "ReadOptions::table",
                                                   "'cube' (1 x 1 x 2, float64)", "'names'", "'xyz' (2 x 3, float64)"});
  check_mentions(refusal<ResourceError>(file, {.memory = 47}), {"sets.npz", "ReadOptions::memory"});
}

TEST_CASE("npz: arrays of one axis as columns") {
  const TempFolder folder;
  const std::filesystem::path file = write_zip(folder, "columns.npz",
                                               {{"x.npy", npy_of("<f4", "(3,)", {1, 2, 3})},
                                                {"y.npy", npy_of("<f4", "(3,)", {4, 5, 6})},
                                                {"z.npy", npy_of("<f8", "(2,)", {7, 8})},
                                                {"m.npy", npy_of("<f8", "(1, 2)", {7, 8})}});
  const FilePoints points = read_points(file, {.columns = {"y", "x.npy"}});
  CHECK(points.precision() == Precision::float32);
  CHECK(values_of(points) == Values{4, 1, 5, 2, 6, 3});
  CHECK(points.column_names == Names{"y", "x"});
  CHECK(points.column_numbers == std::vector<std::size_t>{1, 0});
  CHECK(points.inputs[0].kind == "NPZ members y, x");
  check_mentions(refusal(file, {.columns = {"x", "z"}}),
                 {"columns.npz", "'x' has 3 values", "'z' has 2 values", "same length"});
  check_mentions(refusal(file, {.columns = {"x", "m"}}), {"'m' (1 x 2, float64)", "one axis"});
  check_mentions(refusal<UsageError>(file, {.columns = {"x", "x"}}), {"'x'", "twice"});
  check_mentions(refusal(file),
                 {"columns.npz", "several arrays", "ReadOptions::table", "ReadOptions::columns", "'x' (3, float32)"});
}

TEST_CASE("npz: weights in an array of their own beside columns, or in a column of the array") {
  const TempFolder folder;
  const std::filesystem::path file = write_zip(folder, "weighted.npz",
                                               {{"x.npy", npy_of("<f4", "(2,)", {1, 2})},
                                                {"w.npy", npy_of("<f8", "(2,)", {0.1, 0.2})},
                                                {"m.npy", npy_of("<f8", "(2, 2)", {3, 4, 5, 6})}});
  const FilePoints points = read_points(file, {.columns = {"x"}, .weight = "w"});
  CHECK(points.precision() == Precision::float32);
  CHECK(values_of(points) == Values{1, 2});
  CHECK(points.weights == Values{0.1, 0.2});
  CHECK(points.weight_column == "w");
  const FilePoints matrix = read_points(file, {.weight = "0", .table = "m"});
  CHECK(values_of(matrix) == Values{4, 6});
  CHECK(matrix.weights == Values{3, 5});
  check_mentions(refusal(file, {.columns = {"x"}, .weight = "v"}),
                 {"weighted.npz", "no array 'v'", "ReadOptions::weight", "'w' (2, float64)"});
}

TEST_CASE("npz: other members than the array that is read are ignored") {
  const TempFolder folder;
  const std::string objects = npy_of("|O", "(3,)", {}) + "\x80\x03]q\x00.";
  const Members members{{"X.npy", npy_of("<f8", "(2, 2)", {1, 2, 3, 4})},
                        {"names.npy", objects},
                        {"group/names.npy", objects},
                        {"group/x.npy", npy_of("<f8", "(2,)", {5, 6})},
                        {"group/y.npy", npy_of("<f8", "(2,)", {7, 8})},
                        {"odd.npy", "no array"},
                        {"empty.npy", ""},
                        {"readme.txt", "text"}};
  const auto file = write_zip(folder, "beside.npz", members);
  CHECK(values_of(read_points(file, {.table = "X"})) == Values{1, 2, 3, 4});
  CHECK(values_of(read_points(file, {.columns = {"group/y", "group/x"}})) == Values{7, 5, 8, 6});
  CHECK(values_of(read_points(file, {.columns = {"group/y"}, .weight = "group/x"})) == Values{7, 8});
  const Members only{members[0], members[1], members[2], members[5], members[6], members[7]};
  CHECK(values_of(read_points(write_zip(folder, "only.npz", only))) == Values{1, 2, 3, 4});
  check_mentions(refusal(file, {.table = "names"}), {"'names'", "objects"});
  check_mentions(refusal(file, {.columns = {"names"}}), {"'names'", "no column"});
}

TEST_CASE("npz: numbers of the other byte order, and half precision") {
  const TempFolder folder;
  const auto swapped = [](Values values) {
    for (double& value : values) {
      std::string bytes = bytes_of_value(value);
      std::reverse(bytes.begin(), bytes.end());
      std::memcpy(&value, bytes.data(), sizeof value);
    }
    return values;
  };
  const auto file = write_zip(folder, "big.npz",
                              {{"x.npy", npy_of(">f8", "(2,)", swapped({1.5, -2}))},
                               {"i.npy", npy(">u2", "(4,)", std::string("\1\0\0\2\0\3\xff\xff", 8))},
                               {"half.npy", npy_of("<f2", "(4,)", {1})}});
  CHECK(values_of(read_points(file, {.table = "x"})) == Values{1.5, -2});
  CHECK(values_of(read_points(file, {.columns = {"i"}})) == Values{256, 2, 3, 65535});
  CHECK(values_of(read_points(file, {.table = "half"})) == Values{0, 0, 0, 1.984375});  // the bytes of the float64 1
  CHECK(values_of(read_points(file, {.columns = {"half"}})) == Values{0, 0, 0, 1.984375});
}

TEST_CASE("npz: a way to pack that libzip lacks is not called damage") {
  const TempFolder folder;
  std::string bytes = bytes_of_file(write_zip(folder, "x.npz", {{"x.npy", npy_of("<f8", "(2,)", {1, 2})}}, false));
  constexpr char kOther = 98;  // PPMd
  bytes[bytes.find("PK\3\4") + 8] = kOther;
  bytes[bytes.find("PK\1\2") + 10] = kOther;
  const std::string text = refusal(folder.write("y.npz", bytes));
  check_mentions(text, {"y.npz", "'x'", "libzip", "numpy.savez"});
  CHECK(text.find("damaged") == std::string::npos);
}

TEST_CASE("npz: an archive without arrays, and one that is damaged") {
  const TempFolder folder;
  check_mentions(refusal(write_zip(folder, "texts.npz", {{"a.txt", "hello"}})), {"texts.npz", "ZIP", "unzip"});
  const std::string array = npy_of("<f8", "(150, 2)", Values(300, 1.5));
  const bool packed = GENERATE(false, true);
  const std::string bytes = bytes_of_file(write_zip(folder, "whole.npz", {{"x.npy", array}}, packed));
  const auto read_bytes = [&](const std::string& damaged) { return read_points(folder.write("x.npz", damaged)); };
  const auto has_all_rows = [](const FilePoints& points, const std::string&) { return points.size() == 150; };
  CHECK(epsflow::test::truncate_everywhere(bytes, read_bytes, has_all_rows) == 0);  // the list of members comes last
  epsflow::test::flip_bits(bytes, read_bytes, has_all_rows);
  if (packed) return;
  // A checksum covers the values, so a flipped bit in them is detected too.
  std::string flipped = bytes;
  flipped[bytes.find("\xf8\x3f") + 800] ^= 1;
  check_mentions(refusal(folder.write("y.npz", flipped)), {"y.npz", "damaged"});
}

TEST_CASE("npz: more arrays than 16 bits count, written one by one and read from one opening") {
  const TempFolder folder;
  const std::filesystem::path file = folder / "many.npz";
  constexpr std::size_t kMany = 70'000;
  NpzWriter out(file, file);
  for (std::size_t i = 0; i < kMany; ++i) {
    const Values values{static_cast<double>(i), 0.5};
    out.add("group/" + std::to_string(i), npy_numbers(values));
  }
  out.close();
  const auto columns = open_npz(file);
  for (const std::size_t i : {std::size_t{0}, kMany - 1}) {
    const FilePoints points = columns({"group/" + std::to_string(i), "group/1"});
    REQUIRE(values_of(points) == Values{static_cast<double>(i), 1, 0.5, 0.5});
  }
  check_error<InputError>({"many.npz", "group/x", "missing"}, [&] {
    static_cast<void>(columns({"group/1", "group/x"}));
  });
}

}  // namespace
}  // namespace epsflow::io::test
