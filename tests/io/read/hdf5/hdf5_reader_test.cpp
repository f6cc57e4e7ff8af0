#include <epsflow/io/read/readers.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <fcntl.h>
#include <hdf5.h>
#include <sys/file.h>
#include <unistd.h>

#include <epsflow/io/read_points.hpp>

#include "io/hdf5_samples.hpp"
#include "io/io_test.hpp"
#include "io/shares.hpp"

namespace epsflow::io::test {
namespace {

const std::vector<Row> kRows{{1, 2, 3, "a", {0, 0}}, {4, 5, 6, "b", {0, 2.5F}}, {7, 8, 9, "c", {0, 0}}};

TEST_CASE("hdf5: the only data set, of any number type") {
  const TempFolder folder;
  const std::filesystem::path file = folder / "cloud.h5";
  // The types are variables of the library, and GENERATE cannot take them by reference.
  const std::vector<hid_t> types{H5T_IEEE_F64LE, H5T_IEEE_F64BE, H5T_IEEE_F32LE, H5T_IEEE_F32BE,
                                 H5T_STD_I16BE,  H5T_STD_U8LE,   H5T_STD_I64LE};
  const hid_t type = types[GENERATE(range(std::size_t{0}, std::size_t{7}))];
  const bool chunked = GENERATE(false, true);
  Hdf5Writer(file).matrix("/group/points", type, {3, 2}, {1, 2, 3, 4, 5, 6}, chunked);
  const FilePoints points = read_points(file);
  const bool single = H5Tequal(type, H5T_IEEE_F32LE) > 0 || H5Tequal(type, H5T_IEEE_F32BE) > 0;
  CHECK(points.precision() == (single ? Precision::float32 : Precision::float64));
  CHECK(points.dims() == 2);
  CHECK(values_of(points) == Values{1, 2, 3, 4, 5, 6});
  CHECK(points.column_names.empty());
  CHECK(values_of(read_points(file, {.columns = {"1"}})) == Values{2, 4, 6});
  CHECK(values_of(read_points(file, {.columns = {"1", "0"}, .table = "group/points"})) == Values{2, 1, 4, 3, 6, 5});
}

TEST_CASE("hdf5: shares of the rows of a matrix, a table and data sets side by side") {
  const TempFolder folder;
  for (const bool chunked : {false, true}) {
    Hdf5Writer(folder / "matrix.h5").matrix("m", H5T_IEEE_F32LE, {5, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, chunked);
    check_shares(folder / "matrix.h5");
    check_shares(folder / "matrix.h5", {.columns = {"1"}, .weight = "0"});
    Hdf5Writer(folder / "table.h5").table("t", kRows, chunked);
    check_shares(folder / "table.h5", {.columns = {"lat", "lon"}});
  }
  {
    Hdf5Writer file(folder / "columns.h5");
    file.matrix("g/x", H5T_IEEE_F64LE, {3}, {1, 2, 3});
    file.matrix("g/y", H5T_IEEE_F32LE, {3}, {3, std::numeric_limits<double>::quiet_NaN(), 5});
  }
  check_shares(folder / "columns.h5", {.columns = {"/g/x", "g/y"}, .on_nan = NanPolicy::drop});
}

TEST_CASE("hdf5: weights in a matrix, in a table and in a data set of their own") {
  const TempFolder folder;
  {
    Hdf5Writer file(folder / "columns.h5");
    file.matrix("g/x", H5T_IEEE_F32LE, {2}, {1, 2});
    file.matrix("g/y", H5T_IEEE_F32LE, {2}, {3, 4});
    file.matrix("g/w", H5T_IEEE_F64LE, {2}, {0.1, 0.2});
  }
  Hdf5Writer(folder / "matrix.h5").matrix("m", H5T_IEEE_F64LE, {2, 3}, {1, 2, 3, 4, 5, 6});
  Hdf5Writer(folder / "table.h5").table("t", kRows, false);
  for (const ReadOptions& options : {ReadOptions{.columns = {"/g/x", "g/y"}, .weight = "/g/w"},
                                     ReadOptions{.columns = {"x", "y"}, .weight = "w", .table = "g"}}) {
    const FilePoints points = read_points(folder / "columns.h5", options);
    CHECK(points.precision() == Precision::float32);
    CHECK(values_of(points) == Values{1, 3, 2, 4});
    CHECK(points.weights == Values{0.1, 0.2});
    CHECK(points.weight_column == "g/w");
  }
  const FilePoints matrix = read_points(folder / "matrix.h5", {.weight = "-1"});
  CHECK(values_of(matrix) == Values{1, 2, 4, 5});
  CHECK(matrix.weights == Values{3, 6});
  const FilePoints table = read_points(folder / "table.h5", {.columns = {"lon"}, .weight = "lat"});
  CHECK(table.precision() == Precision::float32);
  CHECK(values_of(table) == Values{2, 5, 8});
  CHECK(table.weights == Values{1, 4, 7});
  const FilePoints twice = read_points(folder / "columns.h5", {.columns = {"/g/w"}, .weight = "/g/w"});
  CHECK(values_of(twice) == twice.weights);
  check_mentions(refusal(folder / "columns.h5", {.columns = {"/g/x"}, .weight = "/g/v"}),
                 {"columns.h5", "no data set '/g/v'", "ReadOptions::weight", "/g/w"});
}

TEST_CASE("hdf5: one axis, no rows, and matrices that look transposed") {
  const TempFolder folder;
  Hdf5Writer(folder / "line.hdf5").matrix("x", H5T_IEEE_F64LE, {3}, {1, 2, 3});
  CHECK(values_of(read_points(folder / "line.hdf5")) == Values{1, 2, 3});
  Hdf5Writer(folder / "none.hdf").matrix("x", H5T_IEEE_F64LE, {0, 2}, {});
  CHECK(read_points(folder / "none.hdf").size() == 0);
  CHECK(read_points(folder / "none.hdf").dims() == 2);
  Hdf5Writer(folder / "rows.h5").matrix("xy", H5T_IEEE_F64LE, {2, 33}, Values(66, 1.0));
  check_mentions(refusal(folder / "rows.h5"), {"rows.h5", "2 rows of 33 columns", "transposed"});
  CHECK(read_points(folder / "rows.h5", {.columns = {"0", "32"}}).size() == 2);
}

TEST_CASE("hdf5: columns of a matrix in many blocks") {
  const TempFolder folder;
  constexpr std::size_t kCount = 300000;
  Values values(kCount * 5);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i);
  Hdf5Writer(folder / "wide.h5").matrix("x", H5T_IEEE_F64LE, {kCount, 5}, values);
  const FilePoints points = read_points(folder / "wide.h5", {.columns = {"4", "2"}});
  check_rows(points, kCount, [](auto i) { return Values{double(5 * i + 4), double(5 * i + 2)}; });
}

TEST_CASE("hdf5: compound tables") {
  const TempFolder folder;
  const std::filesystem::path file = folder / "radar.hdf5";
  const bool chunked = GENERATE(false, true);
  Hdf5Writer(file).table("/Data/Table Layout", kRows, chunked);
  const FilePoints points = read_points(file, {.columns = {"kind", "lat"}});
  CHECK(values_of(read_points(file, {.columns = {"0-2"}})) == Values{1, 2, 3, 4, 5, 6, 7, 8, 9});
  CHECK(points.precision() == Precision::float64);
  CHECK(values_of(points) == Values{3, 1, 6, 4, 9, 7});
  CHECK(points.column_names == Names{"kind", "lat"});
  const FilePoints single = read_points(file, {.columns = {"1"}, .table = "Data/Table Layout"});
  CHECK(single.precision() == Precision::float32);
  CHECK(values_of(single) == Values{2, 5, 8});
  check_mentions(refusal(file), {"radar.hdf5", "'pair'", "2 values", "ReadOptions::columns", "'pair[0]'",
                                 "lat, lon, kind, name, pair"});
  const FilePoints element = read_points(file, {.columns = {"pair[1]", "lon"}});
  CHECK(element.precision() == Precision::float32);
  CHECK(values_of(element) == Values{0, 2, 2.5, 5, 0, 8});
  CHECK(element.column_names == Names{"pair[1]", "lon"});
  check_mentions(refusal(file, {.columns = {"alt"}}), {"'alt'", "lat, lon, kind"});
}

TEST_CASE("hdf5: which data set") {
  const TempFolder folder;
  const std::filesystem::path file = folder / "many.h5";
  {
    Hdf5Writer writer(file);
    writer.matrix("/a/x", H5T_IEEE_F64LE, {2, 2}, {1, 2, 3, 4});
    writer.matrix("/b", H5T_IEEE_F64LE, {2, 3}, {1, 2, 3, 4, 5, 6});
    writer.matrix("/cube", H5T_IEEE_F64LE, {1, 1, 2}, {1, 2});
    writer.matrix("/one", H5T_IEEE_F64LE, {}, {1});
    writer.table("/t/table", kRows, false);
    H5Lcreate_soft("/nowhere", writer.file(), "/dangling", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_hard(writer.file(), "/", writer.file(), "/a/cycle", H5P_DEFAULT, H5P_DEFAULT);
  }
  check_mentions(refusal(file), {"many.h5", "several", "ReadOptions::table", "/a/x", "/b"});
  CHECK(values_of(read_points(file, {.table = "/a/x"})) == Values{1, 2, 3, 4});
  check_mentions(refusal(file, {.table = "/c"}), {"many.h5", "'/c'", "ReadOptions::table", "/a/x", "/t/table"});
  check_mentions(refusal(file, {.table = "/a"}), {"'/a' is a group", "/a/x"});
  check_mentions(refusal(file, {.table = "/dangling"}), {"no data set '/dangling'"});
  check_mentions(refusal(file, {.table = "/cube"}), {"'/cube'", "3 axes", "ReadOptions::table"});
  check_mentions(refusal(file, {.table = "/one"}), {"'/one'", "0 axes"});
}

TEST_CASE("hdf5: the requested columns determine which data set is read") {
  const TempFolder folder;
  const std::filesystem::path file = folder / "two.h5";
  {
    Hdf5Writer writer(file);
    writer.matrix("/b", H5T_IEEE_F64LE, {2, 3}, {1, 2, 3, 4, 5, 6});
    writer.table("/table", kRows, false);
  }
  CHECK(values_of(read_points(file, {.columns = {"lat", "lon"}})) == Values{1, 2, 4, 5, 7, 8});
  CHECK(values_of(read_points(file)) == Values{1, 2, 3, 4, 5, 6});  // the table has text, so it cannot be read whole
  check_mentions(refusal(file, {.columns = {"alt"}}), {"two.h5", "ReadOptions::table", "/b", "/table"});
}

TEST_CASE("hdf5: nothing but text") {
  const TempFolder folder;
  const hid_t text = H5Tcopy(H5T_C_S1);
  H5Tset_size(text, 4);
  Hdf5Writer(folder / "text.h5").dataset("names", text, text, {2}, "abc\0def");
  H5Tclose(text);
  check_mentions(refusal(folder / "text.h5"), {"text.h5", "'/names'", "text"});
  { const Hdf5Writer empty(folder / "empty.h5"); }
  check_mentions(refusal(folder / "empty.h5"), {"empty.h5", "no data set"});
}

TEST_CASE("hdf5: a truncated file") {
  const TempFolder folder;
  const std::filesystem::path file = folder / "whole.h5";
  Hdf5Writer(file).matrix("x", H5T_IEEE_F64LE, {1000, 2}, Values(2000, 1.0));
  const std::string bytes = bytes_of_file(file);
  check_mentions(refusal(folder.write("cut.h5", bytes.substr(0, bytes.size() / 2))), {"cut.h5", "truncated"});
}

TEST_CASE("hdf5: data sets of one axis as columns") {
  const TempFolder folder;
  const std::filesystem::path file = folder / "tracks.h5";
  {
    Hdf5Writer writer(file);
    writer.matrix("/lon", H5T_IEEE_F32LE, {3}, {1, 2, 3});
    writer.matrix("/lat", H5T_IEEE_F64LE, {3}, {4, 5, 6}, true);
    writer.matrix("/time", H5T_STD_I32LE, {2}, {7, 8});
    writer.matrix("/g/deep/x", H5T_IEEE_F32LE, {2}, {9, 10});
    writer.matrix("/g/deep/y", H5T_IEEE_F32LE, {2}, {11, 12});
    writer.matrix("/wide", H5T_IEEE_F64LE, {3, 1, 1}, {1, 2, 3});
    writer.matrix("/two", H5T_IEEE_F64LE, {3, 4}, Values(12, 1.0));
    writer.table("/table", kRows, false);
  }
  const std::vector<std::vector<std::string>> spellings{{"/lon", "/lat"}, {"/lon", "lat"}, {"lon", "lat"}};
  for (const auto& columns : spellings) {
    const FilePoints points = read_points(file, {.columns = columns, .table = columns[0] == "lon" ? "/" : ""});
    CHECK(points.precision() == Precision::float64);
    CHECK(values_of(points) == Values{1, 4, 2, 5, 3, 6});
    CHECK(points.column_names == Names{"lon", "lat"});
    CHECK(points.inputs[0].kind == "HDF5 data sets /lon, /lat");
  }
  const FilePoints deep = read_points(file, {.columns = {"y", "x"}, .table = "g/deep"});
  CHECK(deep.precision() == Precision::float32);
  CHECK(values_of(deep) == Values{11, 9, 12, 10});
  CHECK(values_of(read_points(file, {.columns = {"deep/x", "/time"}, .table = "/g/"})) == Values{9, 7, 10, 8});
  check_mentions(refusal(file, {.columns = {"/lon", "/time"}}),
                 {"tracks.h5", "'/lon' has 3 rows", "'/time' has 2 rows", "same length"});
  check_mentions(refusal(file, {.columns = {"/lon", "/nowhere"}}),
                 {"no data set '/nowhere'", "ReadOptions::columns", "/lat, /lon"});
  check_mentions(refusal(file, {.columns = {"/lon", "/two"}}), {"'/two' has two axes", "ReadOptions::table"});
  check_mentions(refusal(file, {.columns = {"/lon", "/table"}}), {"'/table' is a table"});
  check_mentions(refusal(file, {.columns = {"/lon", "/wide"}}), {"'/wide'", "3 axes"});
  check_mentions(refusal<UsageError>(file, {.columns = {"/lon", "/lon"}}), {"'/lon'", "twice"});
}

TEST_CASE("hdf5: data sets of one length are offered as columns") {
  const TempFolder folder;
  const std::filesystem::path file = folder / "tracks.h5";
  {
    Hdf5Writer writer(file);
    writer.matrix("/lat", H5T_IEEE_F64LE, {3}, {4, 5, 6});
    writer.matrix("/lon", H5T_IEEE_F64LE, {3}, {1, 2, 3});
  }
  check_mentions(refusal(file),
                 {"tracks.h5", "ReadOptions::table", "/lat, /lon", "ReadOptions::columns, as /lat,/lon"});
  CHECK(values_of(read_points(file, {.columns = {"lon", "lat"}})) == Values{1, 4, 2, 5, 3, 6});
}

TEST_CASE("hdf5: netCDF's fill values, packed values and bare dimensions") {
  const TempFolder folder;
  const std::filesystem::path file = folder / "grid.h5";
  {
    Hdf5Writer writer(file);
    writer.matrix("/obs", H5T_IEEE_F32LE, {4}, {0, 0, 0, 0});
    writer.text("/obs", "CLASS", "DIMENSION_SCALE");
    writer.text("/obs", "NAME", "This is a netCDF dimension but not a netCDF variable.         4");
    writer.matrix("/lon", H5T_IEEE_F32LE, {4}, {1, -999.9, 3, 1e20});
    writer.number("/lon", "_FillValue", H5T_IEEE_F32LE, -999.9);
    writer.number("/lon", "missing_value", H5T_IEEE_F64LE, 1e20);
    writer.matrix("/lat", H5T_STD_I16LE, {4}, {10, 20, 30, 40});
    writer.number("/lat", "scale_factor", H5T_IEEE_F64LE, 0.5);
    writer.number("/lat", "add_offset", H5T_IEEE_F64LE, 100);
    writer.number("/lat", "_FillValue", H5T_STD_I16LE, 30);
  }
  check_mentions(refusal(file, {.columns = {"/lon", "/lat"}}), {"grid.h5", "row 1", "'lon'", "nan"});
  const FilePoints points = read_points(file, {.columns = {"/lon", "/lat"}, .on_nan = NanPolicy::drop});
  CHECK(values_of(points) == Values{1, 105});
  CHECK(points.inputs[0].dropped == std::vector<std::uint64_t>{1, 2, 3});
  CHECK(read_points(file, {.columns = {"/lon"}, .on_nan = NanPolicy::drop}).precision() == Precision::float32);
  const FilePoints scaled = read_points(file, {.table = "/lat", .on_nan = NanPolicy::drop});
  CHECK(scaled.precision() == Precision::float64);
  CHECK(values_of(scaled) == Values{105, 110, 120});
  const std::string listed = refusal(file);
  CHECK(listed.find("/obs") == std::string::npos);
  check_mentions(refusal(file, {.table = "/obs"}), {"'/obs'", "dimension", "without values"});
}

/// Writes netCDF's attribute for unsigned values as text of variable length.
void write_unsigned(Hdf5Writer& writer, const char* path, const char* said) {
  const hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, H5T_VARIABLE);
  writer.attribute(path, "_Unsigned", type, &said);
  H5Tclose(type);
}

TEST_CASE("hdf5: netCDF's unsigned integers are of every size, and signed ones too") {
  struct Type {
    hid_t is_signed;
    hid_t is_unsigned;
    int bits;
  };
  const std::vector<Type> types{{H5T_STD_I8LE, H5T_STD_U8BE, 8},
                                {H5T_STD_I16BE, H5T_STD_U16LE, 16},
                                {H5T_STD_I32LE, H5T_STD_U32LE, 32},
                                {H5T_STD_I64BE, H5T_STD_U64LE, 64}};
  const Type type = types[GENERATE(range(std::size_t{0}, std::size_t{4}))];
  const bool chunked = GENERATE(false, true);
  const double turn = std::ldexp(1.0, type.bits);
  CAPTURE(type.bits, chunked);
  const TempFolder folder;
  const std::filesystem::path file = folder / "unsigned.nc";
  {
    Hdf5Writer writer(file);
    writer.matrix("/x", type.is_signed, {4}, {0, -turn / 2, -1, 3}, chunked);
    writer.text("/x", "_Unsigned", "true");
    writer.number("/x", "_FillValue", type.is_signed, -1);
    writer.matrix("/y", type.is_signed, {4}, {-turn / 2, -turn / 4, 7, 100}, chunked);
    write_unsigned(writer, "/y", "TRUE");
    writer.number("/y", "missing_value", H5T_IEEE_F64LE, 100);
    writer.matrix("/m", type.is_signed, {3, 2}, {1, -turn / 2, 2, -turn / 4, 3, 4}, chunked);
    writer.text("/m", "_Unsigned", "True  ");
    writer.matrix("/s", type.is_unsigned, {4}, {1, turn / 2, turn / 2 + turn / 4, 9}, chunked);
    write_unsigned(writer, "/s", "false");
    writer.number("/s", "_FillValue", type.is_unsigned, turn / 2);
    writer.matrix("/as_stored", type.is_signed, {4}, {1, -2, 3, -4}, chunked);
    writer.text("/as_stored", "_Unsigned", "false");
  }
  const FilePoints points = read_points(file, {.columns = {"/x", "/y"}, .on_nan = NanPolicy::drop});
  CHECK(values_of(points) == Values{0, turn / 2, turn / 2, turn * 3 / 4});
  CHECK(points.inputs[0].dropped == std::vector<std::uint64_t>{2, 3});
  CHECK(read_points(file, {.columns = {"/y"}, .weight = "/x", .on_nan = NanPolicy::drop}).weights ==
        Values{0, turn / 2});
  CHECK(values_of(read_points(file, {.table = "/m"})) == Values{1, turn / 2, 2, turn * 3 / 4, 3, 4});
  CHECK(values_of(read_points(file, {.columns = {"1"}, .weight = "0", .table = "/m"})) ==
        Values{turn / 2, turn * 3 / 4, 4});
  check_shares(file, {.table = "/m"});
  const FilePoints is_signed = read_points(file, {.columns = {"/s"}, .on_nan = NanPolicy::drop});
  CHECK(values_of(is_signed) == Values{1, -turn / 4, 9});
  CHECK(is_signed.inputs[0].dropped == std::vector<std::uint64_t>{1});
  CHECK(values_of(read_points(file, {.columns = {"/as_stored"}})) == Values{1, -2, 3, -4});
  const FilePoints first = read_points(file, {.columns = {"/as_stored"}});
  CHECK(read_columns({file}, {.columns = {"/as_stored"}}, {"/y"}, first).values[0][1] == turn * 3 / 4);
}

TEST_CASE("hdf5: netCDF's unsigned integers are unpacked, and those that float64 would round refused") {
  const TempFolder folder;
  const std::filesystem::path file = folder / "packed.nc";
  {
    Hdf5Writer writer(file);
    writer.matrix("/lon", H5T_STD_I16LE, {3}, {-27385, 10, -2});
    writer.text("/lon", "_Unsigned", "true");
    writer.number("/lon", "_FillValue", H5T_STD_I16LE, -2);
    writer.number("/lon", "scale_factor", H5T_IEEE_F32LE, 0.00203125);
    writer.number("/lon", "add_offset", H5T_IEEE_F32LE, -141.5);
    const std::int64_t ids[] = {5, -1};
    writer.dataset("/id", H5T_STD_I64LE, H5T_NATIVE_INT64, {2}, ids);
    writer.text("/id", "_Unsigned", "true");
    const std::uint64_t backward[] = {~std::uint64_t{0}, std::uint64_t(-((std::int64_t{1} << 53) + 1))};
    writer.dataset("/back", H5T_STD_U64LE, H5T_NATIVE_UINT64, {2}, backward);
    writer.text("/back", "_Unsigned", "false");
    writer.matrix("/float", H5T_IEEE_F32LE, {2}, {-1, 2});
    writer.text("/float", "_Unsigned", "true");
  }
  const Values lon = values_of(read_points(file, {.columns = {"/lon"}, .on_nan = NanPolicy::drop}));
  const double scale = static_cast<float>(0.00203125);
  CHECK(lon == Values{(65536 - 27385) * scale - 141.5, 10 * scale - 141.5});
  const auto refused = [&](const char* column) { return refusal(file, {.columns = {column}}); };
  check_mentions(refused("/id"), {"row 1, column 'id' is 18446744073709551615", "2^53"});
  check_mentions(refused("/back"), {"row 1, column 'back' is -9007199254740993"});
  CHECK(values_of(read_points(file, {.columns = {"/float"}})) == Values{-1, 2});
  CHECK(read_points(file, {.columns = {"/float"}}).precision() == Precision::float32);
}

TEST_CASE("hdf5: a filter that the library lacks is named, and the file not called damaged") {
  const TempFolder folder;
  const std::filesystem::path file = folder / "filters.h5";
  const Values values{1, 2, 3, 4, 5, 6};
  {
    Hdf5Writer writer(file);
    const ForeignFilter lzf(32000, "lzf");
    lzf.write(writer, "/lzf", H5T_NATIVE_DOUBLE, {3, 2}, values.data());
    lzf.write(writer, "/column", H5T_NATIVE_DOUBLE, {6}, values.data());
    const ForeignFilter zstd(32015, "Zstandard compression: http://www.zstd.net");
    zstd.write(writer, "/zstd", H5T_NATIVE_DOUBLE, {6}, values.data());
    const ForeignFilter rare(31999, "ours");
    const hid_t pair = H5Tcreate(H5T_COMPOUND, 16);
    H5Tinsert(pair, "a", 0, H5T_NATIVE_DOUBLE);
    H5Tinsert(pair, "b", 8, H5T_NATIVE_DOUBLE);
    rare.write(writer, "/records", pair, {3}, values.data());
    H5Tclose(pair);
    const ForeignFilter idle(32004, "lz4", ForeignFilter::give_up);
    idle.write(writer, "/not_packed", H5T_NATIVE_DOUBLE, {3, 2}, values.data(), H5Z_FLAG_OPTIONAL);
    writer.matrix("/plain", H5T_IEEE_F64LE, {6}, values);
  }
  const auto refused = [&](const ReadOptions& options) {
    const std::string text = refusal(file, options);
    check_mentions(text, {"filters.h5", "this build's HDF5 lacks", "h5repack -f NONE", "HDF5_PLUGIN_PATH", "h5py"});
    CHECK(text.find("damaged") == std::string::npos);
    CHECK(text.find("fetch") == std::string::npos);
    return text;
  };
  check_mentions(refused({.table = "/lzf"}), {"'/lzf'", "lzf, number 32000"});
  check_mentions(refused({.columns = {"1"}, .table = "/lzf"}), {"lzf, number 32000"});
  check_mentions(refused({.columns = {"/plain", "/column"}}), {"'/column'", "lzf, number 32000"});
  check_mentions(refused({.columns = {"/plain"}, .weight = "/zstd"}), {"'/zstd'", "zstd, number 32015"});
  check_mentions(refused({.columns = {"b"}, .table = "/records"}), {"'/records'", "'ours', number 31999"});
  CHECK(values_of(read_points(file, {.table = "/not_packed"})) == values);
  CHECK(values_of(read_points(file, {.columns = {"/plain"}})) == values);
  const FilePoints plain = read_points(file, {.columns = {"/plain"}});
  check_mentions(error_of<InputError>([&] { (void)read_columns({file}, {.columns = {"/plain"}}, {"/column"}, plain); }),
                 {"lzf, number 32000"});
  const std::filesystem::path outer = folder / "outer.h5";
  Hdf5Writer(outer).linked("/virtual", 6, file, "/column");
  const std::string linked = refusal(outer, {.external_storage = true});
  check_mentions(linked, {"this build's HDF5 lacks", "required filter 'lzf'"});
}

TEST_CASE("hdf5: data frames of pandas are refused with the way out") {
  const TempFolder folder;
  const std::filesystem::path file = folder / "frame.h5";
  const std::string type = GENERATE(std::string("frame"), std::string("frame_table"));
  CAPTURE(type);
  {
    Hdf5Writer writer(file);
    writer.matrix("/store/df/block0_values", H5T_IEEE_F64LE, {2, 2}, {1, 2, 3, 4});
    writer.text("/store/df", "pandas_type", type);
    writer.matrix("/plain", H5T_IEEE_F64LE, {2}, {5, 6});
  }
  check_mentions(refusal(file), {"ReadOptions::table from: /plain"});
  CHECK(values_of(read_points(file, {.table = "/plain"})) == Values{5, 6});
  for (const ReadOptions& options : {ReadOptions{}, ReadOptions{.columns = {"x"}}, ReadOptions{.table = "store/df"}}) {
    check_mentions(refusal(file, options),
                   {"frame.h5", "store/df", "written by pandas", "to_parquet", "Python package"});
  }
  // The parts of the frame are normal data sets, which a user can name.
  CHECK(values_of(read_points(file, {.table = "/store/df/block0_values"})) == Values{1, 2, 3, 4});
}

TEST_CASE("hdf5: integers that float64 would round are refused, where their column is used") {
  struct Ids {
    double x;
    std::int64_t id;
  };
  const TempFolder folder;
  const std::filesystem::path file = folder / "ids.h5";
  constexpr std::int64_t kBeyond = (std::int64_t{1} << 53) + 1;
  {
    Hdf5Writer writer(file);
    const std::int64_t matrix[] = {1, 2, 3, kBeyond};
    writer.dataset("/matrix", H5T_STD_I64BE, H5T_NATIVE_INT64, {2, 2}, matrix);
    const std::uint64_t most[] = {std::uint64_t{1} << 63, ~std::uint64_t{0}};
    writer.dataset("/most", H5T_STD_U64LE, H5T_NATIVE_UINT64, {2}, most);
    const std::int64_t missing[] = {1, kBeyond};
    writer.dataset("/missing", H5T_STD_I64LE, H5T_NATIVE_INT64, {2}, missing);
    writer.attribute("/missing", "_FillValue", H5T_NATIVE_INT64, &missing[1]);
    std::vector<std::int64_t> many(1'000'000, 7);
    many.back() = kBeyond;
    writer.dataset("/many", H5T_STD_I64LE, H5T_NATIVE_INT64, {many.size()}, many.data());
    const Ids rows[] = {{1, 5}, {2, -kBeyond}};
    const hid_t type = H5Tcreate(H5T_COMPOUND, sizeof(Ids));
    H5Tinsert(type, "x", offsetof(Ids, x), H5T_NATIVE_DOUBLE);
    H5Tinsert(type, "id", offsetof(Ids, id), H5T_NATIVE_INT64);
    writer.dataset("/table", type, type, {2}, rows);
    H5Tclose(type);
  }
  check_mentions(refusal(file, {.table = "/matrix"}), {"row 1, column 1 is 9007199254740993", "offset"});
  CHECK(values_of(read_points(file, {.columns = {"0"}, .table = "/matrix"})) == Values{1, 3});
  check_mentions(refusal(file, {.table = "/most"}), {"row 1, column 0 is 18446744073709551615"});
  check_mentions(refusal(file, {.table = "/table"}), {"row 1, column 'id' is -9007199254740993"});
  CHECK(values_of(read_points(file, {.columns = {"x"}, .table = "/table"})) == Values{1, 2});
  // The value lies in another share, so it is not read.
  CHECK(read_points(file, {.table = "/many", .share = {0, 2}}).size() == 500'000);
  check_mentions(refusal(file, {.table = "/many", .share = {1, 2}}), {"row 999999, column 0 is 9007199254740993"});
  CHECK(values_of(read_points(file, {.table = "/missing", .on_nan = NanPolicy::drop})) == Values{1});
}

TEST_CASE("hdf5: pipes and gzip are read from memory") {
  const TempFolder folder;
  const std::filesystem::path file = folder / "cloud.h5";
  Hdf5Writer(file).matrix("/xyz", H5T_IEEE_F64LE, {50, 2}, Values(100, 1.5), true);
  const std::string bytes = bytes_of_file(file);
  const std::filesystem::path packed = folder.write("cloud.h5.gz", gzip(bytes));
  CHECK(values_of(read_points(packed)) == Values(100, 1.5));
  check_mentions(refusal<ResourceError>(packed, {.memory = bytes.size() - 1}), {"cloud.h5.gz"});
  check_mentions(refusal<ResourceError>(packed, {.memory = bytes.size() + 799}), {"cloud.h5.gz"});
  const std::filesystem::path pipe = folder / "pipe.h5";
  feed_pipe(file, pipe);
  CHECK(values_of(read_points(pipe)) == Values(100, 1.5));
}

TEST_CASE("hdf5: values kept in other files are refused unless they are allowed") {
  const TempFolder folder;
  Hdf5Writer(folder / "part.h5").matrix("/x", H5T_IEEE_F64LE, {2}, {3, 4});
  const std::filesystem::path file = folder / "outer.h5";
  {
    Hdf5Writer writer(file);
    writer.linked("/virtual", 2, folder / "part.h5", "/x");
    const hid_t apart = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_external(apart, (folder / "values.raw").c_str(), 0, 16);
    const Values values{5, 6};
    writer.create("/external", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, {2}, values.data(), apart);
    H5Lcreate_external((folder / "part.h5").c_str(), "/x", writer.file(), "/link", H5P_DEFAULT, H5P_DEFAULT);
    writer.matrix("/own", H5T_IEEE_F64LE, {2}, {1, 2});
  }
  const auto refused = [&](const char* table) { return refusal(file, {.table = table}); };
  check_mentions(refused("/virtual"), {"outer.h5", "'/virtual'", "virtual storage", "ReadOptions::external_storage"});
  check_mentions(refused("/external"), {"'/external'", "external storage", "ReadOptions::external_storage"});
  check_mentions(refused("/link"), {"'/link'", "another file", "part.h5", "ReadOptions::external_storage"});
  CHECK(values_of(read_points(file, {.table = "/own"})) == Values{1, 2});
  const auto allowed = [&](const char* table) {
    return values_of(read_points(file, {.table = table, .external_storage = true}));
  };
  CHECK(allowed("/virtual") == Values{3, 4});
  CHECK(allowed("/external") == Values{5, 6});
  CHECK(allowed("/link") == Values{3, 4});
}

TEST_CASE("hdf5: rows that were never written are no points at the origin") {
  const TempFolder folder;
  const std::filesystem::path file = folder / "holes.h5";
  const bool chunked = GENERATE(false, true);
  {
    Hdf5Writer writer(file);
    writer.dataset("/x", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, {100, 2}, nullptr, chunked);
  }
  check_mentions(refusal(file), {"holes.h5", "'/x'", "never written"});
}

TEST_CASE("hdf5: a file that another program writes to is not called damaged") {
  const TempFolder folder;
  const std::filesystem::path file = folder / "busy.h5";
  Hdf5Writer(file).matrix("/x", H5T_IEEE_F64LE, {2}, {1, 2});
  const int descriptor = ::open(file.c_str(), O_RDWR);
  REQUIRE(::flock(descriptor, LOCK_EX | LOCK_NB) == 0);
  check_mentions(refusal(file), {"busy.h5", "open for writing by another program", "HDF5_USE_FILE_LOCKING=FALSE"});
  ::close(descriptor);
  CHECK(values_of(read_points(file)) == Values{1, 2});
}

}  // namespace
}  // namespace epsflow::io::test
