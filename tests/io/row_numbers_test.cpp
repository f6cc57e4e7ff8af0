#include <epsflow/io/row_numbers.hpp>

#include "io/io_test.hpp"

namespace epsflow::io::test {

TEST_CASE("row numbers: dropped rows leave gaps, and files count on") {
  FilePoints points(5, 1, Precision::float64);
  CHECK(row_numbers(points) == std::vector<std::int64_t>{0, 1, 2, 3, 4});
  points.inputs = {{"a", "", 4, {0, 2}}, {"b", "", 1, {0}}, {"c", "", 3, {}}};
  CHECK(row_numbers(points) == std::vector<std::int64_t>{1, 3, 5, 6, 7});
}

TEST_CASE("row numbers: points that are dropped later are as those that the reader dropped") {
  for (const Precision precision : {Precision::float64, Precision::float32}) {
    FilePoints points(5, 2, precision);
    for (std::size_t k = 0; k < 10; ++k) {
      if (precision == Precision::float64) points.values<double>()[k] = static_cast<double>(k);
      if (precision == Precision::float32) points.values<float>()[k] = static_cast<float>(k);
    }
    points.weights = {0.5, 1.5, 2.5, 3.5, 4.5};
    points.inputs = {{"a", "", 4, {0, 2}}, {"b", "", 1, {0}}, {"c", "", 3, {}}};
    drop_points(points, {false, true, false, false, true});
    CHECK(points.size() == 3);
    CHECK(row_numbers(points) == std::vector<std::int64_t>{1, 5, 6});
    CHECK(points.inputs[0].dropped == std::vector<std::uint64_t>{0, 2, 3});
    CHECK(points.inputs[2].dropped == std::vector<std::uint64_t>{2});
    CHECK(points.weights == Values{0.5, 2.5, 3.5});
    CHECK(points.view().at(1, 0) == 4);
    CHECK(points.view().at(2, 1) == 7);
    drop_points(points, {true, true, true});
    CHECK(points.size() == 0);
    CHECK(points.dropped_rows() == 8);
  }
}

}  // namespace epsflow::io::test
