#include <epsflow/io/read_points.hpp>

#include <cmath>
#include <cstdint>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>

#include "io/io_test.hpp"
#include "io/npy_samples.hpp"

namespace epsflow::io::test {
namespace {

TEST_CASE("read_points: columns that are chosen by the names that the file has") {
  const TempFolder folder;
  const auto text = folder.write("a.csv", "name,y,x\np,1,2\nq,3,4\n");
  const auto records = folder.write("b.npy", npy_records("[('name', 'S1'), ('y', '<f4'), ('x', '<f4')]", "(2,)",
                                                         "p" + pack<float>({1, 2}) + "q" + pack<float>({3, 4})));
  Names seen;
  const auto backwards = [&](const Names& names) {
    seen = names;
    return std::vector<std::size_t>{2, 1};
  };
  for (const auto& file : {text, records}) {
    CAPTURE(file);
    const FilePoints points = read_points(file, {.choose = backwards});
    CHECK(seen == Names{"name", "y", "x"});
    CHECK(values_of(points) == Values{2, 1, 4, 3});
    CHECK(points.column_names == Names{"x", "y"});
    CHECK(points.column_numbers == std::vector<std::size_t>{2, 1});
    CHECK(values_of(read_points(file, {.columns = {"y"}, .choose = backwards})) == Values{1, 3});
    const auto none = [](const Names&) { return std::vector<std::size_t>(); };
    check_mentions(refusal(file, {.choose = none}), {"name"});
  }
  CHECK(values_of(read_points(folder.write("c.csv", "1,2\n"), {.choose = backwards})) == Values{1, 2});
}

TEST_CASE("read_points: gzipped text, arrays and raw files") {
  const TempFolder folder;
  const std::string array = npy("<f8", "(2, 2)", pack<double>({1, 2, 3, 4}));
  for (const auto& [name, bytes] : {std::pair{"a.csv.gz", std::string("1,2\n3,4\n")},
                                    {"b.gz", "1,2\n3,4\n"},
                                    {"c.npy.gz", array},
                                    {"d.gz", array}}) {
    CAPTURE(name);
    CHECK(values_of(read_points(folder.write(name, gzip(bytes)))) == Values{1, 2, 3, 4});
  }
  CHECK(values_of(read_points(folder.write("e.f64.gz", gzip(pack<double>({1, 2, 3, 4}))), {.raw = {.dims = 2}})) ==
        Values{1, 2, 3, 4});
  if (!has_format("HDF5")) return;
  check_mentions(refusal(folder.write("f.h5.gz", gzip("x"))), {"f.h5.gz", "opening the HDF5 file", "signature"});
}

TEST_CASE("read_points: raw names set the precision") {
  const TempFolder folder;
  const FilePoints single = read_points(folder.write("a.f32", pack<float>({1, 2})), {.raw = {.dims = 2}});
  CHECK(single.precision() == Precision::float32);
  const ReadOptions says_single{.raw = {.dims = 1, .precision = Precision::float32}};
  check_mentions(refusal<UsageError>(folder.write("a.f64", pack<double>({1, 2})), says_single),
                 {"a.f64", "float64", "ReadOptions::raw.precision"});
  CHECK(read_points(folder.write("a.f32", pack<float>({1, 2})), says_single).size() == 2);
  CHECK(read_points(folder.write("a.raw", pack<float>({1, 2})), says_single).size() == 2);
  check_mentions(refusal<UsageError>(folder / "a.raw"), {"a.raw", "ReadOptions::raw.dims"});
  // These coordinates happen to begin like a gzip file.
  CHECK(read_points(folder.write("b.f32", std::string("\x1f\x8b\x01\x02", 4)), {.raw = {.dims = 1}}).size() == 1);
}

TEST_CASE("read_points: files that cannot be read") {
  const TempFolder folder;
  const std::string name = GENERATE("no.csv", "no.npy", "no.fits", "no.h5", "no.raw");
  CAPTURE(name);
  check_mentions(refusal(folder / name), {name, "No such file"});
  std::filesystem::create_directory(folder / name);
  check_mentions(refusal(folder / name), {name, "is a folder"});
  std::filesystem::remove(folder / name);
  folder.write(name, "1,2\n");
  std::filesystem::permissions(folder / name, std::filesystem::perms::none);
  if (::geteuid() == 0) {
    WARN("skipped: the superuser may read every file");
    return;
  }
  check_mentions(refusal(folder / name), {name, "Permission denied"});
}

TEST_CASE("read_points: options that the file has no use for are named") {
  const TempFolder folder;
  const auto text = folder.write("a.csv", "1,2\n");
  const auto array = folder.write("a.npy", npy("<f8", "(1, 2)", pack<double>({3, 4})));
  check_mentions(refusal<UsageError>(text, {.raw = {.dims = 2}}), {"a.csv", "ReadOptions::raw.dims", "raw", "text"});
  check_mentions(refusal<UsageError>(array, {.raw = {.precision = Precision::float64}}),
                 {"a.npy", "ReadOptions::raw.precision"});
  check_mentions(refusal<UsageError>(text, {.external_storage = true}), {"ReadOptions::external_storage", "HDF5"});
  check_mentions(refusal<UsageError>(text, {.table = "1"}), {"a.csv", "ReadOptions::table is for NPZ, FITS, HDF5"});
  check_mentions(refusal<UsageError>(array, {.text = {.header = TextLayout::Header::no}}),
                 {"ReadOptions::text.header", "NPY"});
  check_mentions(refusal<UsageError>(array, {.text = {.delimiter = ','}}), {"ReadOptions::text.delimiter"});
  check_mentions(refusal<UsageError>(array, {.text = {.decimal = ','}}), {"ReadOptions::text.decimal"});
  check_mentions(refusal<UsageError>(array, {.text = {.comment = "%"}}), {"ReadOptions::text.comment"});
  check_mentions(refusal<UsageError>(array, {.text = {.skip_rows = 1}}), {"ReadOptions::text.skip_rows"});
}

TEST_CASE("read_points: first bytes win over a name, and the kind says so") {
  const TempFolder folder;
  const std::string array = npy("<f8", "(2, 2)", pack<double>({1, 2, 3, 4}));
  CHECK(read_points(folder.write("a.npy", array)).inputs[0].kind.find("by its first bytes") == std::string::npos);
  const FilePoints points = read_points(folder.write("a.csv", array));
  CHECK(values_of(points) == Values{1, 2, 3, 4});
  check_mentions(points.inputs[0].kind, {"NPY", "by its first bytes"});
  check_mentions(read_points(folder.write("b.csv.gz", gzip("1,2\n"))).inputs[0].kind, {"text", "gzipped"});
  // The file name has no extension, as with standard input, and the file has raw coordinates.
  CHECK(read_points(folder.write("c", pack<double>({1, 2})), {.raw = {.dims = 2}}).size() == 1);
  check_mentions(refusal(folder.write("d", pack<double>({1, 2}))), {"is no text"});
}

TEST_CASE("read_points: an empty file of any kind") {
  const TempFolder folder;
  const std::string name = GENERATE("e.csv", "e.npy", "e.fits", "e.h5", "e.raw", "e.npz");
  check_mentions(refusal(folder.write(name, ""), {.raw = {}}), {name, "empty"});
}

TEST_CASE("read_points: HDF5 through a named pipe is read once, not waited for again") {
  if (!has_format("HDF5")) return;
  const TempFolder folder;
  const auto pipe = folder / "pipe.h5";
  feed_pipe(folder.write("bad.h5", std::string("\x89HDF\r\n\x1a\n", 8) + std::string(5000, '\0')), pipe);
  check_mentions(refusal(pipe), {"pipe.h5", "HDF5"});
}

TEST_CASE("read_points: endless input ends with the budget") {
  check_mentions(refusal<ResourceError>("/dev/zero", {.raw = {.dims = 2}, .memory = 1 << 20}),
                 {"/dev/zero", "ReadOptions::memory"});
  check_mentions(refusal("/dev/zero"), {"/dev/zero", "is no text"});
}

TEST_CASE("read_points: a pipe") {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  std::string text;
  for (int i = 0; i < 100000; ++i) text += std::to_string(i) + ",1.5\n";
  std::thread writer([&] {
    std::string_view rest = text;
    while (!rest.empty()) {
      const ssize_t written = ::write(ends[1], rest.data(), rest.size());
      if (written <= 0) break;
      rest.remove_prefix(static_cast<std::size_t>(written));
    }
    ::close(ends[1]);
  });
  const FilePoints points = read_points("/dev/fd/" + std::to_string(ends[0]));
  writer.join();
  ::close(ends[0]);
  CHECK(points.size() == 100000);
  CHECK(points.view().at(99999, 0) == 99999);
}

TEST_CASE("read_points: several files are one data set") {
  const TempFolder folder;
  const Paths files{folder.write("a.csv", "x,y\n1,2\nnan,0\n"), folder.write("b.csv", "x,y\n"),
                    folder.write("c.csv.gz", gzip("x,y\n3,4\n5,6\n7,\n"))};
  const TextLayout named{.header = TextLayout::Header::yes};
  const FilePoints points = read_points(files, {.on_nan = NanPolicy::drop, .text = named});
  CHECK(values_of(points) == Values{1, 2, 3, 4, 5, 6});
  CHECK(points.dropped_rows() == 2);
  REQUIRE(points.inputs.size() == 3);
  CHECK(points.inputs[0].dropped == std::vector<std::uint64_t>{1});
  CHECK(points.inputs[1].rows == 0);
  CHECK(points.inputs[2].rows == 3);
  CHECK(points.inputs[2].dropped == std::vector<std::uint64_t>{2});
  CHECK(points.inputs[2].kind == "text, comma-separated, header in line 1, gzipped");
  CHECK(points.column_names == Names{"x", "y"});
  // The row of an error counts within its file.
  check_mentions(refusal(Paths{files[1], files[2]}, {.text = named}), {"c.csv.gz", "row 2", "'y'"});
  CHECK(values_of(read_points(Paths{files[1]}, {.text = named})).empty());
}

TEST_CASE("read_points: float32 only when all files are") {
  const TempFolder folder;
  const auto single = folder.write("a.npy", npy("<f4", "(1, 2)", pack<float>({0.1F, 2})));
  const auto wide = folder.write("b.npy", npy("<f8", "(1, 2)", pack<double>({0.1, 4})));
  const FilePoints two = read_points(Paths{single, single});
  CHECK(two.precision() == Precision::float32);
  CHECK(two.size() == 2);
  const FilePoints mixed = read_points(Paths{single, wide});
  CHECK(mixed.precision() == Precision::float64);
  CHECK(values_of(mixed) == Values{static_cast<double>(0.1F), 2, 0.1, 4});
  check_mentions(refusal<ResourceError>(Paths{single, wide}, {.memory = 31}),
                 {"32 bytes", "31 bytes", "ReadOptions::memory"});
}

TEST_CASE("read_points: files that do not go together") {
  const TempFolder folder;
  const auto two = folder.write("two.csv", "x,y\n1,2\n");
  const auto three = folder.write("three.csv", "x,y,z\n1,2,3\n");
  const auto swapped = folder.write("swapped.csv", "y,x\n2,1\n");
  const auto array = folder.write("array.npy", npy("<f8", "(1, 2)", pack<double>({3, 4})));
  check_mentions(refusal(Paths{two, three}), {"three.csv", "3 columns", "two.csv", "2", "ReadOptions::columns"});
  check_mentions(refusal(Paths{two, swapped}), {"swapped.csv", "two.csv", "ReadOptions::columns"});
  CHECK(values_of(read_points(Paths{two, swapped, three}, {.columns = {"x", "y"}})) == Values{1, 2, 1, 2, 1, 2});
  check_mentions(refusal<UsageError>(Paths{two, array}), {"array.npy", "NPY", "two.csv", "text"});
  check_mentions(refusal<UsageError>(Paths{}), {"no files"});
}

TEST_CASE("read_points: the memory budget counts all files") {
  const TempFolder folder;
  const auto file = folder.write("a.csv", "1,2\n3,4\n");
  CHECK(read_points(Paths{file, file}, {.memory = 64}).size() == 4);
  check_mentions(refusal<ResourceError>(Paths{file, file}, {.memory = 63}),
                 {"a.csv", "32 bytes", "63 bytes", "before it take 32", "ReadOptions::memory"});
}

// ---- real data ----

struct Golden {
  std::string file;
  ReadOptions options;
  std::size_t rows = 0;
  std::size_t dropped = 0;
  std::size_t dims = 0;
};

Names split(const std::string& text, char delimiter) {
  Names parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, delimiter);) parts.push_back(part);
  return parts;
}

// Returns the distinct inputs of golden.csv: file,table,columns,eps,minpts,rows,dropped,dims,…
std::vector<Golden> read_golden(const std::filesystem::path& folder) {
  std::map<std::string, Golden> inputs;
  for (const Names& fields : epsflow::test::load_csv(folder / "golden.csv")) {
    inputs[fields[0] + fields[1] + fields[2]] = {
        fields[0],
        {.columns = split(fields[2], '+'), .table = fields[1], .on_nan = NanPolicy::drop},
        std::stoul(fields[5]),
        std::stoul(fields[6]),
        std::stoul(fields[7])};
  }
  std::vector<Golden> list;
  for (const auto& [key, golden] : inputs) list.push_back(golden);
  return list;
}

TEST_CASE("read_points: real data have the rows that scikit-learn was given") {
  const auto folder = real_data();
  if (!folder) return;
  const std::vector<Golden> inputs = read_golden(*folder);
  CHECK(inputs.size() >= 14);
  for (const Golden& golden : inputs) {
    if (golden.file.find(".fits") != std::string::npos && !has_format("FITS")) continue;
    if (golden.file.find(".hdf5") != std::string::npos && !has_format("HDF5")) continue;
    CAPTURE(golden.file, golden.options.columns);
    const FilePoints points = read_points(*folder / golden.file, golden.options);
    CHECK(points.size() == golden.rows);
    CHECK(points.dropped_rows() == golden.dropped);
    CHECK(points.dims() == golden.dims);
    require_finite(points);
    if (golden.dropped > 0) {
      ReadOptions strict = golden.options;
      strict.on_nan = NanPolicy::error;
      check_mentions(refusal(*folder / golden.file, strict), {golden.file, "line", "row", "NanPolicy::drop"});
    }
  }
}

// Sums columns without the reader: by a stream of lines and std::stod.
Values naive_sums(const std::filesystem::path& file, const std::vector<std::size_t>& columns, bool header) {
  Values sums(columns.size(), 0.0);
  std::ifstream stream(file);
  std::string line;
  if (header) std::getline(stream, line);
  while (std::getline(stream, line)) {
    const Names fields = split(line, ',');
    Values row;
    for (const std::size_t column : columns) {
      if (column < fields.size() && !fields[column].empty() && fields[column] != "\r")
        row.push_back(std::stod(fields[column]));
    }
    if (row.size() != columns.size()) continue;
    for (std::size_t k = 0; k < row.size(); ++k) sums[k] += row[k];
  }
  return sums;
}

Values column_sums(const FilePoints& points) {
  Values sums(points.dims(), 0.0);
  for (std::size_t i = 0; i < points.size(); ++i) {
    for (std::size_t k = 0; k < points.dims(); ++k) sums[k] += points.view().at(i, k);
  }
  return sums;
}

TEST_CASE("read_points: real text gives the sums of a plain loop, bit for bit") {
  const auto folder = real_data();
  if (!folder) return;
  const auto sums_of = [&](const char* name, Names columns) {
    return column_sums(read_points(*folder / name, {.columns = std::move(columns), .on_nan = NanPolicy::drop}));
  };
  CHECK(sums_of("earthquakes_1979_2019.csv", {"lat", "lon", "mag"}) ==
        naive_sums(*folder / "earthquakes_1979_2019.csv", {1, 2, 4}, true));
  CHECK(sums_of("uk_accidents.csv", {"lng", "lat"}) == naive_sums(*folder / "uk_accidents.csv", {0, 1}, true));
  CHECK(sums_of("tec_2024010.csv", {"ipp_lat_deg", "vtec_tecu"}) ==
        naive_sums(*folder / "tec_2024010.csv", {5, 8}, true));
  CHECK(sums_of("selfjoin_100k.txt", {}) == naive_sums(*folder / "selfjoin_100k.txt", {0, 1}, false));
  CHECK(sums_of("labelled_749.csv", {"0", "1"}) == naive_sums(*folder / "labelled_749.csv", {0, 1}, false));
}

}  // namespace
}  // namespace epsflow::io::test
