#include <epsflow/io/read_neighbors.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "io/hdf5_samples.hpp"
#include "io/io_test.hpp"
#include "support/damage.hpp"

#include <epsflow/io/write/hdf5_writer.hpp>

namespace epsflow::io::test {
namespace {

struct Table {
  std::vector<std::uint64_t> offsets{0};
  std::vector<std::uint32_t> ids;
  std::vector<double> distances;

  [[nodiscard]] bool is(const FileNeighbors& read) const {
    return std::ranges::equal(read.offsets, offsets) && std::ranges::equal(read.ids, ids) &&
           std::ranges::equal(read.distances, distances) && read.eps == 0.5;
  }
};

Table chain(std::uint32_t n) {
  Table table;
  for (std::uint32_t i = 0; i < n; ++i) {
    for (std::uint32_t j = i == 0 ? 0 : i - 1; j < std::min(n, i + 2); ++j) {
      table.ids.push_back(j);
      table.distances.push_back(i == j ? 0 : 0.25);
    }
    table.offsets.push_back(table.ids.size());
  }
  return table;
}

std::filesystem::path written(const TempFolder& folder, const Table& table) {
  const std::filesystem::path file = folder / "table.h5";
  write_hdf5_neighbors(file, {table.offsets, table.ids, table.distances, 0.5}, Overwrite::replace);
  return file;
}

TEST_CASE("read neighbours: what was written, with and without distances, of any size") {
  const TempFolder folder;
  for (const std::uint32_t n : {0U, 1U, 5U, 300'000U}) {
    Table table = chain(n);
    for (const bool with_distances : {true, false}) {
      if (!with_distances) table.distances.clear();
      INFO(n << " rows");
      const FileNeighbors read = read_neighbors(written(folder, table));
      CHECK(table.is(read));
      CHECK(read.view().eps == 0.5);
      CHECK(read.view().size() == n);
      CHECK(read.view().ids.size() == table.ids.size());
    }
  }
}

TEST_CASE("read neighbours: chunks, and narrower types, as other programs write them") {
  const TempFolder folder;
  const Table table = chain(7);
  {
    Hdf5Writer writer(folder / "other.h5");
    writer.dataset("/offsets", H5T_STD_U32BE, H5T_NATIVE_UINT64, {8}, table.offsets.data(), true);
    writer.dataset("/ids", H5T_STD_U8LE, H5T_NATIVE_UINT32, {table.ids.size()}, table.ids.data(), true);
    writer.dataset("/distances", H5T_IEEE_F32LE, H5T_NATIVE_DOUBLE, {table.ids.size()}, table.distances.data(), true);
    writer.number("/offsets", "eps", H5T_IEEE_F64LE, 0.5);
  }
  CHECK(table.is(read_neighbors(folder / "other.h5")));
}

TEST_CASE("read neighbours: what is no table is refused, saying what it lacks and how to make one") {
  const TempFolder folder;
  const auto refused = [&](const char* name, std::initializer_list<std::string_view> parts, const auto& fill) {
    const std::filesystem::path file = folder / name;
    {
      Hdf5Writer writer(file);
      fill(writer);
    }
    const std::string text = error_of<InputError>([&] { (void)read_neighbors(file); });
    check_mentions(text, {file.string(), "epsflow neighbors"});
    check_mentions(text, parts);
  };
  const std::vector<double> values{0, 1, 2};
  const auto offsets = [&](Hdf5Writer& writer, double eps) {
    writer.matrix("/offsets", H5T_STD_U64LE, {3}, values);
    writer.number("/offsets", "eps", H5T_IEEE_F64LE, eps);
  };
  const auto ids = [&](Hdf5Writer& writer) { writer.matrix("/ids", H5T_STD_U32LE, {2}, values); };
  refused("none.h5", {"no data set /offsets"}, [&](Hdf5Writer& w) { w.matrix("/x", H5T_IEEE_F64LE, {3}, values); });
  refused("no_ids.h5", {"no data set /ids"}, [&](Hdf5Writer& w) { offsets(w, 1); });
  struct Bad {
    std::string path;
    hid_t type;
    std::vector<hsize_t> shape;
    std::string_view words;
  };
  for (const Bad& bad : {Bad{"/ids", H5T_STD_I32LE, {2}, "unsigned integers of up to 32 bits"},
                         Bad{"/ids", H5T_STD_U64LE, {2}, "unsigned integers of up to 32 bits"},
                         Bad{"/ids", H5T_STD_U32LE, {1, 2}, "one axis"},
                         Bad{"/offsets", H5T_IEEE_F64LE, {3}, "unsigned integers of up to 64 bits"},
                         Bad{"/distances", H5T_STD_I32LE, {2}, "floats"}}) {
    refused("bad.h5", {bad.path, bad.words}, [&](Hdf5Writer& w) {
      if (bad.path != "/offsets") offsets(w, 1);
      if (bad.path != "/ids") ids(w);
      w.matrix(bad.path.c_str(), bad.type, bad.shape, values);
    });
  }
  for (const double eps : {0.0, -1.0, HUGE_VAL, std::nan("")}) {
    refused("eps.h5", {"attribute eps", "above 0"}, [&](Hdf5Writer& w) {
      offsets(w, eps);
      ids(w);
    });
  }
  refused("no_eps.h5", {"attribute eps"}, [&](Hdf5Writer& w) {
    w.matrix("/offsets", H5T_STD_U64LE, {3}, values);
    ids(w);
  });
  check_error<InputError>({"points.csv", "text", "HDF5", "epsflow neighbors"},
                          [&] { (void)read_neighbors(folder.write("points.csv", "1,2\n")); });
  check_error<InputError>({"no.h5"}, [&] { (void)read_neighbors(folder.write("no.h5", "1,2\n")); });
}

TEST_CASE("read neighbours: a table larger than the memory is refused") {
  const TempFolder folder;
  const Table table = chain(1000);
  const std::filesystem::path file = written(folder, table);
  const std::uint64_t bytes = table.offsets.size() * 8 + table.ids.size() * 4 + table.distances.size() * 8;
  CHECK(table.is(read_neighbors(file, bytes)));
  check_error<ResourceError>({file.string(), "ReadOptions::memory"}, [&] { (void)read_neighbors(file, bytes - 1); });
}

TEST_CASE("read neighbours: damaged files are errors, or tables of the same shape") {
  const TempFolder folder;
  const Table table = chain(300);
  const std::string bytes = bytes_of_file(written(folder, table));
  const auto read = [&](const std::string& damaged) {
    return read_neighbors(folder.write("damaged.h5", damaged), 1 << 20);
  };
  epsflow::test::truncate_everywhere(bytes, read,
                                     [&](const FileNeighbors& made, const auto&) { return table.is(made); });
  const std::size_t made = epsflow::test::flip_bits(bytes, read, [&](const FileNeighbors& one, const auto&) {
    return one.offsets.size() == table.offsets.size() && one.ids.size() == table.ids.size();
  });
  CHECK(made > 0);
}

}  // namespace
}  // namespace epsflow::io::test
