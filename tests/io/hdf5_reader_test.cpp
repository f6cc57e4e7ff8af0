#include <epsflow/io/hdf5_reader.hpp>

#include <cstdint>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

#include <hdf5.h>

#include <epsflow/io/read_points.hpp>

#include "io/io_test.hpp"

namespace epsflow::io {
namespace {

using test::check_mentions;
using test::error_of;
using test::TempFolder;
using test::values_of;
using Values = std::vector<double>;

// Writes an HDF5 file; groups on the way to a data set are made.
class Hdf5Writer {
 public:
  explicit Hdf5Writer(const std::filesystem::path& file)
      : file_(H5Fcreate(file.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT)), links_(H5Pcreate(H5P_LINK_CREATE)) {
    REQUIRE(file_ >= 0);
    H5Pset_create_intermediate_group(links_, 1);
  }
  ~Hdf5Writer() {
    H5Pclose(links_);
    H5Fclose(file_);
  }
  Hdf5Writer(const Hdf5Writer&) = delete;
  Hdf5Writer& operator=(const Hdf5Writer&) = delete;

  void matrix(const char* path, hid_t type, std::vector<hsize_t> shape, const Values& values, bool chunked = false) {
    dataset(path, type, H5T_NATIVE_DOUBLE, shape, values.data(), chunked);
  }

  void dataset(const char* path, hid_t type, hid_t memory_type, std::vector<hsize_t> shape, const void* values,
               bool chunked = false) {
    const hid_t space =
        shape.empty() ? H5Screate(H5S_SCALAR) : H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr);
    const hid_t layout = H5Pcreate(H5P_DATASET_CREATE);
    if (chunked) {
      std::vector<hsize_t> chunk(shape);
      chunk[0] = 2;
      H5Pset_chunk(layout, static_cast<int>(chunk.size()), chunk.data());
      H5Pset_deflate(layout, 4);
    }
    const hid_t id = H5Dcreate2(file_, path, type, space, links_, layout, H5P_DEFAULT);
    REQUIRE(id >= 0);
    if (values != nullptr) REQUIRE(H5Dwrite(id, memory_type, hid_t{0}, hid_t{0}, H5P_DEFAULT, values) >= 0);
    H5Dclose(id);
    H5Pclose(layout);
    H5Sclose(space);
  }

  hid_t file() const { return file_; }

 private:
  hid_t file_;
  hid_t links_;
};

struct Row {
  double lat;
  float lon;
  std::int32_t kind;
  char name[4];
  float pair[2];
};

void write_table(const Hdf5Writer& writer, const char* path, const std::vector<Row>& rows, bool chunked) {
  const hid_t text = H5Tcopy(H5T_C_S1);
  H5Tset_size(text, 4);
  const hsize_t two = 2;
  const hid_t pair = H5Tarray_create2(H5T_NATIVE_FLOAT, 1, &two);
  const hid_t type = H5Tcreate(H5T_COMPOUND, sizeof(Row));
  H5Tinsert(type, "lat", offsetof(Row, lat), H5T_NATIVE_DOUBLE);
  H5Tinsert(type, "lon", offsetof(Row, lon), H5T_NATIVE_FLOAT);
  H5Tinsert(type, "kind", offsetof(Row, kind), H5T_NATIVE_INT32);
  H5Tinsert(type, "name", offsetof(Row, name), text);
  H5Tinsert(type, "pair", offsetof(Row, pair), pair);
  const_cast<Hdf5Writer&>(writer).dataset(path, type, type, {rows.size()}, rows.data(), chunked);
  H5Tclose(type);
  H5Tclose(pair);
  H5Tclose(text);
}

const std::vector<Row> kRows{{1, 2, 3, "a", {0, 0}}, {4, 5, 6, "b", {0, 0}}, {7, 8, 9, "c", {0, 0}}};

Points read(const std::filesystem::path& file, const ReadOptions& options = {}) { return read_points(file, options); }

TEST_CASE("hdf5: the only data set, of any number type") {
  const TempFolder folder;
  const std::filesystem::path file = folder / "cloud.h5";
  // The types are variables of the library, which GENERATE cannot take by reference.
  const std::vector<hid_t> types{H5T_IEEE_F64LE, H5T_IEEE_F64BE, H5T_IEEE_F32LE, H5T_IEEE_F32BE,
                                 H5T_STD_I16BE,  H5T_STD_U8LE,   H5T_STD_I64LE};
  const hid_t type = types[GENERATE(range(std::size_t{0}, std::size_t{7}))];
  const bool chunked = GENERATE(false, true);
  Hdf5Writer(file).matrix("/group/points", type, {3, 2}, {1, 2, 3, 4, 5, 6}, chunked);
  const Points points = read(file);
  const bool single = H5Tequal(type, H5T_IEEE_F32LE) > 0 || H5Tequal(type, H5T_IEEE_F32BE) > 0;
  CHECK(points.precision() == (single ? Precision::float32 : Precision::float64));
  CHECK(points.dims() == 2);
  CHECK(values_of(points) == Values{1, 2, 3, 4, 5, 6});
  CHECK(points.column_names.empty());
  CHECK(values_of(read(file, {.columns = {"1"}})) == Values{2, 4, 6});
  CHECK(values_of(read(file, {.columns = {"1", "0"}, .table = "group/points"})) == Values{2, 1, 4, 3, 6, 5});
}

TEST_CASE("hdf5: one axis, no rows") {
  const TempFolder folder;
  Hdf5Writer(folder / "line.hdf5").matrix("x", H5T_IEEE_F64LE, {3}, {1, 2, 3});
  CHECK(values_of(read(folder / "line.hdf5")) == Values{1, 2, 3});
  Hdf5Writer(folder / "none.hdf").matrix("x", H5T_IEEE_F64LE, {0, 2}, {});
  CHECK(read(folder / "none.hdf").size() == 0);
  CHECK(read(folder / "none.hdf").dims() == 2);
}

TEST_CASE("hdf5: columns of a matrix in many blocks") {
  const TempFolder folder;
  constexpr std::size_t kCount = 300000;
  Values values(kCount * 5);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i);
  Hdf5Writer(folder / "wide.h5").matrix("x", H5T_IEEE_F64LE, {kCount, 5}, values);
  const Points points = read(folder / "wide.h5", {.columns = {"4", "2"}});
  REQUIRE(points.size() == kCount);
  bool same = true;
  for (std::size_t i = 0; i < kCount; ++i) {
    same = same && points.view().at(i, 0) == static_cast<double>(5 * i + 4) &&
           points.view().at(i, 1) == static_cast<double>(5 * i + 2);
  }
  CHECK(same);
}

TEST_CASE("hdf5: compound tables") {
  const TempFolder folder;
  const std::filesystem::path file = folder / "radar.hdf5";
  const bool chunked = GENERATE(false, true);
  { write_table(Hdf5Writer(file), "/Data/Table Layout", kRows, chunked); }
  const Points points = read(file, {.columns = {"kind", "lat"}});
  CHECK(points.precision() == Precision::float64);
  CHECK(values_of(points) == Values{3, 1, 6, 4, 9, 7});
  CHECK(points.column_names == std::vector<std::string>{"kind", "lat"});
  const Points single = read(file, {.columns = {"1"}, .table = "Data/Table Layout"});
  CHECK(single.precision() == Precision::float32);
  CHECK(values_of(single) == Values{2, 5, 8});
  check_mentions(error_of<InputError>([&] { read(file); }),
                 {"radar.hdf5", "'name'", "text", "ReadOptions::columns", "lat, lon, kind, name, pair"});
  check_mentions(error_of<InputError>([&] { read(file, {.columns = {"pair"}}); }), {"'pair'", "arrays"});
  check_mentions(error_of<InputError>([&] { read(file, {.columns = {"alt"}}); }), {"'alt'", "lat, lon, kind"});
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
    write_table(writer, "/t/table", kRows, false);
    H5Lcreate_soft("/nowhere", writer.file(), "/dangling", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_hard(writer.file(), "/", writer.file(), "/a/cycle", H5P_DEFAULT, H5P_DEFAULT);
  }
  check_mentions(error_of<InputError>([&] { read(file); }), {"many.h5", "several", "--table", "/a/x", "/b"});
  CHECK(values_of(read(file, {.table = "/a/x"})) == Values{1, 2, 3, 4});
  check_mentions(error_of<InputError>([&] { read(file, {.table = "/c"}); }),
                 {"many.h5", "'/c'", "--table", "/a/x", "/t/table"});
  check_mentions(error_of<InputError>([&] { read(file, {.table = "/a"}); }), {"no data set '/a'"});
  check_mentions(error_of<InputError>([&] { read(file, {.table = "/dangling"}); }), {"no data set '/dangling'"});
  check_mentions(error_of<InputError>([&] { read(file, {.table = "/cube"}); }), {"'/cube'", "3 axes", "--table"});
  check_mentions(error_of<InputError>([&] { read(file, {.table = "/one"}); }), {"'/one'", "0 axes"});
}

TEST_CASE("hdf5: the columns asked for settle which data set") {
  const TempFolder folder;
  const std::filesystem::path file = folder / "two.h5";
  {
    Hdf5Writer writer(file);
    writer.matrix("/b", H5T_IEEE_F64LE, {2, 3}, {1, 2, 3, 4, 5, 6});
    write_table(writer, "/table", kRows, false);
  }
  CHECK(values_of(read(file, {.columns = {"lat", "lon"}})) == Values{1, 2, 4, 5, 7, 8});
  CHECK(values_of(read(file)) == Values{1, 2, 3, 4, 5, 6});  // the table holds text, and so cannot be all columns
  check_mentions(error_of<InputError>([&] { read(file, {.columns = {"alt"}}); }),
                 {"two.h5", "--table", "/b", "/table"});
}

TEST_CASE("hdf5: nothing but text") {
  const TempFolder folder;
  const hid_t text = H5Tcopy(H5T_C_S1);
  H5Tset_size(text, 4);
  Hdf5Writer(folder / "text.h5").dataset("names", text, text, {2}, "abc\0def");
  H5Tclose(text);
  check_mentions(error_of<InputError>([&] { read(folder / "text.h5"); }), {"text.h5", "'/names'", "text"});
  { const Hdf5Writer empty(folder / "empty.h5"); }
  check_mentions(error_of<InputError>([&] { read(folder / "empty.h5"); }), {"empty.h5", "no data set"});
}

TEST_CASE("hdf5: NaN and the memory budget") {
  const TempFolder folder;
  const std::filesystem::path file = folder / "nan.h5";
  Hdf5Writer(file).matrix("x", H5T_IEEE_F32LE, {3, 2}, {1, 2, 3, std::numeric_limits<double>::quiet_NaN(), 5, 6});
  check_mentions(error_of<InputError>([&] { read(file); }), {"nan.h5", "row 1", "column 1", "nan", "NanPolicy::drop"});
  const Points kept = read(file, {.on_nan = NanPolicy::drop});
  CHECK(values_of(kept) == Values{1, 2, 5, 6});
  CHECK(kept.dropped_rows() == 1);
  check_mentions(error_of<ResourceError>([&] { read(file, {.memory = 23}); }),
                 {"nan.h5", "24 bytes", "23 bytes", "ReadOptions::memory"});
}

TEST_CASE("hdf5: damaged files, and the program's error printing afterwards") {
  const TempFolder folder;
  const std::filesystem::path file = folder / "whole.h5";
  Hdf5Writer(file).matrix("x", H5T_IEEE_F64LE, {1000, 2}, Values(2000, 1.0));
  std::ifstream stream(file, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
  H5E_auto2_t before = nullptr;
  void* data = nullptr;
  H5Eget_auto2(hid_t{0}, &before, &data);
  check_mentions(error_of<InputError>([&] { read(folder.write("cut.h5", bytes.substr(0, bytes.size() / 2))); }),
                 {"cut.h5", "truncated"});
  check_mentions(error_of<InputError>([&] { read(folder.write("text.h5", "hello, world\n")); }),
                 {"text.h5", "HDF5", "signature"});
  check_mentions(error_of<InputError>([&] { read(folder.write("nothing.h5", "")); }), {"nothing.h5", "empty"});
  H5E_auto2_t after = nullptr;
  H5Eget_auto2(hid_t{0}, &after, &data);
  CHECK(before == after);
}

}  // namespace
}  // namespace epsflow::io
