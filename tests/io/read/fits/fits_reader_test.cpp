#include <epsflow/io/read/fits/fits_format.hpp>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <fitsio.h>
#include <zlib.h>

#include <epsflow/core/format.hpp>
#include <epsflow/io/read_points.hpp>

#include "io/io_test.hpp"

namespace epsflow::io {
namespace {

using test::bytes_of_file;
using test::check_mentions;
using test::error_of;
using test::TempFolder;
using test::values_of;
using Values = std::vector<double>;

// Writes a FITS file with cfitsio, one table after the other.
class FitsWriter {
 public:
  explicit FitsWriter(const std::filesystem::path& file) {
    fits_create_diskfile(&file_, file.c_str(), &status_);
    fits_create_img(file_, BYTE_IMG, 0, nullptr, &status_);
  }
  ~FitsWriter() {
    fits_close_file(file_, &status_);
    CHECK(status_ == 0);
  }
  FitsWriter(const FitsWriter&) = delete;
  FitsWriter& operator=(const FitsWriter&) = delete;

  void table(int kind, const char* name, std::vector<std::string> columns, std::vector<std::string> forms) {
    std::vector<char*> names;
    std::vector<char*> types;
    for (std::string& column : columns) names.push_back(column.data());
    for (std::string& form : forms) types.push_back(form.data());
    fits_create_tbl(file_, kind, 0, static_cast<int>(columns.size()), names.data(), types.data(), nullptr, name,
                    &status_);
    REQUIRE(status_ == 0);
  }
  void key(const char* name, double value) { fits_write_key(file_, TDOUBLE, name, &value, nullptr, &status_); }
  void key(const char* name, int value) { fits_write_key(file_, TINT, name, &value, nullptr, &status_); }
  // Makes cfitsio see the keys just written.
  void apply_keys() { fits_set_hdustruc(file_, &status_); }
  void write(int column, Values values) {
    fits_write_col(file_, TDOUBLE, column, 1, 1, static_cast<LONGLONG>(values.size()), values.data(), &status_);
    REQUIRE(status_ == 0);
  }
  void write_text(int column, std::vector<std::string> values) {
    std::vector<char*> texts;
    for (std::string& value : values) texts.push_back(value.data());
    fits_write_col(file_, TSTRING, column, 1, 1, static_cast<LONGLONG>(texts.size()), texts.data(), &status_);
    REQUIRE(status_ == 0);
  }
  void write_integers(int column, std::vector<LONGLONG> values) {
    fits_write_col(file_, TLONGLONG, column, 1, 1, static_cast<LONGLONG>(values.size()), values.data(), &status_);
    REQUIRE(status_ == 0);
  }
  void write_logical(int column, std::vector<char> values) {
    fits_write_col(file_, TLOGICAL, column, 1, 1, static_cast<LONGLONG>(values.size()), values.data(), &status_);
    REQUIRE(status_ == 0);
  }
  void write_bytes(int row, int first, std::string bytes) {
    fits_write_tblbytes(file_, row, first, static_cast<LONGLONG>(bytes.size()),
                        reinterpret_cast<unsigned char*>(bytes.data()), &status_);
    REQUIRE(status_ == 0);
  }
  void write_null(int column, int row) {
    fits_write_col_null(file_, column, row, 1, 1, &status_);
    REQUIRE(status_ == 0);
  }

 private:
  fitsfile* file_ = nullptr;
  int status_ = 0;
};

FilePoints read(const std::filesystem::path& file, const ReadOptions& options = {}) {
  return read_points(file, options);
}

// Extension 1 "STARS": float32 RA and DEC, float64 Z, int32 N, text, a vector, a logical. Extension 2 "EVENTS": two
// columns.
std::filesystem::path write_sample(const TempFolder& folder, const std::string& name = "sample.fits") {
  const std::filesystem::path file = folder / name;
  FitsWriter fits(file);
  fits.table(BINARY_TBL, "STARS", {"RA", "Dec", "Z", "N", "NAME", "MAG", "OK"},
             {"1E", "1E", "1D", "1J", "8A", "3E", "1L"});
  fits.write(1, {1.5, 2.5, 3.5});
  fits.write(2, {-1, -2, -3});
  fits.write(3, {0.1, 0.2, 0.3});
  fits.write(4, {10, 20, 30});
  fits.write_text(5, {"a", "b", "c"});
  fits.table(BINARY_TBL, "EVENTS", {"X", "Y"}, {"1D", "1I"});
  fits.write(1, {7, 8});
  fits.write(2, {9, 10});
  return file;
}

TEST_CASE("fits reader: columns are chosen by the names of the table, beside texts") {
  const TempFolder folder;
  const auto file = folder / "sky.fits";
  {
    FitsWriter writer(file);
    writer.table(BINARY_TBL, "SKY", {"name", "dec", "ra", "z"}, {"4A", "1D", "1D", "1D"});
    writer.write_text(1, {"a", "b"});
    writer.write(2, {1, 2});
    writer.write(3, {10, 20});
    writer.write(4, {0.5, 0.5});
  }
  const auto choose = [](const std::vector<std::string>& names) {
    CHECK(names == std::vector<std::string>{"name", "dec", "ra", "z"});
    return std::vector<std::size_t>{2, 1};
  };
  const FilePoints points = read_points(file, {.choose = choose});
  CHECK(values_of(points) == Values{10, 1, 20, 2});
  CHECK(points.column_names == std::vector<std::string>{"ra", "dec"});
}

TEST_CASE("fits: columns by name and number, precision by their types") {
  const TempFolder folder;
  const std::filesystem::path file = write_sample(folder);
  const FilePoints single = read(file, {.columns = {"ra", "DEC"}});
  CHECK(single.precision() == Precision::float32);
  CHECK(values_of(single) == Values{1.5, -1, 2.5, -2, 3.5, -3});
  CHECK(single.column_names == std::vector<std::string>{"RA", "Dec"});
  const FilePoints mixed = read(file, {.columns = {"Z", "0", "3"}});
  CHECK(mixed.precision() == Precision::float64);
  CHECK(values_of(mixed) == Values{0.1, 1.5, 10, 0.2, 2.5, 20, 0.3, 3.5, 30});
}

TEST_CASE("fits: tables by number and name") {
  const TempFolder folder;
  const std::filesystem::path file = write_sample(folder);
  const std::string table = GENERATE("2", "EVENTS", "events");
  CHECK(values_of(read(file, {.table = table})) == Values{7, 9, 8, 10});
  CHECK(values_of(read(file, {.columns = {"N"}, .table = "1"})) == Values{10, 20, 30});
  for (const char* missing : {"0", "3", "GALAXIES", "-1"}) {
    CAPTURE(missing);
    check_mentions(error_of<InputError>([&] { read(file, {.table = missing}); }),
                   {"sample.fits", missing, "ReadOptions::table", "1 (STARS), 2 (EVENTS)"});
  }
}

TEST_CASE("fits: columns that are missing or no scalar numbers") {
  const TempFolder folder;
  const std::filesystem::path file = write_sample(folder);
  check_mentions(error_of<InputError>([&] { read(file, {.columns = {"GLON"}}); }),
                 {"sample.fits", "'GLON'", "RA, Dec, Z, N, NAME, MAG, OK", "columns"});
  check_mentions(error_of<InputError>([&] { read(file, {.columns = {"NAME"}}); }), {"'NAME'", "8A", "columns"});
  check_mentions(error_of<InputError>([&] { read(file); }), {"'MAG'", "ReadOptions::columns", "'MAG[0]'", "RA, Dec"});
}

TEST_CASE("fits: vectors by element, counted from 0") {
  const TempFolder folder;
  const std::filesystem::path file = folder / "vectors.fits";
  {
    FitsWriter fits(file);
    fits.table(BINARY_TBL, "T", {"POS", "ONE", "N", "NONE", "a[1]"}, {"3E", "1D", "2J", "0D", "1D"});
    fits.write(1, {1, 2, 3, 4, 5, 6});
    fits.write(2, {7, 8});
    fits.write(3, {9, 10, 11, 12});
    fits.write(5, {13, 14});
  }
  const FilePoints points = read(file, {.columns = {"POS[2]", "pos[0]"}});
  CHECK(points.precision() == Precision::float32);
  CHECK(values_of(points) == Values{3, 1, 6, 4});
  CHECK(points.column_names == std::vector<std::string>{"POS[2]", "POS[0]"});
  CHECK(points.column_numbers == std::vector<std::size_t>{0, 0});
  CHECK(points.inputs[0].kind == "FITS table 1 (T)");
  CHECK(values_of(read(file, {.columns = {"2[1]", "ONE"}})) == Values{10, 7, 12, 8});
  CHECK(values_of(read(file, {.columns = {"ONE[0]", "a[1]"}})) == Values{7, 13, 8, 14});
  check_mentions(error_of<InputError>([&] { read(file, {.columns = {"POS"}}); }),
                 {"vectors.fits", "'POS'", "3 values", "'POS[0]'", "'POS[2]'", "from 0", "ReadOptions::columns"});
  check_mentions(error_of<InputError>([&] { read(file, {.columns = {"POS[3]"}}); }),
                 {"'POS[3]'", "3 values", "counted from 0"});
  check_mentions(error_of<InputError>([&] { read(file, {.columns = {"NONE"}}); }), {"'NONE'", "no values"});
  check_mentions(error_of<InputError>([&] { read(file, {.columns = {"VEL[0]"}}); }), {"'VEL'", "POS, ONE, N"});
  check_mentions(error_of<InputError>([&] { read(file); }), {"'POS[0]'"});
  check_mentions(error_of<UsageError>([&] { read(file, {.columns = {"POS[1]", "pos[1]"}}); }), {"'POS[1]'", "twice"});
}

TEST_CASE("fits: elements of long vectors of many rows") {
  const TempFolder folder;
  constexpr std::size_t kRows = 3000;
  constexpr std::size_t kElements = 50;
  Values values(kRows * kElements);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i);
  {
    FitsWriter fits(folder / "long.fits");
    fits.table(BINARY_TBL, "T", {"V"}, {"50D"});
    fits.write(1, values);
  }
  const FilePoints points = read(folder / "long.fits", {.columns = {"V[49]", "V[7]"}});
  REQUIRE(points.size() == kRows);
  bool same = true;
  for (std::size_t i = 0; i < kRows; ++i) {
    same = same && points.view().at(i, 0) == values[i * kElements + 49] &&
           points.view().at(i, 1) == values[i * kElements + 7];
  }
  CHECK(same);
}

TEST_CASE("fits: truth values are 0 and 1") {
  const TempFolder folder;
  const std::filesystem::path file = folder / "logical.fits";
  {
    FitsWriter fits(file);
    fits.table(BINARY_TBL, "T", {"OK", "TWO"}, {"1L", "2L"});
    fits.write_logical(1, {1, 0, 1});
    fits.write_logical(2, {1, 0, 0, 1, 1, 1});
    fits.write_null(1, 3);
  }
  CHECK(values_of(read(file, {.columns = {"TWO[1]", "TWO[0]"}})) == Values{0, 1, 1, 0, 1, 1});
  check_mentions(error_of<InputError>([&] { read(file, {.columns = {"OK"}}); }), {"row 2", "'OK'", "nan"});
  const FilePoints kept = read(file, {.columns = {"OK"}, .on_nan = NanPolicy::drop});
  CHECK(values_of(kept) == Values{1, 0});
  CHECK(kept.inputs[0].dropped == std::vector<std::uint64_t>{2});
  std::string bytes = bytes_of_file(file);
  bytes[5760] = 'X';
  check_mentions(error_of<InputError>([&] { read(folder.write("x.fits", bytes), {.columns = {"OK"}}); }),
                 {"x.fits", "'OK'", "'X'", "neither T nor F"});
}

TEST_CASE("fits: columns of another table are pointed out") {
  const TempFolder folder;
  const std::filesystem::path file = write_sample(folder);
  check_mentions(error_of<InputError>([&] {
                   read(file, {.columns = {"X", "Y"}});
                 }),
                 {"sample.fits", "table 1 (STARS)", "table 2 (EVENTS)", "ReadOptions::table = '2'"});
  check_mentions(error_of<InputError>([&] { read(file, {.columns = {"RA"}, .table = "EVENTS"}); }),
                 {"ReadOptions::table = '1'"});
  check_mentions(error_of<InputError>([&] { read(file, {.columns = {"RA", "X"}}); }), {"no column 'X'"});
}

TEST_CASE("fits: nulls, NaN and scaling") {
  const TempFolder folder;
  const std::filesystem::path file = folder / "nulls.fits";
  {
    FitsWriter fits(file);
    fits.table(BINARY_TBL, "T", {"I", "F", "S"}, {"1J", "1E", "1I"});
    fits.key("TNULL1", -99);
    fits.key("TSCAL3", 0.5);
    fits.key("TZERO3", 100.0);
    fits.apply_keys();
    fits.write(1, {1, 2, 3});
    fits.write(2, {1, 2, std::numeric_limits<double>::quiet_NaN()});
    fits.write(3, {100.5, 101, 101.5});
    fits.write_null(1, 2);
  }
  check_mentions(error_of<InputError>([&] {
                   read(file, {.columns = {"S", "I"}});
                 }),
                 {"nulls.fits", "row 1", "'I'", "nan", "on"});
  check_mentions(error_of<InputError>([&] { read(file, {.columns = {"F"}}); }), {"row 2", "'F'"});
  const FilePoints kept = read(file, {.on_nan = NanPolicy::drop});
  CHECK(values_of(kept) == Values{1, 1, 100.5});
  CHECK(kept.dropped_rows() == 2);
  const FilePoints scaled = read(file, {.columns = {"S"}});
  CHECK(scaled.precision() == Precision::float64);
  CHECK(values_of(scaled) == Values{100.5, 101, 101.5});
}

TEST_CASE("fits: scaled float32 becomes float64") {
  const TempFolder folder;
  const std::filesystem::path file = folder / "scaled.fits";
  {
    FitsWriter fits(file);
    fits.table(BINARY_TBL, "T", {"A"}, {"1E"});
    fits.key("TSCAL1", 0.25);
    fits.apply_keys();
    fits.write(1, {1, 2});
  }
  CHECK(read(file).precision() == Precision::float64);
  CHECK(values_of(read(file)) == Values{1, 2});
}

TEST_CASE("fits: denormals stay what they are") {
  const TempFolder folder;
  const std::filesystem::path file = folder / "small.fits";
  const Values values{5e-324, 1e-310, -2e-308};
  {
    FitsWriter fits(file);
    fits.table(BINARY_TBL, "T", {"D"}, {"1D"});
    fits.write(1, values);
  }
  CHECK(values_of(read(file)) == values);
}

TEST_CASE("fits: ASCII tables") {
  const TempFolder folder;
  const std::filesystem::path file = folder / "ascii.fits";
  {
    FitsWriter fits(file);
    fits.table(ASCII_TBL, "T", {"A", "B", "C"}, {"F10.3", "I6", "E15.7"});
    fits.write(1, {1.125, -2.25});
    fits.write(2, {3, 4});
    fits.write(3, {5.5, 6.5});
  }
  const FilePoints points = read(file);
  CHECK(points.precision() == Precision::float64);
  CHECK(values_of(points) == Values{1.125, 3, 5.5, -2.25, 4, 6.5});
}

TEST_CASE("fits: integers of ASCII tables that float64 rounds are refused, others kept") {
  const TempFolder folder;
  const std::filesystem::path file = folder / "ascii.fits";
  const auto read_integer = [&](const std::string& text) {
    std::filesystem::remove(file);
    {
      FitsWriter fits(file);
      fits.table(ASCII_TBL, "T", {"A", "ID"}, {"F10.3", "I25"});
      fits.write(1, {1.125, -2.25});
      fits.write(2, {3, 4});
      fits.write_bytes(2, 12, std::string(25 - text.size(), ' ') + text);
    }
    return values_of(read(file));
  };
  CHECK(read_integer("9007199254740991") == Values{1.125, 3, -2.25, 9007199254740991});
  CHECK(read_integer("-9007199254740994") == Values{1.125, 3, -2.25, -9007199254740994});
  CHECK(read_integer("+1152921504606846976") == Values{1.125, 3, -2.25, 1152921504606846976});
  CHECK(read_integer("9223372036854775808") == Values{1.125, 3, -2.25, 9223372036854775808.0});
  CHECK(read_integer("-18014398509481984000000") == Values{1.125, 3, -2.25, -18014398509481984000000.0});
  for (const char* text : {"9007199254740994.0", "0009007199254740994.", "9.007199254740994E15", "+9007199254740994D0",
                           "900719925474099.4E+01", "90071992547409940E-1"}) {
    INFO(text);
    CHECK(read_integer(text) == Values{1.125, 3, -2.25, 9007199254740994});
  }
  for (const char* text : {"9007199254740993", "-1152921504606846977", "1152921504606846977", "99999999999999999999",
                           "18014398509481984000001", "9007199254740993.0", "9007199254740994.5",
                           "9.007199254740993E15", "9007199254740994E300"}) {
    check_mentions(error_of<InputError>([&] { read_integer(text); }),
                   {"ascii.fits", "row 1", "'ID'", text, "2^53", "ReadOptions::columns"});
  }
}

TEST_CASE("fits: more rows than cfitsio reads at once, no rows, one row") {
  const TempFolder folder;
  const std::filesystem::path file = folder / "many.fits";
  const std::size_t n = GENERATE(0, 1, 100000);
  Values x(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = static_cast<double>(i);
  {
    FitsWriter fits(file);
    fits.table(BINARY_TBL, "T", {"A", "B"}, {"1D", "1K"});
    if (n > 0) {
      fits.write(1, x);
      fits.write(2, x);
    }
  }
  const FilePoints points = read(file);
  REQUIRE(points.size() == n);
  CHECK(points.dims() == 2);
  bool same = true;
  for (std::size_t i = 0; i < n; ++i) same = same && points.view().at(i, 0) == x[i] && points.view().at(i, 1) == x[i];
  CHECK(same);
  if (n == 0) return;
  check_mentions(error_of<ResourceError>([&] { read(file, {.memory = n * 16 - 1}); }),
                 {"many.fits", format_count(n * 16, "byte"), "memory"});
}

TEST_CASE("fits: names with cfitsio's own characters are plain names") {
  const TempFolder folder;
  const std::filesystem::path file = write_sample(folder, "a[1](b)+2 {c}.fits");
  CHECK(values_of(read(file, {.table = "EVENTS"})) == Values{7, 9, 8, 10});
}

void write_gzip(const std::filesystem::path& file, const std::string& bytes) {
  const gzFile packed = gzopen(file.c_str(), "wb");
  REQUIRE(gzwrite(packed, bytes.data(), static_cast<unsigned>(bytes.size())) == static_cast<int>(bytes.size()));
  gzclose(packed);
}

TEST_CASE("fits: gzipped files") {
  const TempFolder folder;
  const std::string bytes = bytes_of_file(write_sample(folder));
  write_gzip(folder / "packed.fits.gz", bytes);
  CHECK(values_of(read(folder / "packed.fits.gz", {.table = "2"})) == Values{7, 9, 8, 10});
  const std::string packed = bytes_of_file(folder / "packed.fits.gz");
  check_mentions(error_of<InputError>([&] { read(folder.write("cut.fits.gz", packed.substr(0, packed.size() / 2))); }),
                 {"cut.fits.gz", "truncated gzip"});
}

TEST_CASE("fits: a file in memory whose last block is not complete") {
  const TempFolder folder;
  const std::filesystem::path file = folder / "column.fits";
  {
    FitsWriter fits(file);
    fits.table(BINARY_TBL, "T", {"x"}, {"1J"});
    fits.write(1, {1, 2, 3});
  }
  const std::string bytes = bytes_of_file(file);
  constexpr std::size_t kDataEnd = 5760 + 12;
  for (const std::size_t length : {kDataEnd, kDataEnd + 1, bytes.size() - 1, bytes.size()}) {
    CAPTURE(length);
    folder.write("cut.fits.gz", test::gzip(bytes.substr(0, length)));
    CHECK(values_of(read(folder / "cut.fits.gz")) == Values{1, 2, 3});
  }
  folder.write("cut.fits.gz", test::gzip(bytes.substr(0, kDataEnd - 1)));
  check_mentions(error_of<InputError>([&] { (void)read(folder / "cut.fits.gz"); }), {"cut.fits.gz", "truncated"});
}

TEST_CASE("fits: a column's name without quotes is refused before cfitsio copies it") {
  const TempFolder folder;
  const std::filesystem::path file = folder / "column.fits";
  {
    FitsWriter fits(file);
    fits.table(BINARY_TBL, "FIRST", {"x"}, {"1J"});
    fits.write(1, {1, 2, 3});
    fits.table(BINARY_TBL, "SECOND", {"y"}, {"1J"});
    fits.write(1, {1, 2, 3});
  }
  std::string bytes = bytes_of_file(file);
  const std::size_t at = bytes.rfind("TTYPE1");
  bytes.replace(at + 10, 70, 70, 'x');
  folder.write("bad.fits", bytes);
  folder.write("bad.fits.gz", test::gzip(bytes));
  for (const char* name : {"bad.fits", "bad.fits.gz"}) {
    check_mentions(error_of<InputError>([&] { (void)read(folder / name); }), {name, "TTYPE1", "quotes"});
  }
}

TEST_CASE("fits: a table whose header lost rows is damaged, not shorter") {
  const TempFolder folder;
  const std::filesystem::path whole = folder / "whole.fits";
  const std::size_t rows = GENERATE(std::size_t{5000}, std::size_t{100});  // of many blocks, and within one
  CAPTURE(rows);
  const bool is_last = GENERATE(true, false);
  {
    FitsWriter fits(whole);
    fits.table(BINARY_TBL, "T", {"A"}, {"1D"});
    fits.write(1, Values(rows, 1.0));
    if (!is_last) fits.table(BINARY_TBL, "NEXT", {"B"}, {"1D"});
    if (!is_last) fits.write(1, {2});
  }
  std::string bytes = bytes_of_file(whole);
  CHECK(read(whole).size() == rows);
  // Whole tapes were filled with one of these.
  CHECK(read(folder.write("tape.fits", bytes + std::string(2 * 2880, '\0'))).size() == rows);
  const std::size_t at = bytes.find("NAXIS2  =");
  bytes.replace(at, 30, rows == 100 ? "NAXIS2  =                   10" : "NAXIS2  =                  500");
  const std::string error = error_of<InputError>([&] { read(folder.write("lost.fits", bytes)); });
  check_mentions(error, {"lost.fits", "damaged", "fetch the file again"});
  check_mentions(error_of<InputError>([&] { read(folder.write("lost.fits.gz", test::gzip(bytes))); }), {"damaged"});
}

TEST_CASE("fits: integers that float64 would round are refused, where their column is used") {
  const TempFolder folder;
  const std::filesystem::path file = folder / "ids.fits";
  std::vector<LONGLONG> ids{1, 2, (LONGLONG{1} << 53) + 1};
  {
    FitsWriter fits(file);
    fits.table(BINARY_TBL, "T", {"X", "ID", "PAIR"}, {"1D", "1K", "2K"});
    fits.write(1, {1, 2, 0x1p60});
    fits.write_integers(2, ids);
    fits.write_integers(3, {1, 2, 3, ids[2], 5, 6});
  }
  const auto refusal = [&](const std::string& column) {
    return error_of<InputError>([&] { read(file, {.columns = {column}}); });
  };
  check_mentions(refusal("ID"), {"row 2, column 'ID' is 9007199254740993", "offset", "ReadOptions::columns"});
  check_mentions(refusal("PAIR[1]"), {"row 1, column 'PAIR[1]' is 9007199254740993"});
  CHECK(values_of(read(file, {.columns = {"X", "PAIR[0]"}})) == Values{1, 1, 2, 3, 0x1p60, 5});
}

TEST_CASE("fits: truncated and damaged files") {
  const TempFolder folder;
  const std::filesystem::path whole = folder / "whole.fits";
  {
    FitsWriter fits(whole);
    fits.table(BINARY_TBL, "T", {"A"}, {"1D"});
    fits.write(1, Values(5000, 1.0));
  }
  const std::string bytes = bytes_of_file(whole);
  for (const std::size_t size :
       {std::size_t{40}, std::size_t{2880}, std::size_t{4000}, std::size_t{5760}, bytes.size() / 2}) {
    CAPTURE(size);
    check_mentions(error_of<InputError>([&] { read(folder.write("cut.fits", bytes.substr(0, size))); }), {"cut.fits"});
  }
  check_mentions(error_of<InputError>([&] { read(folder.write("half.fits", bytes.substr(0, bytes.size() / 2))); }),
                 {"half.fits", "truncated", "40000 bytes"});
  check_mentions(error_of<InputError>([&] { read(folder.write("text.fits", "hello, world\n")); }),
                 {"text.fits", "not a FITS file", "SIMPLE"});
  check_mentions(error_of<InputError>([&] { read(folder.write("nothing.fits", "")); }), {"nothing.fits", "empty"});
  // A claim of more rows than the file holds is refused without room being made for them.
  std::string forged = bytes;
  const std::size_t at = forged.find("NAXIS2  =                 5000");
  REQUIRE(at != std::string::npos);
  forged.replace(at, 30, "NAXIS2  =      900000000000000");
  check_mentions(error_of<InputError>([&] { read(folder.write("forged.fits", forged)); }),
                 {"forged.fits", "truncated"});
  // No message of a failure stays behind for the next call.
  char message[FLEN_ERRMSG];
  CHECK(fits_read_errmsg(message) == 0);
}

TEST_CASE("fits: a file without tables") {
  const TempFolder folder;
  { const FitsWriter fits(folder / "image.fits"); }
  check_mentions(error_of<InputError>([&] { read(folder / "image.fits"); }), {"image.fits", "no table"});
}

}  // namespace
}  // namespace epsflow::io
