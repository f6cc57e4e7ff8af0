#include <epsflow/io/row_numbers.hpp>

#include "io/io_test.hpp"

namespace epsflow::io::test {

TEST_CASE("row numbers: dropped rows leave gaps, and files count on") {
  FilePoints points(5, 1, Precision::float64);
  CHECK(row_numbers(points) == std::vector<std::int64_t>{0, 1, 2, 3, 4});
  points.inputs = {{"a", "", 4, {0, 2}}, {"b", "", 1, {0}}, {"c", "", 3, {}}};
  CHECK(row_numbers(points) == std::vector<std::int64_t>{1, 3, 5, 6, 7});
}

}  // namespace epsflow::io::test
