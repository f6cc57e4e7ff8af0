#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "io/io_test.hpp"

#include <epsflow/io/generate.hpp>

namespace epsflow::io::test {
namespace {

std::vector<double> generated(std::string_view kind, std::size_t n, const GeneratorOptions& options) {
  return values_of(generate(kind, n, options));
}

}  // namespace

TEST_CASE("generate: every kind has n finite points and named columns, and a seed decides them") {
  for (const GeneratorKind& kind : generator_kinds()) {
    INFO(kind.name);
    const FilePoints points = generate(kind.name, 1000, {.seed = 5});
    CHECK(points.size() == 1000);
    CHECK(points.column_names.size() == points.dims());
    CHECK_NOTHROW(require_finite(points));
    CHECK(values_of(points) == generated(kind.name, 1000, {.seed = 5}));
    CHECK(values_of(points) != generated(kind.name, 1000, {.seed = 6}));
    CHECK(values_of(generate(kind.name, 20)) == generated(kind.name, 20, {.seed = kind.seed}));
    CHECK(generate(kind.name, 0).size() == 0);
  }
}

TEST_CASE("generate: some kinds take any number of dimensions") {
  for (const char* kind : {"exponential", "embeddings"}) {
    for (const std::size_t dims : {std::size_t{1}, std::size_t{2}, std::size_t{17}, kMaxDims}) {
      INFO(kind << " " << dims);
      const FilePoints points = generate(kind, 30, {.dims = dims});
      CHECK(points.dims() == dims);
      CHECK(points.column_names.front() == "x0");
      CHECK(points.column_names.back() == "x" + std::to_string(dims - 1));
      CHECK_NOTHROW(require_finite(points));
    }
  }
}

TEST_CASE("generate exponential: the points of the benchmark") {
  // A separate program that uses only <random> computed these values. Another standard library may draw other values.
  const FilePoints points = generate("exponential", 100'000);
  REQUIRE(points.dims() == 64);
  CHECK(points.view().at(0, 0) == 0.0040847726545159427);
  CHECK(points.view().at(0, 1) == 0.090041528825002243);
  CHECK(points.view().at(0, 2) == 0.0001809790343598563);
  CHECK(points.view().at(1, 0) == 0.0045663115276012222);
  CHECK(points.view().at(99'999, 63) == 0.010489312713087895);
}

TEST_CASE("generate exponential: values over 10 are drawn again") {
  CHECK(generated("exponential", 2, {.seed = 7, .dims = 2, .rate = 0.05}) ==
        std::vector<double>{5.1582994941492109, 7.6830438436464208, 7.3637554656096356, 6.1269937517056521});
  for (const double value : generated("exponential", 100, {.rate = kLeastRate})) CHECK((value >= 0 && value <= 10));
}

TEST_CASE("generate embeddings: on the unit sphere, and most points have others near") {
  constexpr std::size_t kPoints = 2000, kDims = 96, kLooked = 200;
  const std::vector<double> x = generated("embeddings", kPoints, {.dims = kDims});
  const auto dot = [&](std::size_t i, std::size_t j) {
    const auto row = x.begin() + static_cast<std::ptrdiff_t>(i * kDims);
    return std::inner_product(row, row + kDims, x.begin() + static_cast<std::ptrdiff_t>(j * kDims), 0.0);
  };
  std::size_t near = 0;
  for (std::size_t i = 0; i < kLooked; ++i) {
    CHECK(std::abs(dot(i, i) - 1) < 1e-12);
    std::size_t neighbors = 0;
    // The squared distance |x − y|² is 2 − 2 x·y, so this product means a distance of 0.5.
    for (std::size_t j = 0; j < kPoints; ++j) neighbors += dot(i, j) >= 0.875 ? 1 : 0;
    near += neighbors >= 10 ? 1 : 0;
  }
  CHECK(near >= kLooked * 3 / 4);
  CHECK(near < kLooked);  // a tenth of the points is noise
}

TEST_CASE("generate: errors name the option and the remedy") {
  const auto error = [](std::string_view kind, const GeneratorOptions& options) {
    return error_of<UsageError>([&] { (void)generate(kind, 10, options); });
  };
  check_mentions(error("moons", {}), {"no generator 'moons'", "tec, galaxies", "embeddings"});
  check_mentions(error("tec", {.dims = 3}),
                 {"GeneratorOptions::dims", "'tec'", "leave it out", "exponential or embeddings"});
  check_mentions(error("blobs", {.rate = 3}), {"GeneratorOptions::rate", "'blobs'", "leave it out", "exponential"});
  check_mentions(error("embeddings", {.rate = 3}), {"GeneratorOptions::rate", "'embeddings'"});
  check_mentions(error("embeddings", {.dims = 0}), {"GeneratorOptions::dims is 0", "1 to 4,096"});
  check_mentions(error("exponential", {.dims = 4097}), {"GeneratorOptions::dims is 4097", "1 to 4,096"});
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const double rate : {0.0, -1.0, 0.009, kInfinity, std::nan("")}) {
    check_mentions(error("exponential", {.rate = rate}), {"GeneratorOptions::rate is ", "from 0.01"});
  }
  const std::uint64_t seed = std::uint64_t{1} << 32;
  check_mentions(error("exponential", {.seed = seed}), {"GeneratorOptions::seed is 4294967296", "4,294,967,295"});
  CHECK_NOTHROW(generate("embeddings", 10, {.seed = seed}));
}

}  // namespace epsflow::io::test
