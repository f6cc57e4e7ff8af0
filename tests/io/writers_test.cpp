#include <cstdint>
#include <vector>

#include "io/io_test.hpp"

#include <epsflow/core/labels.hpp>
#include <epsflow/io/read_points.hpp>
#include <epsflow/io/write/hdf5_writer.hpp>
#include <epsflow/io/write/npy_writer.hpp>
#include <epsflow/io/write_labels.hpp>

namespace epsflow::io::test {
namespace {

const VariantResult& result() {
  static const VariantResult r{{0.25, 7}, {0, -1, 1, 1, 0, 2147483647}, {2, 1, 3, 2, 3}, 1.5};
  return r;
}

std::vector<double> read_values(const std::filesystem::path& file, const ReadOptions& options = {}) {
  return values_of(read_points(file, options));
}

}  // namespace

TEST_CASE("write labels: every format reads back") {
  const TempFolder folder;
  const std::vector<double> expected(result().labels.begin(), result().labels.end());
  for (const char* name : {"l.npy", "l.csv", "l.fits", "l.h5", "l.hdf5"}) {
    INFO(name);
    write_labels(folder / name, result(), Overwrite::refuse);
    CHECK(read_values(folder / name) == expected);
  }
  CHECK(files_in(folder / "") == 5);  // no temporary file remains
  check_mentions(error_of<UsageError>([&] { write_labels(folder / "l.doc", result(), Overwrite::refuse); }),
                 {"l.doc", ".npy", ".h5"});
}

TEST_CASE("write rows: the mark of epsflow's own is seen, and read over") {
  const TempFolder folder;
  const std::vector<std::int64_t> rows{0, 2, 5};
  for (const bool marked : {false, true}) {
    write_npy(folder / "r.npy", marked ? marked_npy(rows) : npy_rows(rows), Overwrite::replace);
    CHECK(is_marked_npy(folder / "r.npy") == marked);
    CHECK(read_values(folder / "r.npy") == std::vector<double>{0, 2, 5});
    CHECK(std::filesystem::file_size(folder / "r.npy") == 128 + 24);
  }
  CHECK_FALSE(is_marked_npy(folder / "none.npy"));
  CHECK_FALSE(is_marked_npy(folder / ""));
}

TEST_CASE("write points: both precisions keep every bit, with names where the format has them") {
  const TempFolder folder;
  const std::vector<double> doubles{0.1, -1e300, 5e-324, 1.0 / 3, -0.0, 42};
  const std::vector<float> floats{0.1F, -1e30F, 1e-45F, 1.0F / 3, 2, 42};
  for (const char* name : {"p.npy", "p.csv"}) {
    INFO(name);
    write_points(folder / name, PointsView(std::span(doubles), 3), {"x", "y", "z"}, Overwrite::refuse);
    const FilePoints points = read_points(folder / name);
    CHECK(points.dims() == 3);
    CHECK(values_of(points) == doubles);
  }
  CHECK(read_points(folder / "p.csv").column_names == std::vector<std::string>{"x", "y", "z"});
  write_points(folder / "f.npy", PointsView(std::span(floats), 2), {}, Overwrite::refuse);
  const FilePoints points = read_points(folder / "f.npy");
  CHECK(points.precision() == Precision::float32);
  CHECK(points.size() == 3);
  CHECK(values_of(points) == std::vector<double>(floats.begin(), floats.end()));
}

TEST_CASE("write HDF5 sweep: the summary, all labels, masks and rows are in one file") {
  const TempFolder folder;
  const std::vector<SweepEntry> entries{{{0.1, 4}, {3, 2, 5, 1, 4}, 0.5}, {{0.2, 8}, {1, 0, 7, 1, 8}, 0.25}};
  const std::vector<std::vector<std::int32_t>> labels{{0, 1, 2, -1}, {0, 0, 0, 0}};
  const std::vector<std::vector<std::int8_t>> core{{}, {1, 0, 1, 0}};
  Hdf5Sweep sweep{.points = 4,
                  .description = "{}",
                  .labels = [&](std::size_t v) { return labels[v]; },
                  .core = [&](std::size_t v) { return core[v]; },
                  .rows = {0, 2, 3, 5}};
  write_hdf5_sweep(folder / "s.h5", entries, sweep);
  CHECK(read_values(folder / "s.h5", {.table = "/labels"}) == std::vector<double>{0, 1, 2, -1, 0, 0, 0, 0});
  CHECK(read_values(folder / "s.h5", {.table = "/core"}) == std::vector<double>{-1, -1, -1, -1, 1, 0, 1, 0});
  CHECK(read_values(folder / "s.h5", {.table = "/rows"}) == std::vector<double>{0, 2, 3, 5});
  CHECK(read_values(folder / "s.h5", {.columns = {"eps", "minpts", "noise", "seconds"}, .table = "/summary"}) ==
        std::vector<double>{0.1, 4, 2, 0.5, 0.2, 8, 0, 0.25});
  // Labels of the wrong length are an error of the caller, and no file appears.
  sweep.points = 5;
  CHECK_THROWS_AS(write_hdf5_sweep(folder / "t.h5", entries, sweep), Error);
  CHECK(files_in(folder / "") == 1);
}

TEST_CASE("write HDF5 neighbours: offsets, ids and distances") {
  const TempFolder folder;
  const std::vector<std::uint64_t> offsets{0, 2, 3};
  const std::vector<std::uint32_t> ids{0, 1, 1};
  const std::vector<double> distances{0, 0.5, 0};
  write_hdf5_neighbors(folder / "n.h5", {offsets, ids, distances, 0.5}, Overwrite::refuse);
  CHECK(read_values(folder / "n.h5", {.table = "/offsets"}) == std::vector<double>{0, 2, 3});
  CHECK(read_values(folder / "n.h5", {.table = "/ids"}) == std::vector<double>{0, 1, 1});
  CHECK(read_values(folder / "n.h5", {.table = "/distances"}) == distances);
}

}  // namespace epsflow::io::test
