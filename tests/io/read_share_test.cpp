// Shares of the rows of a file (ReadOptions::share), for the formats that are read in this process.
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "io/io_test.hpp"
#include "io/npy_samples.hpp"
#include "io/shares.hpp"

#include <epsflow/io/read_points.hpp>

namespace epsflow::io::test {
namespace {

template <class T>
std::string numbers(int count) {
  std::string bytes;
  for (int i = 0; i < count; ++i) bytes += bytes_of_value(static_cast<T>(i * 7 % 101));
  return bytes;
}

TEST_CASE("shares: NPY and raw files, rows and columns after each other, of any type") {
  const TempFolder folder;
  for (const int rows : {0, 1, 3, 7}) {
    CAPTURE(rows);
    const std::string shape = "(" + std::to_string(rows) + ", 3)";
    const std::string one = "(" + std::to_string(rows) + ",)";
    check_shares(folder.write("d.npy", npy("<f8", shape, numbers<double>(3 * rows))));
    check_shares(folder.write("one.npy", npy("<f4", one, numbers<float>(rows))));
    check_shares(folder.write("i.npy", npy("<i2", shape, numbers<std::int16_t>(3 * rows))), {.columns = {"2", "0"}});
    check_shares(folder.write("f.npy", npy("<f8", shape, numbers<double>(3 * rows), true)));
    check_shares(folder.write("g.npy", npy("<i4", shape, numbers<std::int32_t>(3 * rows), true)),
                 {.columns = {"2", "0"}, .weight = "1"});
    const std::string records = npy_records("[('x', '<f4'), ('y', '<f8')]", one, numbers<float>(3 * rows));
    check_shares(folder.write("r.npy", records), {.columns = {"x"}});
    if (rows == 0) continue;
    check_shares(folder.write("a.f32", numbers<float>(3 * rows)), {.raw = {.dims = 3}});
    check_shares(folder.write("a.raw", numbers<double>(3 * rows)), {.columns = {"1"}, .raw = {.dims = 3}});
  }
  // More rows than peek() returns and than a block holds.
  for (const auto& file : {folder.write("many.npy", npy("<f8", "(20000, 3)", numbers<double>(60'000))),
                           folder.write("runs.npy", npy("<f4", "(20000, 3)", numbers<float>(60'000), true))}) {
    const std::vector<double> all = values_of(read_points(file));
    for (const std::uint64_t index : {0, 1, 4}) {
      const std::vector<double> values = values_of(read_points(file, {.share = {index, 5}}));
      REQUIRE(values.size() == 12'000);
      CHECK(std::equal(values.begin(), values.end(), all.begin() + static_cast<std::ptrdiff_t>(12'000 * index)));
    }
  }
}

TEST_CASE("shares: a gzipped file and a pipe pass what is not theirs") {
  const TempFolder folder;
  const std::string bytes = npy("<f8", "(7, 2)", numbers<double>(14));
  check_shares(folder.write("a.npy.gz", gzip(bytes)));
  feed_pipe(folder.write("a.npy", bytes), folder / "pipe");
  CHECK(values_of(read_points(folder / "pipe", {.share = {2, 3}})) ==
        values_of(read_points(folder / "a.npy", {.share = {2, 3}})));
}

TEST_CASE("shares: rows are those of the file, where they are dropped and in errors") {
  const TempFolder folder;
  std::string data;
  for (int i = 0; i < 20; ++i) data += bytes_of_value(i % 7 == 3 ? std::nan("") : double(i));
  const auto file = folder.write("a.npy", npy("<f8", "(10, 2)", data));
  check_shares(file, {.on_nan = NanPolicy::drop});
  check_shares(folder.write("a.raw", data), {.on_nan = NanPolicy::drop, .raw = {.dims = 2}});
  CHECK(read_points(file, {.share = {0, 10}}).size() == 1);
  check_mentions(refusal(file, {.share = {2, 3}}), {"row 8, column 1"});
  for (std::uint64_t share = 0; share < 3; ++share) {
    const ReadOptions options{.columns = {"0"}, .on_nan = NanPolicy::drop, .share = {share, 3}};
    const FilePoints points = read_points(file, options);
    CHECK(read_columns({file}, options, {"0"}, points).values.front() == values_of(points));
  }
  std::string integers;
  for (int i = 0; i < 10; ++i) integers += bytes_of_value(std::int64_t{i} + (i == 7 ? (std::int64_t{1} << 60) : 0));
  for (const auto& whole : {npy("<i8", "(10, 1)", integers), npy("<i8", "(10, 1)", integers, true)}) {
    const auto large = folder.write("b.npy", whole);
    CHECK(read_points(large, {.share = {0, 2}}).size() == 5);
    check_mentions(refusal(large, {.share = {1, 2}}), {"row 7"});
  }
}

TEST_CASE("shares: row numbers count the rows of the files before, read or not") {
  const TempFolder folder;
  const Paths files{folder.write("a.npy", npy("<f8", "(3, 1)", numbers<double>(3))),
                    folder.write("b.npy", npy("<f8", "(4, 1)", numbers<double>(4)))};
  CHECK(row_numbers(read_points(files, {.share = {0, 2}})) == std::vector<std::int64_t>{0, 3, 4});
  CHECK(row_numbers(read_points(files, {.share = {1, 2}})) == std::vector<std::int64_t>{1, 2, 5, 6});
}

TEST_CASE("shares: room is needed for the share alone") {
  const TempFolder folder;
  const auto file = folder.write("a.npy", npy("<f8", "(1000, 2)", numbers<double>(2000)));
  CHECK(read_points(file, {.memory = 8000, .share = {1, 2}}).size() == 500);
  (void)refusal<ResourceError>(file, {.memory = 8000});
}

TEST_CASE("shares: text and NPZ files have none") {
  const TempFolder folder;
  const auto text = folder.write("a.csv", "1,2\n3,4\n");
  CHECK(read_points(text, {.share = {0, 1}}).size() == 2);
  check_mentions(refusal<UsageError>(text, {.share = {0, 2}}), {"a.csv", "text", "NPY, HDF5 or Parquet"});
  check_mentions(refusal<UsageError>(text, {.share = {2, 2}}), {"share 2 of 2"});
}

}  // namespace
}  // namespace epsflow::io::test
