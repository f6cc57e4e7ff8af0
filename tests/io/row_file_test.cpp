#include <epsflow/io/row_file.hpp>

#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "io/io_test.hpp"
#include "io/npy_samples.hpp"

namespace epsflow::io {
namespace {

using test::bytes_of_value;
using test::check_mentions;
using test::error_of;
using test::npy;
using test::npy_records;
using test::pack;
using test::TempFolder;

template <class T>
std::vector<T> rows_of(const RowFile& file, std::size_t first, std::size_t last) {
  std::vector<T> values((last - first) * file.rows.dims);
  file.rows.write(first, last, values.data());
  return values;
}

TEST_CASE("row files: NPY and raw, any rows in any order") {
  const TempFolder folder;
  const auto singles = folder.write("s.npy", npy("<f4", "(3, 2)", pack<float>({1, 2, 3, 4, 5, 6})));
  const auto single = open_row_file(singles, {});
  REQUIRE(single);
  CHECK(single->rows.size == 3);
  CHECK(single->rows.dims == 2);
  CHECK(single->rows.precision == Precision::float32);
  CHECK(rows_of<float>(*single, 1, 3) == std::vector<float>{3, 4, 5, 6});
  CHECK(rows_of<float>(*single, 0, 1) == std::vector<float>{1, 2});
  CHECK(rows_of<float>(*single, 3, 3).empty());
  const FilePoints read = read_points(singles);
  CHECK(single->origin.column_numbers == read.column_numbers);
  CHECK(single->origin.inputs.front().rows == 3);
  CHECK(single->origin.inputs.front().kind == read.inputs.front().kind);
  CHECK(single->origin.inputs.front().stamp == read.inputs.front().stamp);

  const double nan = std::numeric_limits<double>::quiet_NaN();  // which is not looked at
  const auto raw = open_row_file(folder.write("d.f64", pack<double>({1, 2, 3, nan})), {.raw = {.dims = 2}});
  REQUIRE(raw);
  CHECK(raw->rows.size == 2);
  CHECK(raw->rows.precision == Precision::float64);
  CHECK(rows_of<double>(*raw, 1, 2).front() == 3);
}

TEST_CASE("row files: what has to be read otherwise") {
  const TempFolder folder;
  const auto plain = folder.write("p.npy", npy("<f8", "(2, 2)", pack<double>({1, 2, 3, 4})));
  CHECK(open_row_file(plain, {}));
  CHECK_FALSE(open_row_file(plain, {.columns = {"1"}}));
  CHECK_FALSE(open_row_file(plain, {.weight = "1"}));
  CHECK_FALSE(open_row_file(plain, {.on_nan = NanPolicy::drop}));
  CHECK_FALSE(open_row_file(folder.write("i.npy", npy("<i4", "(1, 2)", pack<std::int32_t>({1, 2}))), {}));
  CHECK_FALSE(open_row_file(folder.write("b.npy", npy(">f8", "(1, 1)", pack<double>({1}))), {}));
  CHECK_FALSE(open_row_file(folder.write("one.npy", npy("<f8", "(2,)", pack<double>({1, 2}))), {}));
  CHECK_FALSE(open_row_file(
      folder.write("r.npy", npy_records("[('x', '<f8'), ('y', '<f8')]", "(1,)", pack<double>({1, 2}))), {}));
  CHECK_FALSE(open_row_file(folder.write("t.csv", "x,y\n1,2\n"), {}));
  CHECK_FALSE(open_row_file("-", {}));
  CHECK_FALSE(open_row_file("/dev/null", {}));
}

TEST_CASE("row files: errors name the file") {
  const TempFolder folder;
  check_mentions(error_of<InputError>([&] { (void)open_row_file(folder / "none.npy", {}); }), {"none.npy"});
  check_mentions(error_of<InputError>([&] {
                   (void)open_row_file(folder.write("cut.npy", npy("<f8", "(2, 2)", pack<double>({1, 2, 3}))), {});
                 }),
                 {"cut.npy"});
  check_mentions(error_of<UsageError>([&] { (void)open_row_file(folder.write("d.raw", pack<double>({1})), {}); }),
                 {"d.raw", "ReadOptions::raw.dims"});
  const auto path = folder.write("s.npy", npy("<f8", "(3, 1)", pack<double>({1, 2, 3})));
  const auto file = open_row_file(path, {});
  REQUIRE(file);
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 8);
  CHECK(rows_of<double>(*file, 0, 2) == std::vector<double>{1, 2});
  check_mentions(error_of<InputError>([&] { (void)rows_of<double>(*file, 1, 3); }), {"s.npy", "shorter"});
}

}  // namespace
}  // namespace epsflow::io
