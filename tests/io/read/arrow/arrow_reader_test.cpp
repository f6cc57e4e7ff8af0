// Parquet and Arrow files, made by Arrow itself. Some need no more than the choice of one of the two: most of what is read
// goes the same way.
#include <epsflow/io/read/arrow/arrow_formats.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <arrow/array.h>
#include <arrow/io/memory.h>
#include <arrow/ipc/writer.h>
#include <arrow/json/from_string.h>
#include <arrow/table.h>
#include <arrow/type.h>
#include <parquet/arrow/writer.h>
#include <parquet/properties.h>

#include "io/io_test.hpp"
#include "io/shares.hpp"
#include "support/damage.hpp"

#include <epsflow/io/read_points.hpp>

namespace epsflow::io::test {
namespace {

using epsflow::test::flip_bits;
using epsflow::test::truncate_everywhere;
using Values = std::vector<double>;
using TablePtr = std::shared_ptr<arrow::Table>;

template <class T>
T value_of(arrow::Result<T> result) {
  INFO(result.status().ToString());
  REQUIRE(result.ok());
  return std::move(result).ValueUnsafe();
}

void require_ok(const arrow::Status& status) {
  INFO(status.ToString());
  REQUIRE(status.ok());
}

/// A column, its values as JSON.
struct Column {
  std::string name;
  std::shared_ptr<arrow::DataType> type;
  std::string values;
};

TablePtr table_of(const std::vector<Column>& columns) {
  arrow::FieldVector fields;
  arrow::ArrayVector arrays;
  for (const Column& column : columns) {
    fields.push_back(arrow::field(column.name, column.type));
    arrays.push_back(value_of(arrow::json::ArrayFromJSONString(column.type, column.values)));
  }
  return arrow::Table::Make(arrow::schema(fields), arrays);
}

std::string bytes_of(const std::shared_ptr<arrow::io::BufferOutputStream>& stream) {
  return value_of(stream->Finish())->ToString();
}

/// Row groups of `rows` each.
std::string parquet_of(const TablePtr& table, std::int64_t rows = 1024,
                       arrow::Compression::type codec = arrow::Compression::SNAPPY, bool checksums = false) {
  parquet::WriterProperties::Builder properties;
  properties.compression(codec);
  if (checksums) properties.enable_page_checksum();
  const auto stream = value_of(arrow::io::BufferOutputStream::Create());
  // Dictionaries and half floats come back as what they were.
  const auto with_schema = parquet::ArrowWriterProperties::Builder().store_schema()->build();
  require_ok(
      parquet::arrow::WriteTable(*table, arrow::default_memory_pool(), stream, rows, properties.build(), with_schema));
  return bytes_of(stream);
}

/// Record batches of `rows` each.
std::string arrow_of(const TablePtr& table, std::int64_t rows = 1024,
                     arrow::Compression::type codec = arrow::Compression::UNCOMPRESSED) {
  arrow::ipc::IpcWriteOptions options;
  if (codec != arrow::Compression::UNCOMPRESSED) options.codec = value_of(arrow::util::Codec::Create(codec));
  const auto stream = value_of(arrow::io::BufferOutputStream::Create());
  const auto writer = value_of(arrow::ipc::MakeFileWriter(stream, table->schema(), options));
  require_ok(writer->WriteTable(*table, rows));
  require_ok(writer->Close());
  return bytes_of(stream);
}

std::string stream_of(const TablePtr& table) {
  const auto stream = value_of(arrow::io::BufferOutputStream::Create());
  const auto writer = value_of(arrow::ipc::MakeStreamWriter(stream, table->schema()));
  require_ok(writer->WriteTable(*table));
  require_ok(writer->Close());
  return bytes_of(stream);
}

/// The table as a file of either kind, in turn.
std::filesystem::path write_either(const TempFolder& folder, const TablePtr& table, std::int64_t rows = 1024) {
  if (GENERATE(true, false)) return folder.write("table.parquet", parquet_of(table, rows));
  return folder.write("table.feather", arrow_of(table, rows));
}

FilePoints read(const std::filesystem::path& file, const ReadOptions& options = {}) {
  return read_points(file, options);
}

TablePtr stars() {
  return table_of({{"name", arrow::utf8(), R"(["a", "b", "c"])"},
                   {"ra", arrow::float64(), "[10.5, 20.5, 30.5]"},
                   {"dec", arrow::float32(), "[-1, 0.1, 1]"},
                   {"id", arrow::int64(), "[1, 2, 3]"}});
}

/// `count` rows of x, y and a text, of numbers that do not compress.
TablePtr many_rows(std::int64_t count) {
  std::string x;
  std::string y;
  std::string text;
  for (std::int64_t i = 0; i < count; ++i) {
    const char* const comma = i == 0 ? "[" : ",";
    x += comma + std::to_string(i * 7919 % 100003) + ".25";
    y += comma + std::to_string(i);
    text += std::string(comma) + "\"row " + std::to_string(i) + "\"";
  }
  return table_of(
      {{"x", arrow::float64(), x + "]"}, {"text", arrow::utf8(), text + "]"}, {"y", arrow::int32(), y + "]"}});
}

}  // namespace

TEST_CASE("arrow: shares of the rows, of Parquet and Arrow files") {
  const TempFolder folder;
  const TablePtr table =
      table_of({{"x", arrow::float64(), "[1, 2, 3, 4, 5]"}, {"y", arrow::int32(), "[6, 7, null, 9, 10]"}});
  check_shares(folder.write("a.parquet", parquet_of(table, 2)), {.on_nan = NanPolicy::drop});
  check_shares(folder.write("a.arrow", arrow_of(table, 2)), {.columns = {"x"}});
}

TEST_CASE("parquet and arrow: columns by name and by number, of any number type") {
  const TempFolder folder;
  const std::vector<std::shared_ptr<arrow::DataType>> types{
      arrow::int8(),   arrow::int16(),  arrow::int32(),   arrow::int64(),   arrow::uint8(),  arrow::uint16(),
      arrow::uint32(), arrow::uint64(), arrow::float16(), arrow::float32(), arrow::float64()};
  for (const auto& type : types) {
    CAPTURE(type->ToString());
    const TablePtr table = table_of({{"x", type, "[1, 2, 3]"}, {"y", type, "[4, 5, 6]"}});
    for (const auto& file : {folder.write("t.parquet", parquet_of(table)), folder.write("t.arrow", arrow_of(table))}) {
      const FilePoints points = read(file);
      CHECK(points.precision() == (type->id() == arrow::Type::FLOAT ? Precision::float32 : Precision::float64));
      CHECK(values_of(points) == Values{1, 4, 2, 5, 3, 6});
      CHECK(points.column_names == std::vector<std::string>{"x", "y"});
      CHECK(values_of(read(file, {.columns = {"y"}})) == Values{4, 5, 6});
      const FilePoints turned = read(file, {.columns = {"-1", "0"}});
      CHECK(values_of(turned) == Values{4, 1, 5, 2, 6, 3});
      CHECK(turned.column_numbers == std::vector<std::size_t>{1, 0});
    }
  }
}

TEST_CASE("parquet and arrow: integers that float64 would round are refused, where their column is used") {
  const TempFolder folder;
  const auto coded_type = arrow::dictionary(arrow::int8(), arrow::int64());
  const auto keys = value_of(arrow::json::ArrayFromJSONString(arrow::int8(), "[1, 0, null]"));
  const auto values = value_of(arrow::json::ArrayFromJSONString(arrow::int64(), "[7, -9007199254740993]"));
  const TablePtr plain = table_of({{"x", arrow::float64(), "[1, 2, 1e17]"},
                                   {"id", arrow::int64(), "[1, null, 9007199254740993]"},
                                   {"most", arrow::uint64(), "[1, 18446744073709551615, 3]"}});
  const TablePtr table = value_of(plain->AddColumn(
      3, arrow::field("coded", coded_type),
      std::make_shared<arrow::ChunkedArray>(value_of(arrow::DictionaryArray::FromArrays(coded_type, keys, values)))));
  const std::filesystem::path file = write_either(folder, table);
  const auto refusal = [&](const std::string& column) {
    return error_of<InputError>([&] { read(file, {.columns = {column}, .on_nan = NanPolicy::drop}); });
  };
  check_mentions(refusal("id"), {"row 2, column 'id' is 9007199254740993", "offset", "ReadOptions::columns"});
  check_mentions(refusal("most"), {"row 1, column 'most' is 18446744073709551615"});
  check_mentions(refusal("coded"), {"row 0, column 'coded' is -9007199254740993"});
  CHECK(values_of(read(file, {.columns = {"x"}})) == Values{1, 2, 1e17});
  // Row groups and batches of other shares are not read.
  for (const auto& shared :
       {folder.write("s.parquet", parquet_of(plain, 1)), folder.write("s.arrow", arrow_of(plain, 1))}) {
    CHECK(values_of(read(shared, {.columns = {"x", "id"}, .share = {0, 3}})) == Values{1, 1});
  }
}

TEST_CASE("parquet and arrow: truth values, dictionaries, half floats") {
  const TempFolder folder;
  const auto dictionary = arrow::dictionary(arrow::int8(), arrow::float32());
  const auto keys = value_of(arrow::json::ArrayFromJSONString(arrow::int8(), "[1, null, 0, 1]"));
  const auto values = value_of(arrow::json::ArrayFromJSONString(arrow::float32(), "[0.5, 1.5]"));
  const TablePtr plain = table_of({{"flag", arrow::boolean(), "[true, false, true, false]"},
                                   {"half", arrow::float16(), "[0.5, -2, 1e-7, 60000]"},
                                   {"big", arrow::uint64(), "[9223372036854775808, 9007199254740992, 0, 1]"}});
  const TablePtr table = value_of(plain->AddColumn(
      3, arrow::field("coded", dictionary),
      std::make_shared<arrow::ChunkedArray>(value_of(arrow::DictionaryArray::FromArrays(dictionary, keys, values)))));
  const std::filesystem::path file = write_either(folder, table);
  CHECK(values_of(read(file, {.columns = {"flag"}})) == Values{1, 0, 1, 0});
  CHECK(values_of(read(file, {.columns = {"half"}})) == Values{0.5, -2, 0x1p-23, 60000});
  CHECK(values_of(read(file, {.columns = {"big"}})) == Values{0x1p63, 0x1p53, 0, 1});
  const FilePoints coded = read(file, {.columns = {"coded"}, .on_nan = NanPolicy::drop});
  CHECK(coded.precision() == Precision::float32);
  CHECK(values_of(coded) == Values{1.5, 0.5, 1.5});
  CHECK(coded.inputs[0].dropped == std::vector<std::uint64_t>{1});
}

TEST_CASE("parquet and arrow: float32 points of float32 columns only") {
  const TempFolder folder;
  const std::filesystem::path file = write_either(folder, stars());
  CHECK(read(file, {.columns = {"dec"}}).precision() == Precision::float32);
  const FilePoints both = read(file, {.columns = {"ra", "dec"}});
  CHECK(both.precision() == Precision::float64);
  CHECK(values_of(both) == Values{10.5, -1, 20.5, static_cast<double>(0.1F), 30.5, 1});
}

TEST_CASE("parquet and arrow: weights, which leave float32 coordinates as they are") {
  const TempFolder folder;
  const auto file = write_either(folder, stars());
  const FilePoints points = read(file, {.columns = {"dec"}, .weight = "ra"});
  CHECK(points.precision() == Precision::float32);
  CHECK(values_of(points) == Values{-1, double{0.1F}, 1});
  CHECK(points.weights == Values{10.5, 20.5, 30.5});
  CHECK(points.weight_column == "ra");
  const FilePoints twice = read(file, {.columns = {"id", "ra"}, .weight = "id"});
  CHECK(values_of(twice) == Values{1, 10.5, 2, 20.5, 3, 30.5});
  CHECK(twice.weights == Values{1, 2, 3});
  check_mentions(error_of<InputError>([&] { read(file, {.columns = {"ra"}, .weight = "name"}); }),
                 {"'name'", "not numbers", "ReadOptions::weight"});
}

TEST_CASE("parquet and arrow: nulls are missing values") {
  const TempFolder folder;
  const TablePtr table = table_of({{"x", arrow::int32(), "[1, null, 3, 4, 5]"},
                                   {"y", arrow::float64(), "[1, 2, 3, null, 5]"},
                                   {"z", arrow::float32(), "[1, 2, 3, 4, NaN]"}});
  const std::filesystem::path file = write_either(folder, table, 2);
  check_mentions(error_of<InputError>([&] { read(file); }), {"table.", "row 1", "'x'", "nan", "NanPolicy::drop"});
  check_mentions(error_of<InputError>([&] { read(file, {.columns = {"y"}}); }), {"row 3", "'y'"});
  const FilePoints kept = read(file, {.on_nan = NanPolicy::drop});
  CHECK(values_of(kept) == Values{1, 1, 1, 3, 3, 3});
  CHECK(kept.inputs[0].rows == 5);
  CHECK(kept.inputs[0].dropped == std::vector<std::uint64_t>{1, 3, 4});
}

TEST_CASE("parquet and arrow: what is no number is refused by name") {
  const TempFolder folder;
  const TablePtr table =
      table_of({{"x", arrow::float64(), "[1]"},
                {"name", arrow::utf8(), R"(["a"])"},
                {"pair", arrow::list(arrow::float64()), "[[1, 2]]"},
                {"price", arrow::decimal128(10, 2), R"(["1.25"])"},
                {"at", arrow::timestamp(arrow::TimeUnit::MICRO), "[1]"},
                {"pos", arrow::struct_({arrow::field("a", arrow::float64()), arrow::field("b", arrow::float64())}),
                 R"([{"a": 1, "b": 2}])"},
                {"y", arrow::int16(), "[7]"}});
  const std::filesystem::path file = write_either(folder, table);
  const auto refusal = [&](const std::string& column) {
    return error_of<InputError>([&] { read(file, {.columns = {"x", column}}); });
  };
  check_mentions(error_of<InputError>([&] { read(file); }),
                 {"table.", "'name'", "string", "ReadOptions::columns", "x, name, pair"});
  check_mentions(refusal("pair"), {"'pair'", "list<", "not numbers"});
  check_mentions(refusal("price"), {"'price'", "decimal128(10, 2)", "round", "float64"});
  check_mentions(refusal("at"), {"'at'", "timestamp[us]", "not numbers"});
  check_mentions(refusal("pos"), {"'pos'", "struct<", "not numbers"});
  check_mentions(refusal("alt"), {"no column 'alt'", "x, name, pair, price, at, pos, y"});
  check_mentions(error_of<UsageError>([&] { read(file, {.columns = {"x", "0"}}); }), {"'x'", "twice"});
  // Behind columns that are several in the file.
  CHECK(values_of(read(file, {.columns = {"y", "x"}})) == Values{7, 1});
}

TEST_CASE("parquet and arrow: options of other kinds are refused") {
  const TempFolder folder;
  const std::filesystem::path file = write_either(folder, stars());
  check_mentions(error_of<UsageError>([&] { read(file, {.table = "1"}); }), {"table.", "ReadOptions::table"});
  check_mentions(error_of<UsageError>([&] { read(file, {.text = {.skip_rows = 1}}); }), {"table.", "skip_rows"});
}

TEST_CASE("parquet: row groups and compression, as the kind says") {
  const TempFolder folder;
  const TablePtr table = many_rows(1000);
  const Values all = values_of(read(folder.write("one.parquet", parquet_of(table)), {.columns = {"y", "x"}}));
  REQUIRE(all.size() == 2000);
  CHECK(all[2 * 999] == 999);
  for (const auto codec : {arrow::Compression::UNCOMPRESSED, arrow::Compression::SNAPPY, arrow::Compression::GZIP,
                           arrow::Compression::ZSTD, arrow::Compression::LZ4, arrow::Compression::BROTLI}) {
    if (!arrow::util::Codec::IsAvailable(codec)) continue;
    const FilePoints points = read(folder.write("three.parq", parquet_of(table, 400, codec)), {.columns = {"y", "x"}});
    CHECK(values_of(points) == all);
    const std::string name = codec == arrow::Compression::LZ4 ? "lz4_raw" : arrow::util::Codec::GetCodecAsString(codec);
    CHECK(points.inputs[0].kind == "Parquet, 3 row groups, " + name);
  }
  CHECK(read(folder / "one.parquet", {.columns = {"x"}}).inputs[0].kind == "Parquet, 1 row group, snappy");
}

TEST_CASE("arrow: record batches and compression") {
  const TempFolder folder;
  const TablePtr table = many_rows(1000);
  for (const auto codec : {arrow::Compression::UNCOMPRESSED, arrow::Compression::LZ4_FRAME, arrow::Compression::ZSTD}) {
    if (!arrow::util::Codec::IsAvailable(codec)) continue;
    const FilePoints points = read(folder.write("t.ipc", arrow_of(table, 400, codec)), {.columns = {"y"}});
    CHECK(points.inputs[0].kind == "Arrow, 3 record batches");
    REQUIRE(points.size() == 1000);
    CHECK(points.view().at(999, 0) == 999);
  }
  check_mentions(error_of<InputError>([&] { read(folder.write("s.arrow", stream_of(table))); }),
                 {"s.arrow", "Arrow stream", "new_file"});
}

TEST_CASE("parquet and arrow: more rows than are read at once") {
  const TempFolder folder;
  constexpr std::int64_t kCount = 200000;
  const std::filesystem::path file = write_either(folder, many_rows(kCount), 150000);
  const FilePoints points = read(file, {.columns = {"y", "x"}});
  REQUIRE(points.size() == kCount);
  bool same = true;
  for (std::size_t i = 0; i < kCount; ++i) {
    same = same && points.view().at(i, 0) == static_cast<double>(i) &&
           points.view().at(i, 1) == static_cast<double>(i * 7919 % 100003) + 0.25;
  }
  CHECK(same);
}

TEST_CASE("parquet and arrow: no rows, no columns, the memory budget") {
  const TempFolder folder;
  const std::filesystem::path none = write_either(folder, stars()->Slice(0, 0));
  CHECK(read(none, {.columns = {"ra", "dec"}}).size() == 0);
  const std::filesystem::path file = write_either(folder, stars());
  check_mentions(error_of<ResourceError>([&] {
                   read(file, {.columns = {"ra", "id"}, .memory = 47});
                 }),
                 {"table.", "48 bytes", "47 bytes", "ReadOptions::memory"});
  CHECK(read(file, {.columns = {"ra", "id"}, .memory = 48}).size() == 3);
  check_mentions(error_of<InputError>([&] { read(write_either(folder, table_of({}))); }), {"table.", "no columns"});
}

TEST_CASE("parquet and arrow: by first bytes, from a pipe, gzipped, as several files") {
  const TempFolder folder;
  const ReadOptions columns{.columns = {"ra", "dec"}};
  const bool is_parquet = GENERATE(true, false);
  const std::string bytes = is_parquet ? parquet_of(stars()) : arrow_of(stars());
  const std::string kind = is_parquet ? "Parquet, 1 row group, snappy" : "Arrow, 1 record batch";
  const FilePoints points = read(folder.write("stars.dat", bytes), columns);
  CHECK(points.size() == 3);
  CHECK(points.inputs[0].kind == kind + " by its first bytes");
  const std::string name = is_parquet ? "stars.parquet" : "stars.arrow";
  CHECK(read(folder.write(name + ".gz", gzip(bytes)), columns).inputs[0].kind == kind + ", gzipped");
  feed_pipe(folder.write(name, bytes), folder / ("pipe_" + name));
  CHECK(values_of(read(folder / ("pipe_" + name), columns)) == values_of(points));
  const FilePoints twice = read_points({folder / name, folder / "stars.dat"}, columns);
  CHECK(twice.size() == 6);
  CHECK(twice.inputs.size() == 2);
}

TEST_CASE("parquet and arrow: other files under their names") {
  const TempFolder folder;
  check_mentions(error_of<InputError>([&] { read(folder.write("a.parquet", "x,y\n1,2\n")); }),
                 {"a.parquet", "not a Parquet file", "PAR1"});
  check_mentions(error_of<InputError>([&] { read(folder.write("a.feather", "x,y\n1,2\n")); }),
                 {"a.feather", "not an Arrow file", "ARROW1"});
  check_mentions(error_of<InputError>([&] { read(folder.write("b.parquet", "")); }), {"b.parquet", "empty"});
}

TEST_CASE("parquet: columns that are not chosen are not read, and checksums are looked at") {
  const TempFolder folder;
  const TablePtr table = many_rows(1000);
  const std::string bytes = parquet_of(table, 1024, arrow::Compression::UNCOMPRESSED, true);
  std::string damaged = bytes;
  const std::size_t place = damaged.find("row 500");
  REQUIRE(place != std::string::npos);
  damaged[place] = 'R';
  const std::filesystem::path file = folder.write("x.parquet", damaged);
  CHECK(read(file, {.columns = {"x", "y"}}).size() == 1000);
  damaged = bytes;
  damaged[bytes.size() / 64] ^= 1;  // among the values of x, which come first
  check_mentions(error_of<InputError>([&] {
                   read(folder.write("y.parquet", damaged), {.columns = {"x", "y"}});
                 }),
                 {"y.parquet", "checksum", "fetch it again"});
}

TEST_CASE("parquet and arrow: a claim of more memory than the file can need is refused") {
  const TempFolder folder;
  const TablePtr table = many_rows(1000);
  std::string bytes = parquet_of(table, 1024, arrow::Compression::UNCOMPRESSED);
  // The header of the first page: its type, its size, and its size when compressed.
  std::size_t begin = std::string_view("PAR1").size();
  const auto end_of_field = [&] {
    std::size_t end = begin + 1;
    while ((static_cast<unsigned char>(bytes[end]) & 0x80U) != 0) ++end;
    return end + 1;
  };
  for (int field = 0; field < 2; ++field) begin = end_of_field();
  bytes.replace(begin, end_of_field() - begin, "\x15\xFE\xFF\xFF\xFF\x0F");  // 2^31 - 1
  check_mentions(error_of<InputError>([&] { read(folder.write("p.parquet", bytes), {.columns = {"x"}}); }),
                 {"p.parquet", "claims 2.0 GiB", "1,000 rows", "damaged"});
  bytes = arrow_of(table, 1024, arrow::Compression::LZ4_FRAME);
  const std::string length("\x40\x1F\0\0\0\0\0\0", 8);  // 8000, before the values of x
  const std::size_t place = bytes.find(length + "\x04\x22\x4D\x18");
  REQUIRE(place != std::string::npos);
  bytes[place + 4] = '\x10';
  check_mentions(error_of<InputError>([&] { read(folder.write("a.arrow", bytes), {.columns = {"x"}}); }),
                 {"a.arrow", "claims 64.0 GiB", "1,000 rows", "damaged"});
}

TEST_CASE("parquet and arrow: a truncated file is an error, or all of its points are there") {
  const TempFolder folder;
  const TablePtr table = many_rows(300);
  for (const auto& [name, bytes] :
       {std::pair{"t.parquet", parquet_of(table, 100)}, {"t.arrow", arrow_of(table, 100)}}) {
    CAPTURE(name);
    const auto read_bytes = [&, name = name](const std::string& cut) {
      return read(folder.write(name, cut), {.columns = {"x", "y"}});
    };
    const Values all = values_of(read_bytes(bytes));
    const auto is_right = [&](const FilePoints& points, const std::string&) { return values_of(points) == all; };
    truncate_everywhere(bytes, read_bytes, is_right);
    check_mentions(error_of<InputError>([&] { (void)read_bytes(bytes.substr(0, bytes.size() / 2)); }),
                   {name, "truncated or damaged"});
  }
}

TEST_CASE("parquet and arrow: a flipped bit is an error, or leaves the number of rows") {
  const TempFolder folder;
  const TablePtr table = many_rows(300);
  const TablePtr coded = table_of({{"x", arrow::dictionary(arrow::int8(), arrow::float64()), "[1, 2, 1, null]"},
                                   {"y", arrow::float16(), "[1, null, 3, 4]"}});
  for (const auto& [name, bytes] : {std::pair{"t.parquet", parquet_of(table, 100)},
                                    {"t.arrow", arrow_of(table, 100)},
                                    {"lz4.arrow", arrow_of(table, 100, arrow::Compression::LZ4_FRAME)},
                                    {"coded.arrow", arrow_of(coded)}}) {
    CAPTURE(name);
    const auto read_bytes = [&, name = name](const std::string& damaged) {
      return read(folder.write(name, damaged), {.columns = {"x", "y"}, .on_nan = NanPolicy::drop});
    };
    const std::uint64_t rows = read_bytes(bytes).inputs[0].rows;
    const auto keeps_rows = [&](const FilePoints& points, const std::string&) { return points.inputs[0].rows == rows; };
    flip_bits(bytes, read_bytes, keeps_rows, 150);
  }
}

}  // namespace epsflow::io::test
