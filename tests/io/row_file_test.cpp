#include <epsflow/io/row_file.hpp>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "io/io_test.hpp"
#include "io/npy_samples.hpp"

namespace epsflow::io::test {
namespace {

template <class T>
std::vector<T> rows_of(const RowFile& file, std::size_t first, std::size_t last) {
  std::vector<T> values((last - first) * file.rows.dims);
  file.rows.write(first, last, values.data());
  return values;
}

TEST_CASE("row files: NPY and raw, any rows in any order") {
  const TempFolder folder;
  // Bytes after the array are ignored.
  const auto singles = folder.write("s.npy", npy("<f4", "(3, 2)", pack<float>({1, 2, 3, 4, 5, 6, 7, 8})));
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

  const double nan = std::numeric_limits<double>::quiet_NaN();  // the shape does not depend on it
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

TEST_CASE("row files: a copy of what is read in its order alone") {
  const TempFolder folder;
  const auto records = folder.write("r.npy", npy_records("[('x', '<i4'), ('y', '<i4')]", "(5,)",
                                                         pack<std::int32_t>({1, 2, 3, 4, 5, 6, 7, 8, 9, 10})));
  const ReadOptions second{.columns = {"y"}};
  for (const auto& [options, dims] : {std::pair(ReadOptions{}, 2U), std::pair(second, 1U)}) {
    const FilePoints whole = read_points(records, options);
    const std::optional<RowFile> shape = shape_of(records, options);
    REQUIRE(shape);
    CHECK(shape->rows.size == 5);
    CHECK(shape->rows.dims == dims);
    CHECK(shape->rows.precision == Precision::float64);
    CHECK(shape->rows.bytes() == whole.view().bytes());
    for (const std::uint64_t at_once : {0, 17, 1000}) {
      const RowFile copy = copy_rows(records, options, *shape, folder / "", at_once);
      const std::span<const double> expected(static_cast<const double*>(whole.view().data()), 5 * dims);
      CHECK(std::ranges::equal(rows_of<double>(copy, 0, 5), expected));
      CHECK(rows_of<double>(copy, 4, 5).back() == 10);
      CHECK(copy.origin.column_names == whole.column_names);
      CHECK(copy.origin.column_numbers == whole.column_numbers);
      CHECK(copy.origin.inputs.front().rows == 5);
      CHECK_FALSE(copy.origin.renumbered());
      CHECK(copy.origin.inputs.front().stamp == whole.inputs.front().stamp);
    }
  }
  CHECK(files_in(folder / "") == 1);  // the copies have no file names
  const auto none = folder.write("none.npy", npy("<i4", "(0, 2)", ""));
  CHECK(shape_of(none, {})->rows.size == 0);
  CHECK_FALSE(shape_of(records, {.columns = {"x"}, .weight = "y"}));
  CHECK_FALSE(shape_of(records, {.on_nan = NanPolicy::drop}));
  CHECK_FALSE(shape_of(folder.write("t.csv", "x,y\n1,2\n"), {}));
  CHECK_FALSE(shape_of("/dev/null", {}));
}

TEST_CASE("row files: a copy that cannot be") {
  const TempFolder folder;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto path = folder.write("n.npy", npy_records("[('x', '<f8')]", "(3,)", pack<double>({1, nan, 3})));
  const std::optional<RowFile> shape = shape_of(path, {});
  REQUIRE(shape);
  check_error<InputError>({"n.npy", "row 1", "nan"}, [&] { (void)copy_rows(path, {}, *shape, folder / "", 8); });
  check_error<ResourceError>({"nowhere", "n.npy", "24 bytes"},
                             [&] { (void)copy_rows(path, {}, *shape, folder / "nowhere", 8); });
  folder.write("n.npy", npy_records("[('x', '<f8')]", "(2,)", pack<double>({1, 3})));
  check_error<InputError>({"n.npy", "has changed"}, [&] { (void)copy_rows(path, {}, *shape, folder / "", 8); });
}

TEST_CASE("row files: more rows than there can be points") {
  const TempFolder folder;
  const auto path = folder.write("many.f32", "");
  std::filesystem::resize_file(path, (std::uintmax_t{1} << 32U) * sizeof(float));  // the file is sparse
  const ReadOptions plain{.raw = {.dims = 1}};
  check_error<InputError>({"many.f32", "4,294,967,296 rows"}, [&] { (void)open_row_file(path, plain); });
  check_error<InputError>({"many.f32", "4,294,967,296 rows"}, [&] { (void)shape_of(path, plain); });
}

TEST_CASE("row files: errors name the file") {
  const TempFolder folder;
  check_error<InputError>({"none.npy"}, [&] { (void)open_row_file(folder / "none.npy", {}); });
  check_error<InputError>({"cut.npy"}, [&] {
    (void)open_row_file(folder.write("cut.npy", npy("<f8", "(2, 2)", pack<double>({1, 2, 3}))), {});
  });
  check_error<UsageError>({"d.raw", "ReadOptions::raw.dims"},
                          [&] { (void)open_row_file(folder.write("d.raw", pack<double>({1})), {}); });
  const auto path = folder.write("s.npy", npy("<f8", "(3, 1)", pack<double>({1, 2, 3})));
  const auto file = open_row_file(path, {});
  REQUIRE(file);
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 8);
  CHECK(rows_of<double>(*file, 0, 2) == Values{1, 2});
  check_error<InputError>({"s.npy", "shorter"}, [&] { (void)rows_of<double>(*file, 1, 3); });
}

}  // namespace
}  // namespace epsflow::io::test
