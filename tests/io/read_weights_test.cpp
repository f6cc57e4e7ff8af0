#include <string>
#include <vector>

#include "io/io_test.hpp"
#include "io/npy_samples.hpp"

#include <epsflow/io/read_points.hpp>

namespace epsflow::io::test {
namespace {

TEST_CASE("weights: a column of text, of NPY and of raw files, which is no coordinate") {
  const TempFolder folder;
  const auto text = folder.write("a.csv", "w,x,y\n0.5,1,2\n-3,4,5\n");
  const auto records = folder.write("a.npy", npy_records("[('w', '<i8'), ('x', '<f4'), ('y', '<f4')]", "(2,)",
                                                         pack<std::int64_t>({7}) + pack<float>({1, 2}) +
                                                             pack<std::int64_t>({-3}) + pack<float>({4, 5})));
  for (const auto& file : {text, records}) {
    const bool is_text = file == text;
    for (const char* name : {"w", "0", "-3"}) {
      CAPTURE(file, name);
      const FilePoints points = read_points(file, {.weight = name});
      CHECK(values_of(points) == Values{1, 2, 4, 5});
      CHECK(points.weights == Values{is_text ? 0.5 : 7, -3});
      CHECK(points.weight_column == "w");
      CHECK(points.column_names == Names{"x", "y"});
      CHECK(points.column_numbers == std::vector<std::size_t>{1, 2});
      // The precision is the same as without weights.
      CHECK(points.precision() == (is_text ? Precision::float64 : Precision::float32));
    }
    const FilePoints twice = read_points(file, {.columns = {"y", "w"}, .weight = "y"});
    CHECK(values_of(twice) == Values{2, is_text ? 0.5 : 7, 5, -3});
    CHECK(twice.weights == Values{2, 5});
    CHECK(twice.column_names == Names{"y", "w"});
  }
  const auto raw = folder.write("a.f32", pack<float>({1, 2, 0.5, 4, 5, -3}));
  const FilePoints points = read_points(raw, {.weight = "-1", .raw = {.dims = 3}});
  CHECK(points.precision() == Precision::float32);
  CHECK(values_of(points) == Values{1, 2, 4, 5});
  CHECK(points.weights == Values{0.5, -3});
  CHECK(points.weight_column == "2");
  CHECK(read_points(text).weights.empty());
}

TEST_CASE("weights: a coordinate that is the weight as well, where columns lie after each other") {
  const TempFolder folder;
  const auto file = folder.write("f.npy", npy("<f8", "(2, 3)", pack<double>({1, 2, 3, 4, 5, 6}), true));
  const FilePoints points = read_points(file, {.columns = {"2", "0"}, .weight = "0"});
  CHECK(values_of(points) == Values{5, 1, 6, 2});
  CHECK(points.weights == Values{1, 2});
  CHECK(values_of(read_points(file, {.weight = "1"})) == Values{1, 5, 2, 6});
}

TEST_CASE("weights: rows are dropped with them, and a weight that is missing drops its row") {
  const TempFolder folder;
  const auto text = folder.write("a.csv", "x,w\n1,1\nnan,2\n3,\n4,4\n");
  const auto array = folder.write("a.npy", npy("<f8", "(4, 2)", pack<double>({1, 1, NAN, 2, 3, INFINITY, 4, 4})));
  for (const auto& file : {text, array}) {
    CAPTURE(file);
    const FilePoints points = read_points(file, {.weight = "1", .on_nan = NanPolicy::drop});
    CHECK(values_of(points) == Values{1, 4});
    CHECK(points.weights == Values{1, 4});
    CHECK(points.inputs[0].dropped == std::vector<std::uint64_t>{1, 2});
  }
  check_mentions(refusal(folder.write("b.csv", "w,x\n1,1\n2,2\n,3\n"), {.weight = "w"}),
                 {"b.csv", "row 2", "'w'", "empty", "finite coordinates and weights", "NanPolicy::drop"});
  check_error<InputError>({"b.npy", "row 1", "column 2 is nan", "weights", "NanPolicy::drop"}, [&] {
    const std::string values = pack<double>({1, 1, 1, 2, 2, NAN});
    (void)read_points(folder.write("b.npy", npy("<f8", "(2, 3)", values)), {.columns = {"0"}, .weight = "2"});
  });
}

TEST_CASE("weights: columns that cannot be") {
  const TempFolder folder;
  const auto file = folder.write("a.csv", "x,y,name,w\n1,2,p,1\n3,4,q,2\n");
  const std::vector<std::string> xy{"x", "y"};
  check_mentions(refusal(file, {.columns = xy, .weight = "mass"}),
                 {"a.csv", "no column 'mass'", "ReadOptions::weight", "x, y, name, w"});
  check_mentions(refusal<UsageError>(file, {.columns = xy, .weight = "1-3"}),
                 {"ReadOptions::weight is '1-3'", "3 columns", "one"});
  check_mentions(refusal(file, {.columns = xy, .weight = "name"}),
                 {"a.csv", "row 0", "'name'", "'p'", "not a number", "ReadOptions::weight"});
  check_mentions(refusal(file, {.weight = "w"}), {"'name'", "text", "ReadOptions::columns"});
  check_mentions(refusal(folder.write("b.csv", "w\n1\n"), {.weight = "w"}),
                 {"b.csv", "no columns but that of the weights"});
  check_mentions(refusal(folder.write("c.csv", "x,w,w\n1,2,3\n"), {.columns = {"x"}, .weight = "w"}),
                 {"1 and 2", "'w'", "ReadOptions::weight"});
}

TEST_CASE("weights: columns that are chosen by their names do not meet that of the weights") {
  const TempFolder folder;
  const auto file = folder.write("a.csv", "lat,lat_w,lon\n1,2,3\n4,5,6\n");
  Names seen;
  const auto choose = [&](const Names& names) {
    seen = names;
    return std::vector<std::size_t>{1, 0};
  };
  const FilePoints points = read_points(file, {.choose = choose, .weight = "lat_w"});
  CHECK(seen == Names{"lat", "lon"});
  CHECK(values_of(points) == Values{3, 1, 6, 4});
  CHECK(points.column_numbers == std::vector<std::size_t>{2, 0});
  CHECK(points.weights == Values{2, 5});
}

TEST_CASE("weights: of several files, within the memory budget") {
  const TempFolder folder;
  const auto wide = folder.write(
      "a.npy", npy_records("[('x', '<f4'), ('w', '<f8')]", "(1,)", pack<float>({1}) + pack<double>({0.1})));
  const auto single =
      folder.write("b.npy", npy_records("[('x', '<f4'), ('w', '<f4')]", "(2,)", pack<float>({2, 7, 3, 8})));
  const FilePoints points = read_points(Paths{wide, single}, {.weight = "w"});
  CHECK(points.precision() == Precision::float32);
  CHECK(values_of(points) == Values{1, 2, 3});
  CHECK(points.weights == Values{0.1, 7, 8});
  CHECK(points.weight_column == "w");
  CHECK(points.inputs.size() == 2);
  const auto read = [&](std::uint64_t memory) {
    return [&, memory] { (void)read_points(Paths{wide, single}, {.weight = "w", .memory = memory}); };
  };
  CHECK_NOTHROW(read(3 * (sizeof(float) + sizeof(double)))());
  check_mentions(error_of<ResourceError>(read(35)), {"3 points in 1 dimension with weights", "ReadOptions::memory"});
  const auto text = folder.write("c.csv", "x,y,w\n1,2,3\n4,5,6\n");
  CHECK_NOTHROW((void)read_points(text, {.weight = "w", .memory = 48}));
  check_mentions(refusal<ResourceError>(text, {.weight = "w", .memory = 47}), {"2 dimensions with weights", "48"});
}

}  // namespace
}  // namespace epsflow::io::test
