// Replaces epsflow-reader in child_reader_test.cpp. Each parser does what its name describes, such as "late SIGSEGV".
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <new>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <unistd.h>

#include <epsflow/core/error.hpp>
#include <epsflow/io/read/child_reader.hpp>

namespace epsflow::io::test {
namespace {

using Values = std::vector<double>;

PointsShape shape_of(std::uint64_t rows, std::vector<std::string> names) {
  PointsShape shape{.rows = rows, .kind = "test rows"};
  for (std::size_t k = 0; k < names.size(); ++k) shape.columns.push_back({k + 2, 0, names[k]});
  return shape;
}

void put_rows(ValueSink& sink, std::uint64_t first, const Values& values) {
  sink.put_rows(first, std::span<const double>(values));
}

template <int kSignal>
void crash(const LibraryFile&, const Source&, ValueSink&) {
  ::raise(kSignal);
}

template <int kSignal>
void crash_late(const LibraryFile&, const Source&, ValueSink& sink) {
  sink.begin(shape_of(3, {"x"}));
  put_rows(sink, 0, {1, 2});
  ::raise(kSignal);
}

template <class E>
void fail(const LibraryFile&, const Source&, ValueSink&) {
  throw E("thrown");
}

/// Two points of two coordinates, of which `put` puts what cannot be.
template <void (*kPut)(ValueSink&)>
void put_wrong(const LibraryFile&, const Source&, ValueSink& sink) {
  sink.begin(shape_of(2, {"x", "y"}));
  kPut(sink);
}

void put_beyond(ValueSink& sink) { put_rows(sink, 2, {1, 2}); }
void put_far_beyond(ValueSink& sink) { put_rows(sink, ~std::uint64_t{0}, {1, 2}); }
void put_half_a_row(ValueSink& sink) { put_rows(sink, 0, {1}); }
void put_long_coordinate(ValueSink& sink) { sink.put_coordinate(1, 0, std::span<const double>(Values{1, 2})); }
void put_third_coordinate(ValueSink& sink) { sink.put_coordinate(0, 2, std::span<const double>(Values{1, 2})); }
void put_nothing(ValueSink&) {}
void put_second_shape(ValueSink& sink) { sink.begin(shape_of(2, {"x", "y"})); }

void in_box(ValueSink& sink, std::vector<double> sides, std::uint64_t pieces = 1) {
  PointsShape shape = shape_of(1, {"x"});
  shape.box = std::move(sides);
  shape.pieces = pieces;
  sink.begin(shape);
  put_rows(sink, 0, {1});
}

void rows(const LibraryFile&, const Source&, ValueSink& sink) {
  sink.begin(shape_of(3, {"x", "y"}));
  put_rows(sink, 1, {1, 2, 3, 4});
  sink.put_coordinate(0, 1, std::span<const double>(Values{8}));
  sink.put_coordinate(0, 0, std::span<const double>(Values{7}));
}

void many_singles(const LibraryFile&, const Source&, ValueSink& sink) {
  constexpr std::size_t kRows = 1'000'003;
  std::vector<float> column(kRows);
  for (std::size_t i = 0; i < kRows; ++i) column[i] = static_cast<float>(i);
  PointsShape shape = shape_of(kRows, {"x", "y"});
  for (ElementChoice& choice : shape.columns) choice.is_float32 = true;
  sink.begin(shape);
  sink.put_coordinate(0, 0, std::span<const float>(column));
  sink.put_coordinate(0, 1, std::span<const float>(column));
}

void takes_memory(const LibraryFile&, const Source&, ValueSink& sink) {
  PointsShape shape = shape_of(10, {"x"});
  shape.memory_taken = 21;
  sink.begin(shape);
  put_rows(sink, 0, Values(10, 1.0));
}

/// A point for each byte of the file, in columns that are named as those asked for.
void bytes_of_file(const LibraryFile& file, const Source& source, ValueSink& sink) {
  std::ifstream stream(file.path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
  if (bytes.size() != file.size || source.name != "x.dat") throw InputError("another file");
  PointsShape shape = shape_of(bytes.size(), source.options.columns);
  shape.kind = source.options.table;
  sink.begin(shape);
  for (std::size_t k = 0; k < shape.columns.size(); ++k) {
    sink.put_coordinate(0, k, std::span<const double>(Values(bytes.begin(), bytes.end())));
  }
}

/// Puts one point: the numbers of the columns chosen by these names. Puts no point without a choice.
void chosen(const LibraryFile&, const Source& source, ValueSink& sink) {
  const std::vector<std::string> names{"name", "dec", "ra"};
  Values numbers;
  PointsShape shape{.rows = 1};
  if (source.options.choose) {
    for (const std::size_t column : source.options.choose(names)) {
      numbers.push_back(static_cast<double>(column));
      shape.columns.push_back({column, 0, names[column]});
    }
  } else {
    shape = shape_of(0, {"nobody"});
  }
  sink.begin(shape);
  put_rows(sink, 0, numbers);
}

/// Whether the process leads a group of its own.
void group(const LibraryFile&, const Source&, ValueSink& sink) {
  sink.begin(shape_of(1, {"x"}));
  put_rows(sink, 0, {::getpgrp() == ::getpid() ? 1.0 : 0.0});
}

const std::map<std::string_view, decltype(Reader::parse)> kParsers{
    {"chosen", chosen},
    {"group", group},
    {"SIGTERM", crash<SIGTERM>},
    {"rows", rows},
    {"many singles", many_singles},
    {"takes memory", takes_memory},
    {"bytes of file", bytes_of_file},
    {"usage error", fail<UsageError>},
    {"input error", fail<InputError>},
    {"resource error", fail<ResourceError>},
    {"other error", fail<std::runtime_error>},
    {"no memory", [](const LibraryFile&, const Source&, ValueSink&) { throw std::bad_alloc(); }},
    {"late error",
     [](const LibraryFile&, const Source&, ValueSink& sink) {
       sink.begin(shape_of(2, {"x"}));
       throw InputError("late");
     }},
    {"SIGSEGV", crash<SIGSEGV>},
    {"SIGABRT", crash<SIGABRT>},
    {"SIGFPE", crash<SIGFPE>},
    {"SIGBUS", crash<SIGBUS>},
    {"SIGKILL", crash<SIGKILL>},
    {"late SIGSEGV", crash_late<SIGSEGV>},
    {"late SIGBUS", crash_late<SIGBUS>},
    {"exit", [](const LibraryFile&, const Source&, ValueSink&) { ::_exit(0); }},
    {"no end",
     [](const LibraryFile&, const Source&, ValueSink&) {
       for (volatile bool go = true; go;) continue;
     }},
    {"wrong: beyond", put_wrong<put_beyond>},
    {"wrong: far beyond", put_wrong<put_far_beyond>},
    {"wrong: half a row", put_wrong<put_half_a_row>},
    {"wrong: long coordinate", put_wrong<put_long_coordinate>},
    {"wrong: third coordinate", put_wrong<put_third_coordinate>},
    {"wrong: nothing", put_wrong<put_nothing>},
    {"wrong: second shape", put_wrong<put_second_shape>},
    {"box", [](const LibraryFile&, const Source&, ValueSink& sink) { in_box(sink, {5}, 2); }},
    {"wrong: no pieces", [](const LibraryFile&, const Source&, ValueSink& sink) { in_box(sink, {5}, 0); }},
    {"wrong: endless box", [](const LibraryFile&, const Source&, ValueSink& sink) { in_box(sink, {HUGE_VAL}); }},
    {"wrong: negative box", [](const LibraryFile&, const Source&, ValueSink& sink) { in_box(sink, {-5}); }},
    {"wrong: late names",
     [](const LibraryFile&, const Source& source, ValueSink& sink) {
       sink.begin(shape_of(2, {"x"}));
       (void)source.options.choose({"x"});
     }},
    {"wrong: a table", [](const LibraryFile&, const Source&, ValueSink& sink) { sink.begin(NeighborsShape()); }},
    {"wrong: no shape",
     [](const LibraryFile&, const Source&, ValueSink& sink) {
       put_rows(sink, 0, {1, 2});
     }},
};

/// A table of two rows, of which kPut puts what cannot be.
template <void (*kPut)(ValueSink&)>
void put_table(const LibraryFile&, const Source&, ValueSink& sink) {
  sink.begin(NeighborsShape{.offsets = 3, .ids = 2, .distances = 0, .eps = 0.5, .memory_taken = 1});
  kPut(sink);
}

template <class T>
void put_array(ValueSink& sink, TableArray array, std::uint64_t first, const std::vector<T>& values) {
  sink.put_array(array, first, std::span<const T>(values));
}

void put_offsets(ValueSink& sink) { put_array<std::uint64_t>(sink, TableArray::offsets, 0, {0, 1, 2}); }
void put_ids(ValueSink& sink) { put_array<std::uint32_t>(sink, TableArray::ids, 0, {0, 1}); }

const std::map<std::string_view, decltype(Reader::parse_neighbors)> kNeighborParsers{
    {"table", put_table<[](ValueSink& sink) {
       put_ids(sink);
       put_offsets(sink);
     }>},
    {"table SIGSEGV", put_table<[](ValueSink&) { ::raise(SIGSEGV); }>},
    {"table error", put_table<[](ValueSink&) { throw InputError("thrown"); }>},
    {"wrong table: nothing", put_table<[](ValueSink&) {}>},
    {"wrong table: no ids", put_table<put_offsets>},
    {"wrong table: points", [](const LibraryFile&, const Source&, ValueSink& sink) { sink.begin(PointsShape()); }},
    {"wrong table: no shape", [](const LibraryFile&, const Source&, ValueSink& sink) { put_ids(sink); }},
    {"wrong table: second shape",
     put_table<[](ValueSink& sink) { sink.begin(NeighborsShape{.offsets = 3, .ids = 2}); }>},
    {"wrong table: beyond", put_table<[](ValueSink& sink) {
       put_array<std::uint32_t>(sink, TableArray::ids, 1, {0, 1});
     }>},
    {"wrong table: far beyond", put_table<[](ValueSink& sink) {
       put_array<std::uint32_t>(sink, TableArray::ids, ~std::uint64_t{0}, {0, 1});
     }>},
    {"wrong table: half a value", put_table<[](ValueSink& sink) {
       put_array<std::uint8_t>(sink, TableArray::ids, 0, {0, 1});
     }>},
    {"wrong table: distances",
     put_table<[](ValueSink& sink) { put_array<double>(sink, TableArray::distances, 0, {0}); }>},
    {"wrong table: fourth array",
     put_table<[](ValueSink& sink) { put_array<double>(sink, static_cast<TableArray>(3), 0, {0}); }>},
    {"wrong table: twice", put_table<[](ValueSink& sink) {
       put_offsets(sink);
       put_offsets(sink);
     }>},
};

Reader reader_of(std::string_view name) {
  if (const auto found = kNeighborParsers.find(name); found != kNeighborParsers.end()) {
    return {.parse_neighbors = found->second};
  }
  return {.parse = kParsers.at(name)};
}

}  // namespace
}  // namespace epsflow::io::test

int main() { epsflow::io::serve_reader(epsflow::io::test::reader_of); }
