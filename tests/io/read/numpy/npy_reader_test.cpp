#include <epsflow/io/read/readers.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <epsflow/io/read/byte_stream.hpp>
#include <epsflow/io/read_points.hpp>

#include "io/npy_samples.hpp"

namespace epsflow::io::test {
namespace {

FilePoints read(const std::string& bytes, const ReadOptions& options = {}) {
  const auto stream = stream_of(bytes, "flights.npy", Unpack::nothing);
  return read_npy(*stream, {.name = "flights.npy", .options = options});
}

template <class E = InputError>
std::string refusal(const std::string& bytes, const ReadOptions& options = {}) {
  return error_of<E>([&] { static_cast<void>(read(bytes, options)); });
}

TEST_CASE("npy: float64 in all versions") {
  const int version = GENERATE(1, 2, 3);
  const FilePoints points = read(npy("<f8", "(2, 3)", pack<double>({1, 2, 3, 4, 5, 6}), false, version));
  CHECK(points.size() == 2);
  CHECK(points.dims() == 3);
  CHECK(points.precision() == Precision::float64);
  CHECK(values_of(points) == Values{1, 2, 3, 4, 5, 6});
  CHECK(points.column_names.empty());
}

TEST_CASE("npy: Fortran order and chosen columns") {
  const std::string data = pack<double>({1, 2, 3, 4, 5, 6});
  CHECK(values_of(read(npy("<f8", "(2, 3)", data, true))) == Values{1, 3, 5, 2, 4, 6});
  CHECK(values_of(read(npy("<f8", "(2, 3)", data, true), {.columns = {"2", "0"}})) == Values{5, 1, 6, 2});
  CHECK(values_of(read(npy("<f8", "(2, 3)", data), {.columns = {"2", "0"}})) == Values{3, 1, 6, 4});
}

template <class T>
void check_type(const std::string& code) {
  CAPTURE(code);
  const Values expected{1, 0, 100, 7};
  const auto values = {T{1}, T{0}, T{100}, T{7}};
  for (const bool swap : {false, true}) {
    const std::string order = sizeof(T) == 1 ? "|" : swap ? ">" : "<";
    std::string data;
    for (const T value : values) {
      std::string one = bytes_of_value(value);
      if (swap) std::reverse(one.begin(), one.end());
      data += one;
    }
    const FilePoints points = read(npy(order + code, "(2, 2)", data));
    CHECK(values_of(points) == expected);
    CHECK(points.precision() == (code == "f4" ? Precision::float32 : Precision::float64));
  }
  CHECK(values_of(read(npy("=" + code, "(4,)", pack<T>(values)))) == expected);
}

TEST_CASE("npy: every numeric type in both byte orders") {
  check_type<float>("f4");
  check_type<double>("f8");
  check_type<std::int8_t>("i1");
  check_type<std::int16_t>("i2");
  check_type<std::int32_t>("i4");
  check_type<std::int64_t>("i8");
  check_type<std::uint8_t>("u1");
  check_type<std::uint16_t>("u2");
  check_type<std::uint32_t>("u4");
  check_type<std::uint64_t>("u8");
  CHECK(values_of(read(npy("|b1", "(3,)", std::string("\0\1\1", 3)))) == Values{0, 1, 1});
}

TEST_CASE("npy: integers that float64 would round are refused, where their column is used") {
  constexpr std::int64_t kBeyond = (std::int64_t{1} << 53) + 1;
  for (const bool fortran : {false, true}) {
    const std::string bytes = npy("<i8", "(2, 2)", pack<std::int64_t>({1, 2, 3, kBeyond}), fortran);
    check_mentions(refusal(bytes), {"row 1, column 1 is 9007199254740993", "offset", "ReadOptions::columns"});
    CHECK(read(bytes, {.columns = {"0"}}).size() == 2);
  }
  check_mentions(refusal(npy(">u8", "(1,)", std::string(8, '\xFF'))), {"is 18446744073709551615"});
  const std::string lowest = pack<std::int64_t>({std::numeric_limits<std::int64_t>::min(), -kBeyond - 1, kBeyond - 1});
  CHECK(values_of(read(npy("<i8", "(3,)", lowest))) == Values{-0x1p63, -0x1p53 - 2, 0x1p53});
  check_mentions(refusal(npy_records("[('id', '<i8')]", "(1,)", pack<std::int64_t>({-kBeyond}))),
                 {"row 0, column 'id' is -9007199254740993"});
}

TEST_CASE("npy: one axis is one dimension, no rows are fine") {
  const FilePoints points = read(npy("<f4", "(3,)", pack<float>({1, 2, 3})));
  CHECK(points.dims() == 1);
  CHECK(values_of(points) == Values{1, 2, 3});
  const FilePoints none = read(npy("<f8", "(0, 2)", ""));
  CHECK(none.size() == 0);
  CHECK(none.dims() == 2);
}

const std::string kRecord =
    "[('u', '<f8'), ('class', '|S6'), ('', '|V2'), (('a title', 'n'), '>i2'), ('name', '<U2'), ('pos', '<f4', (3,)), "
    "('inner', [('p', '<f8'), ('q', '|u1')]), ('t', '<M8[ns]'), ('r', '<f4')]";

std::string record_row(double u, char n, float r) {
  return bytes_of_value(u) + "galaxy" + "--" + std::string{'\0', n} + std::string(8, 'N') + std::string(12, 'P') +
         std::string(9, 'I') + std::string(8, 'T') + bytes_of_value(r);
}

TEST_CASE("npy: structured arrays") {
  const std::string file = npy_records(kRecord, "(2,)", record_row(1.5, 2, 3) + record_row(4.5, 5, 6));
  const FilePoints points = read(file, {.columns = {"n", "u"}});
  CHECK(values_of(points) == Values{2, 1.5, 5, 4.5});
  CHECK(points.column_names == Names{"n", "u"});
  CHECK(points.precision() == Precision::float64);
  const FilePoints single = read(file, {.columns = {"r"}});
  CHECK(single.precision() == Precision::float32);
  CHECK(values_of(single) == Values{3, 6});
  CHECK(values_of(read(file, {.columns = {"7", "2"}})) == Values{3, 2, 6, 5});  // padding is not a column
  check_mentions(refusal(file), {"flights.npy", "'pos'", "3 values", "ReadOptions::columns", "u, class, n, name"});
  check_mentions(refusal(file, {.columns = {"pos"}}), {"'pos'", "3 values", "'pos[0]'"});
  check_mentions(refusal(file, {.columns = {"inner"}}), {"'inner'", "nested"});
  check_mentions(refusal(file, {.columns = {"t"}}), {"'t'", "M8"});
  check_mentions(refusal(file, {.columns = {"v"}}), {"'v'", "u, class, n"});
  check_mentions(refusal(npy_records(kRecord, "(1, 1)", record_row(1, 2, 3))), {"one axis", "ravel"});
}

TEST_CASE("npy: fields that are arrays, by element") {
  const std::string file = npy_records(
      "[('pos', '<f4', (2, 2)), ('n', '<i2')]", "(2,)",
      pack<float>({1, 2, 3, 4}) + pack<std::int16_t>({5}) + pack<float>({6, 7, 8, 9}) + pack<std::int16_t>({10}));
  const FilePoints points = read(file, {.columns = {"pos[3]", "pos[0]"}});
  CHECK(points.precision() == Precision::float32);
  CHECK(values_of(points) == Values{4, 1, 9, 6});
  CHECK(points.column_names == Names{"pos[3]", "pos[0]"});
  CHECK(points.inputs[0].kind == "NPY records");
  check_mentions(refusal(file, {.columns = {"pos[4]"}}), {"'pos[4]'", "4 values", "counted from 0"});
}

TEST_CASE("npy: names in headers of version 1 are Latin-1, of version 3 UTF-8") {
  const std::string data = pack<double>({1});
  CHECK(read(npy_records("[('gr\xf6\xdf\x65', '<f8')]", "(1,)", data)).column_names == Names{"gr\xc3\xb6\xc3\x9f\x65"});
  CHECK(read(npy_records("[('gr\xc3\xb6\xc3\x9f\x65', '<f8')]", "(1,)", data, false, 3)).column_names ==
        Names{"gr\xc3\xb6\xc3\x9f\x65"});
}

TEST_CASE("npy: arrays that look transposed") {
  const std::string two_rows = npy("|i1", "(2, 33)", std::string(66, '\1'));
  check_mentions(refusal(two_rows),
                 {"flights.npy", "2 rows of 33 columns", "transposed", "array.T", "ReadOptions::columns"});
  CHECK(read(two_rows, {.columns = {"0", "32"}}).size() == 2);
  const FilePoints few = read(npy("|i1", "(2, 5)", std::string(10, '\1')));
  CHECK(few.inputs[0].kind == "NPY int8, 2 rows of 5 columns; transposed?");
  CHECK(read(npy("<f4", "(2, 2)", pack<float>({1, 2, 3, 4}))).inputs[0].kind == "NPY float32");
}

TEST_CASE("npy: chosen columns of more rows than one block, in both orders") {
  constexpr std::size_t kRows = 40000;
  const bool fortran = GENERATE(false, true);
  std::string data;
  for (std::size_t i = 0; i < kRows * 3; ++i) data += bytes_of_value(static_cast<std::int32_t>(i));
  const FilePoints points = read(npy("<i4", "(40000, 3)", data, fortran), {.columns = {"2", "0"}});
  check_rows(points, kRows, [&](auto i) {
    return fortran ? Values{double(2 * kRows + i), double(i)} : Values{double(3 * i + 2), double(3 * i)};
  });
}

TEST_CASE("npy: a file of unknown size that ends early") {
  const std::string file = npy("<f8", "(2, 2)", pack<double>({1, 2, 3, 4}));
  const TempFolder folder;
  feed_pipe(folder.write("cut.npy", file.substr(0, file.size() - 1)), folder / "pipe.npy");
  check_mentions(test::refusal(folder / "pipe.npy"), {"pipe.npy", "truncated", "32 bytes", "there are 31"});
}

TEST_CASE("npy: half precision, of either byte order") {
  // The values are 1.5, −2, the largest, the smallest normal and the smallest subnormal number, −0 and a third.
  const std::vector<std::uint16_t> bits{0x3E00, 0xC000, 0x7BFF, 0x0400, 0x0001, 0x8000, 0x3555};
  const Values values{1.5, -2, 65504, 0x1p-14, 0x1p-24, -0.0, 0.333251953125};
  for (const bool big : {false, true}) {
    std::string bytes;
    for (const std::uint16_t half : bits) {
      const std::string pair{static_cast<char>(half & 0xFF), static_cast<char>(half >> 8)};
      bytes += big ? std::string(pair.rbegin(), pair.rend()) : pair;
    }
    const FilePoints points = read(npy(big ? ">f2" : "<f2", "(7,)", bytes));
    CHECK(values_of(points) == values);
    CHECK(std::signbit(values_of(points)[5]));
    CHECK(points.inputs.front().kind.find("float16") != std::string::npos);
  }
  const std::string infinite{"\x00\x7c", 2}, nan{"\x00\x7e", 2};
  for (const std::string& bytes : {infinite, nan}) {
    check_mentions(refusal(npy("<f2", "(1,)", bytes)), {"row 0"});
  }
}

TEST_CASE("npy: types that are no plain numbers") {
  const auto refused = [](const std::string& type) { return refusal(npy(type, "(1,)", std::string(64, 'x'))); };
  check_mentions(refused("|O"), {"flights.npy", "objects", "astype"});
  for (const char* type : {"<c16", "|S8", "<U4", "<f16", "<M8[s]", "|V8"}) {
    CAPTURE(type);
    check_mentions(refused(type), {"flights.npy", type, "astype"});
  }
}

TEST_CASE("npy: shapes that are no points") {
  check_mentions(refusal(npy("<f8", "()", pack<double>({1}))), {"axis", "0", "reshape"});
  check_mentions(refusal(npy("<f8", "(1, 1, 1)", pack<double>({1}))), {"axis", "3", "reshape"});
  check_mentions(refusal(npy("<f8", "(5, 0)", "")), {"no columns"});
  check_mentions(refusal(npy("|i1", "(1, 4097)", std::string(4097, '\1'))),
                 {"1 row of 4,097 columns", "transposed", "array.T"});
}

TEST_CASE("npy: truncated data are refused, whatever the header claims; trailing bytes are ignored") {
  const std::string data = pack<double>({1, 2, 3, 4});
  check_mentions(refusal(npy("<f8", "(2, 2)", data.substr(0, 31))), {"flights.npy", "truncated", "32 bytes", "31"});
  check_mentions(refusal(npy("<f8", "(1152921504606846976,)", data)),
                 {"flights.npy", "truncated", "9,223,372,036,854,775,808 bytes"});
  check_mentions(refusal(npy("|i1", "(1152921504606846976,)", data)), {"truncated", "1,152,921,504,606,846,976 bytes"});
  check_mentions(refusal(npy("<f8", "(4294967296, 4294967296)", data)), {"64 bits"});
  check_mentions(refusal(npy("<f8", "(0, 1152921504606846976)", "")), {"1,152,921,504,606,846,976 columns"});
  CHECK(values_of(read(npy("<f8", "(2, 2)", data + "tail"))) == Values{1, 2, 3, 4});
}

TEST_CASE("npy: damaged headers") {
  const std::string good = npy("<f8", "(1, 2)", pack<double>({1, 2}));
  for (std::size_t size = 0; size < good.size(); ++size) {
    CAPTURE(size);
    check_mentions(refusal(good.substr(0, size)), {"flights.npy"});
  }
  for (const char* text : {"",
                           "[]",
                           "{",
                           "{'descr'",
                           "{'descr': }",
                           "{'descr': '<f8'}",
                           "{'descr': '<f8', 'fortran_order': 1, 'shape': (1,)}",
                           "{'descr': '<f8', 'fortran_order': True, 'shape': (1.5,)}",
                           "{'descr': '<f8', 'fortran_order': True, 'shape': (-1,)}",
                           "{'descr': '<f8', 'fortran_order': True, 'shape': '1'}",
                           "{'descr': 8, 'fortran_order': True, 'shape': (1,)}",
                           "{'descr': '', 'fortran_order': True, 'shape': (1,)}",
                           "{'descr': '<', 'fortran_order': True, 'shape': (1,)}",
                           "{'descr': '<f', 'fortran_order': True, 'shape': (1,)}",
                           "{'descr': '<f8x', 'fortran_order': True, 'shape': (1,)}",
                           "{'descr': [('a',)], 'fortran_order': True, 'shape': (1,)}",
                           "{'descr': [(1, '<f8')], 'fortran_order': True, 'shape': (1,)}",
                           "{'descr': [('a', '<f8', 'x')], 'fortran_order': True, 'shape': (1,)}",
                           "{'descr': '<f8', 'fortran_order': True, 'shape': (99999999999999999999,)}",
                           "{'descr': '<f8' 'fortran_order': True, 'shape': (1,)}",
                           "{'descr': '<f8', 'fortran_order': True, 'shape': (1,)} x",
                           "{1: 2}",
                           "{'descr': '<U9223372036854775807', 'fortran_order': True, 'shape': (1,)}"}) {
    CAPTURE(text);
    check_mentions(refusal(npy_file(text, std::string(64, '\0'))), {"flights.npy", "damaged", "numpy.save"});
  }
  const std::string whole = "{'descr': '<f8', 'fortran_order': True, 'shape': (1,)}";
  check_mentions(refusal(npy_file(whole + '\0' + "x", std::string(64, '\0'))), {"damaged"});
  check_mentions(refusal(npy_file(std::string(1000, '['), "")), {"nested"});
  check_mentions(refusal(npy("<f8", "(1,)", pack<double>({1}), false, 4)), {"version 4", "numpy"});
  check_mentions(refusal(std::string("not an array")), {"not an NPY file"});
}

TEST_CASE("npy: header spellings") {
  const std::string data = pack<double>({1, 2});
  CHECK(values_of(read(npy_file("{\"shape\": (2L,), \"fortran_order\": False, \"descr\": \"<f8\"}", data))) ==
        Values{1, 2});
  const std::string quoted = npy_records(R"([('it\'s', '<f8')])", "(2,)", data);
  CHECK(read(quoted).column_names == Names{"it's"});
}

TEST_CASE("npy: NaN and the memory budget") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double inf = std::numeric_limits<double>::infinity();
  const std::string file = npy("<f8", "(4, 2)", pack<double>({1, 2, 3, nan, -inf, 6, 7, 8}));
  check_mentions(refusal(file), {"flights.npy", "row 1", "column 1", "nan", "NanPolicy::drop"});
  check_mentions(refusal(file, {.columns = {"0"}}), {"row 2", "column 0", "-inf"});
  const FilePoints kept = read(file, {.on_nan = NanPolicy::drop});
  CHECK(values_of(kept) == Values{1, 2, 7, 8});
  CHECK(kept.dropped_rows() == 2);
  check_mentions(refusal<ResourceError>(file, {.memory = 63}),
                 {"flights.npy", "64 bytes", "63 bytes", "ReadOptions::memory"});
  CHECK(read(file, {.on_nan = NanPolicy::drop, .memory = 64}).size() == 2);
  const std::string named =
      npy_records("[('ra', '<f4'), ('dec', '<f4')]", "(1,)", pack<float>({1, static_cast<float>(nan)}));
  check_mentions(refusal(named), {"row 0", "'dec'", "nan"});
}

TEST_CASE("npy: NaN and infinity are found wherever they are") {
  constexpr std::size_t kRows = 4096 + 37;
  const double bad = GENERATE(std::numeric_limits<double>::quiet_NaN(), -std::numeric_limits<double>::infinity());
  const std::string good(kRows * 8, '\0');
  for (std::size_t row = 0; row < kRows; row += row < 40 || row > 4080 ? 1 : 97) {
    std::string data = good;
    data.replace(row * 8, 8, bytes_of_value(bad));
    const std::string file = npy("<f8", "(4133,)", data);
    CAPTURE(row);
    check_mentions(refusal(file), {"row " + std::to_string(row) + ","});
    CHECK(read(file, {.on_nan = NanPolicy::drop}).size() == kRows - 1);
  }
}

}  // namespace
}  // namespace epsflow::io::test
