// Arrow itself makes these files. Some tests choose either Parquet or Arrow, which share most of the reader.
#include <epsflow/io/read/readers.hpp>

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <arrow/array.h>
#include <arrow/builder.h>
#include <arrow/extension/fixed_shape_tensor.h>
#include <arrow/extension/uuid.h>
#include <arrow/io/memory.h>
#include <arrow/ipc/writer.h>
#include <arrow/json/from_string.h>
#include <arrow/table.h>
#include <arrow/type.h>
#include <arrow/util/key_value_metadata.h>
#include <parquet/arrow/writer.h>
#include <parquet/properties.h>

#include "io/damage_checks.hpp"
#include "io/shares.hpp"

#include <epsflow/io/read_points.hpp>

namespace epsflow::io::test {
namespace {

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

/// A column with its values as JSON.
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

/// rows: the number of rows per row group.
std::string parquet_of(const TablePtr& table, std::int64_t rows = 1024,
                       arrow::Compression::type codec = arrow::Compression::SNAPPY, bool checksums = false) {
  parquet::WriterProperties::Builder properties;
  properties.compression(codec);
  if (checksums) properties.enable_page_checksum();
  const auto stream = value_of(arrow::io::BufferOutputStream::Create());
  // The schema is stored, so that dictionaries and half floats keep their types.
  const auto with_schema = parquet::ArrowWriterProperties::Builder().store_schema()->build();
  require_ok(
      parquet::arrow::WriteTable(*table, arrow::default_memory_pool(), stream, rows, properties.build(), with_schema));
  return bytes_of(stream);
}

/// rows: the number of rows per record batch.
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

/// Writes the table as Parquet and, in a second pass of the test, as Arrow.
std::filesystem::path write_either(const TempFolder& folder, const TablePtr& table, std::int64_t rows = 1024) {
  if (GENERATE(true, false)) return folder.write("table.parquet", parquet_of(table, rows));
  return folder.write("table.feather", arrow_of(table, rows));
}

/// Adds the metadata that pandas writes into a file. index: a JSON list.
TablePtr with_pandas(const TablePtr& table, const std::string& index) {
  const std::string text = R"({"index_columns": )" + index +
                           R"(, "column_indexes": [], "columns": [{"name": "x", "metadata": null}], )" +
                           R"("attributes": {"width": NaN}, "pandas_version": "3.1.1"})";
  return table->ReplaceSchemaMetadata(arrow::key_value_metadata({"geo", "pandas"}, {"{}", text}));
}

/// Returns the names of the columns that are read by default.
std::vector<std::string> names_in(const std::filesystem::path& file) { return read_points(file).column_names; }

/// Returns a type of lists of three numbers.
std::shared_ptr<arrow::DataType> vectors_of(const std::shared_ptr<arrow::DataType>& numbers, int kind) {
  if (kind == 0) return arrow::list(numbers);
  if (kind == 1) return arrow::large_list(numbers);
  return arrow::fixed_size_list(numbers, 3);
}

TablePtr stars() {
  return table_of({{"name", arrow::utf8(), R"(["a", "b", "c"])"},
                   {"ra", arrow::float64(), "[10.5, 20.5, 30.5]"},
                   {"dec", arrow::float32(), "[-1, 0.1, 1]"},
                   {"id", arrow::int64(), "[1, 2, 3]"}});
}

/// Returns `count` rows of x, y and a text. The numbers do not compress.
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
      const FilePoints points = read_points(file);
      CHECK(points.precision() == (type->id() == arrow::Type::FLOAT ? Precision::float32 : Precision::float64));
      CHECK(values_of(points) == Values{1, 4, 2, 5, 3, 6});
      CHECK(points.column_names == Names{"x", "y"});
      CHECK(values_of(read_points(file, {.columns = {"y"}})) == Values{4, 5, 6});
      const FilePoints turned = read_points(file, {.columns = {"-1", "0"}});
      CHECK(values_of(turned) == Values{4, 1, 5, 2, 6, 3});
      CHECK(turned.column_numbers == std::vector<std::size_t>{1, 0});
    }
  }
}

TEST_CASE("parquet and arrow: integers that float64 would round are refused, where their column is used") {
  const TempFolder folder;
  const TablePtr table =
      table_of({{"x", arrow::float64(), "[1, 2, 1e17]"},
                {"id", arrow::int64(), "[1, null, 9007199254740993]"},
                {"most", arrow::uint64(), "[1, 18446744073709551615, 3]"},
                {"coded", arrow::dictionary(arrow::int8(), arrow::int64()), "[-9007199254740993, 7, null]"},
                {"v", arrow::list(arrow::int64()), "[[1, 2], [3, 9007199254740993], [4, 5]]"}});
  const std::filesystem::path file = write_either(folder, table);
  const auto refused = [&](const std::string& column) {
    return refusal(file, {.columns = {column}, .on_nan = NanPolicy::drop});
  };
  check_mentions(refused("id"), {"row 2, column 'id' is 9007199254740993", "offset", "ReadOptions::columns"});
  check_mentions(refused("most"), {"row 1, column 'most' is 18446744073709551615"});
  check_mentions(refused("coded"), {"row 0, column 'coded' is -9007199254740993"});
  check_mentions(refused("v[1]"), {"row 1, column 'v[1]' is 9007199254740993"});
  CHECK(values_of(read_points(file, {.columns = {"v[0]"}})) == Values{1, 3, 4});
  CHECK(values_of(read_points(file, {.columns = {"x"}})) == Values{1, 2, 1e17});
  // The reader skips row groups and batches of other shares.
  for (const auto& shared :
       {folder.write("s.parquet", parquet_of(table, 1)), folder.write("s.arrow", arrow_of(table, 1))}) {
    CHECK(values_of(read_points(shared, {.columns = {"x", "id"}, .share = {0, 3}})) == Values{1, 1});
  }
}

TEST_CASE("parquet and arrow: truth values, dictionaries, half floats") {
  const TempFolder folder;
  const TablePtr table =
      table_of({{"flag", arrow::boolean(), "[true, false, true, false]"},
                {"half", arrow::float16(), "[0.5, -2, 1e-7, 60000]"},
                {"big", arrow::uint64(), "[9223372036854775808, 9007199254740992, 0, 1]"},
                {"coded", arrow::dictionary(arrow::int8(), arrow::float32()), "[1.5, null, 0.5, 1.5]"}});
  const std::filesystem::path file = write_either(folder, table);
  CHECK(values_of(read_points(file, {.columns = {"flag"}})) == Values{1, 0, 1, 0});
  CHECK(values_of(read_points(file, {.columns = {"half"}})) == Values{0.5, -2, 0x1p-23, 60000});
  CHECK(values_of(read_points(file, {.columns = {"big"}})) == Values{0x1p63, 0x1p53, 0, 1});
  const FilePoints coded = read_points(file, {.columns = {"coded"}, .on_nan = NanPolicy::drop});
  CHECK(coded.precision() == Precision::float32);
  CHECK(values_of(coded) == Values{1.5, 0.5, 1.5});
  CHECK(coded.inputs[0].dropped == std::vector<std::uint64_t>{1});
}

TEST_CASE("parquet and arrow: weights, which leave float32 coordinates as they are") {
  const TempFolder folder;
  const auto file = write_either(folder, stars());
  const FilePoints points = read_points(file, {.columns = {"dec"}, .weight = "ra"});
  CHECK(points.precision() == Precision::float32);
  CHECK(values_of(points) == Values{-1, double{0.1F}, 1});
  CHECK(points.weights == Values{10.5, 20.5, 30.5});
  CHECK(points.weight_column == "ra");
  const FilePoints twice = read_points(file, {.columns = {"id", "ra"}, .weight = "id"});
  CHECK(values_of(twice) == Values{1, 10.5, 2, 20.5, 3, 30.5});
  CHECK(twice.weights == Values{1, 2, 3});
}

TEST_CASE("parquet and arrow: nulls are missing values") {
  const TempFolder folder;
  const TablePtr table = table_of({{"x", arrow::int32(), "[1, null, 3, 4, 5]"},
                                   {"y", arrow::float64(), "[1, 2, 3, null, 5]"},
                                   {"z", arrow::float32(), "[1, 2, 3, 4, NaN]"}});
  const std::filesystem::path file = write_either(folder, table, 2);
  check_mentions(refusal(file), {"table.", "row 1", "'x'", "nan", "NanPolicy::drop"});
  check_mentions(refusal(file, {.columns = {"y"}}), {"row 3", "'y'"});
  const FilePoints kept = read_points(file, {.on_nan = NanPolicy::drop});
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
  const auto refused = [&](const std::string& column) { return refusal(file, {.columns = {"x", column}}); };
  check_mentions(refusal(file), {"table.", "'name'", "string", "ReadOptions::columns", "x, name, pair"});
  check_mentions(refused("pair"), {"'pair' holds 2 values in each row", "'pair[0]' to 'pair[1]'"});
  check_mentions(refused("price"), {"'price'", "decimal128(10, 2)", "round", "float64"});
  check_mentions(refused("at"), {"'at'", "timestamp[us]", "not numbers", "such as seconds"});
  check_mentions(refused("pos"), {"'pos'", "struct<", "not numbers", "its fields as columns"});
  check_mentions(refused("alt"), {"no column 'alt'", "x, name, pair, price, at, pos, y"});
  check_mentions(refusal<UsageError>(file, {.columns = {"x", "0"}}), {"'x'", "twice"});
  // The column follows columns that take several columns of the file.
  CHECK(values_of(read_points(file, {.columns = {"y", "x"}})) == Values{7, 1});
}

TEST_CASE("parquet and arrow: the index that pandas stored is a coordinate only where it is named") {
  const TempFolder folder;
  const std::vector<std::string> plain{"x", "y"};
  const auto index_type = GENERATE(as<std::shared_ptr<arrow::DataType>>(), arrow::int64(), arrow::utf8(),
                                   arrow::timestamp(arrow::TimeUnit::MICRO, "Europe/Berlin"));
  const std::string values = index_type->id() == arrow::Type::STRING ? R"(["a", "b"])" : "[5, 7]";
  // The index may be any column, because another program may have moved it.
  const TablePtr table = with_pandas(table_of({{"x", arrow::float64(), "[1, 2]"},
                                               {"id", index_type, values},
                                               {"y", arrow::float64(), "[3, 4]"},
                                               {"__index_level_1__", index_type, values}}),
                                     R"(["id", "__index_level_1__"])");
  const std::filesystem::path file = write_either(folder, table);
  const FilePoints points = read_points(file);
  CHECK(points.column_names == plain);
  CHECK(points.column_numbers == std::vector<std::size_t>{0, 1});
  CHECK(values_of(points) == Values{1, 3, 2, 4});
  CHECK(points.inputs[0].kind.find(" without the index of pandas (id, __index_level_1__), 1 r") != std::string::npos);
  CHECK(values_of(read_points(file, {.columns = {"-1", "0"}})) == Values{3, 1, 4, 2});
  check_mentions(refusal(file, {.columns = {"2"}}), {"'2'", "x, y, id, __index_level_1__"});
  std::vector<std::string> offered;
  const auto choose = [&](const std::vector<std::string>& names) {
    offered = names;
    return std::vector<std::size_t>{1};
  };
  CHECK(values_of(read_points(file, {.choose = choose})) == Values{3, 4});
  CHECK(offered == plain);
  CHECK(names_in(folder.write("gz.parquet.gz", gzip(parquet_of(table)))) == plain);
  CHECK(values_of(read_points({file, file})) == Values{1, 3, 2, 4, 1, 3, 2, 4});
  if (index_type->id() != arrow::Type::INT64) {
    check_mentions(refusal(file, {.columns = {"x", "id"}}), {"'id'", "not numbers"});
    return;
  }
  const FilePoints named = read_points(file, {.columns = {"id", "y", "x"}});
  CHECK(values_of(named) == Values{5, 3, 1, 7, 4, 2});
  CHECK(named.inputs[0].kind.find("pandas") == std::string::npos);
  const FilePoints weighted = read_points(file, {.weight = "id"});
  CHECK(values_of(weighted) == Values{1, 3, 2, 4});
  CHECK(weighted.weights == Values{5, 7});
  CHECK(weighted.inputs[0].kind.find("pandas (__index_level_1__)") != std::string::npos);
  CHECK(read_columns({file}, {}, {"id"}, points).values == std::vector<Values>{{5, 7}});
}

TEST_CASE("arrow: the list index_columns of pandas, and texts that have no such list") {
  const TempFolder folder;
  const TablePtr table = table_of({{"x", arrow::float64(), "[1, 2]"},
                                   {"id", arrow::float64(), "[3, 4]"},
                                   {"L\u00e4nge", arrow::float64(), "[5, 6]"}});
  const auto write = [&](const std::string& metadata) {
    const auto pandas = arrow::key_value_metadata({"pandas"}, {metadata});
    return folder.write("x.arrow", arrow_of(table->ReplaceSchemaMetadata(pandas)));
  };
  const auto named = [&](const std::string& metadata) { return names_in(write(metadata)); };
  const Names all{"x", "id", "L\u00e4nge"};
  CHECK(names_in(folder.write("none.arrow", arrow_of(table))) == all);
  CHECK(named(R"({"columns": [{"name": "x"}, {"index_columns": ["x"]}], "index_columns": ["id", "L\u00e4nge"]})") ==
        Names{"x"});
  CHECK(named(R"({"index_columns": ["__index_level_0__", "x"], "attributes": {"a": NaN, "b": Infinity}})") ==
        Names{"id", "L\u00e4nge"});
  for (const char* const text :
       {"",
        " ",
        "null",
        "5",
        "\"index_columns\"",
        "{",
        "[",
        "[[\"x\"]]",
        "[{\"index_columns\": [\"x\"]}]",
        "NaN",
        "\xFF\xFE",
        R"({"index_columns")",
        R"({"index_columns": )",
        R"({"index_columns": ["x")",
        R"({"index_columns": "x"})",
        R"({"index_columns": 5})",
        R"({"index_columns": null})",
        R"({"index_columns": []})",
        R"({"index_columns": {"a": ["x"]}})",
        R"({"index_columns": [["x"], [[["x"]]], {"x": "x"}, 5, true, null]})",
        R"({"index_columns": [{"kind": "range", "name": "id", "start": 0, "stop": 3, "step": 1}]})",
        R"({"index": ["x"]})",
        R"({"a": {"index_columns": ["x"]}})",
        "{\"index_columns\": [\"\xFF\"]}",
        "{\"index_columns\": [\"x\", NaN]}"}) {
    CAPTURE(text);
    CHECK(named(text) == all);
  }
  // The memory must not grow with the depth of the skipped values.
  constexpr std::size_t kDeep = 3000000;
  const std::string nested = std::string(kDeep, '[') + std::string(kDeep, ']');
  CHECK(named(std::string(kDeep, '[')) == all);
  CHECK(named(R"({"columns": )" + nested + R"(, "index_columns": ["x"]})") == Names{"id", "L\u00e4nge"});
  CHECK(named(R"({"index_columns": ["x", )" + nested + "]}") == Names{"id", "L\u00e4nge"});
  const std::filesystem::path file = write(R"({"index_columns": ["L\u00e4nge", "id", "x"]})");
  check_mentions(refusal(file), {"index that pandas stored", "ReadOptions::columns", "x, id"});
  CHECK(values_of(read_points(file, {.columns = {"x"}})) == Values{1, 2});
}

TEST_CASE("parquet: the index of pandas in a file without Arrow's schema, as others than Arrow write it") {
  const TempFolder folder;
  const TablePtr table = table_of({{"index", arrow::int64(), "[5, 7]"}, {"x", arrow::float64(), "[1, 2]"}});
  const auto stream = value_of(arrow::io::BufferOutputStream::Create());
  const auto writer =
      value_of(parquet::arrow::FileWriter::Open(*table->schema(), arrow::default_memory_pool(), stream));
  require_ok(writer->WriteTable(*table));
  require_ok(writer->AddKeyValueMetadata(with_pandas(table, R"(["index"])")->schema()->metadata()));
  require_ok(writer->Close());
  const std::string bytes = bytes_of(stream);
  CHECK(bytes.find("ARROW:schema") == std::string::npos);
  CHECK(names_in(folder.write("x.parquet", bytes)) == Names{"x"});
}

TEST_CASE("parquet and arrow: columns of vectors of any number type") {
  const TempFolder folder;
  for (const auto& numbers : {arrow::int8(), arrow::int64(), arrow::uint16(), arrow::float16(), arrow::float32(),
                              arrow::float64(), arrow::boolean()}) {
    for (const int kind : {0, 1, 2}) {
      const auto type = vectors_of(numbers, kind);
      CAPTURE(type->ToString());
      const bool is_truth = numbers->id() == arrow::Type::BOOL;
      const std::string values = is_truth ? "[[true, false, true], [false, true, true], [true, true, false]]"
                                          : "[[1, 0, 1], [0, 1, 1], [1, 1, 0]]";
      const TablePtr table = table_of({{"id", arrow::int32(), "[7, 8, 9]"}, {"v", type, values}});
      for (const auto& file :
           {folder.write("t.parquet", parquet_of(table, 2)), folder.write("t.arrow", arrow_of(table, 2))}) {
        const FilePoints points = read_points(file, {.columns = {"v[2]", "1[0]"}});
        CHECK(points.precision() == (numbers->id() == arrow::Type::FLOAT ? Precision::float32 : Precision::float64));
        CHECK(values_of(points) == Values{1, 1, 1, 0, 0, 1});
        CHECK(points.column_names == Names{"v[2]", "v[0]"});
        CHECK(points.column_numbers == std::vector<std::size_t>{1, 1});
        CHECK(values_of(read_points(file, {.columns = {"v[1]", "id"}, .weight = "v[1]"})) == Values{0, 7, 1, 8, 1, 9});
        CHECK(read_points(file, {.columns = {"id"}, .weight = "v[1]"}).weights == Values{0, 1, 1});
        CHECK(values_of(read_points({file, file}, {.columns = {"v[1]"}})) == Values{0, 1, 1, 0, 1, 1});
        check_shares(file, {.columns = {"v[0]", "v[1]"}});
        check_mentions(refusal(file, {.columns = {"v[3]"}}), {"there is no 'v[3]'", "'v' holds 3 values in each row"});
        for (const ReadOptions& whole : {ReadOptions{}, ReadOptions{.columns = {"v"}}}) {
          check_mentions(refusal(file, whole), {"'v' holds 3 values in each row", "'v[0]' to 'v[2]'"});
        }
        check_mentions(refusal<UsageError>(file, {.columns = {"v[1]", "v[1]"}}), {"'v[1]'", "twice"});
      }
    }
  }
}

TEST_CASE("parquet and arrow: vectors of one value are columns, and names may look like elements") {
  const TempFolder folder;
  const TablePtr table = table_of({{"a", arrow::list(arrow::float32()), "[[1], [2]]"},
                                   {"b[0]", arrow::float32(), "[3, 4]"},
                                   {"b", arrow::list(arrow::float32()), "[[5], [6]]"}});
  const std::filesystem::path file = write_either(folder, table);
  const FilePoints points = read_points(file);
  CHECK(points.precision() == Precision::float32);
  CHECK(values_of(points) == Values{1, 3, 5, 2, 4, 6});
  CHECK(points.column_names == Names{"a", "b[0]", "b"});
  CHECK(values_of(read_points(file, {.columns = {"b[0]", "2[0]"}})) == Values{3, 5, 4, 6});
}

TEST_CASE("parquet and arrow: nulls in vectors and of vectors are missing values") {
  const TempFolder folder;
  const std::string values = "[null, null, [1, 2, 3], [4, null, 6], null, [7, 8, NaN], [9, 10, 11]]";
  for (const int kind : {0, 1, 2}) {
    const TablePtr table =
        table_of({{"v", vectors_of(arrow::float64(), kind), values}, {"id", arrow::int32(), "[0, 1, 2, 3, 4, 5, 6]"}});
    for (const std::int64_t rows : {std::int64_t{1}, std::int64_t{3}, std::int64_t{100}}) {
      const std::filesystem::path file = write_either(folder, table, rows);
      const FilePoints points = read_points(file, {.columns = {"v[1]", "id", "v[0]"}, .on_nan = NanPolicy::drop});
      CHECK(values_of(points) == Values{2, 2, 1, 8, 5, 7, 10, 6, 9});
      CHECK(points.inputs[0].dropped == std::vector<std::uint64_t>{0, 1, 3, 4});
      CHECK(read_points(file, {.columns = {"v[2]"}, .on_nan = NanPolicy::drop}).inputs[0].dropped ==
            std::vector<std::uint64_t>{0, 1, 4, 5});
      check_mentions(refusal(file, {.columns = {"v[0]"}}), {"row 0", "'v[0]'", "nan"});
    }
  }
}

TEST_CASE("parquet and arrow: lists that are no vectors are refused where they are chosen") {
  const TempFolder folder;
  const auto list = GENERATE(arrow::list(arrow::float64()), arrow::large_list(arrow::float64()));
  const TablePtr table = table_of({{"v", list, "[null, [1, 2], [3, 4], [5], [6, 7]]"},
                                   {"empty", list, "[[], [], [], [], []]"},
                                   {"some", list, "[[], [1], [2], [3], [4]]"},
                                   {"none", list, "[null, null, null, null, null]"},
                                   {"x", arrow::float64(), "[1, 2, 3, 4, 5]"},
                                   {"deep", arrow::list(list), "[[[1]], [[1]], [[1]], [[1]], [[1]]]"},
                                   {"words", arrow::list(arrow::utf8()), R"([["a"], ["a"], ["a"], ["a"], ["a"]])"}});
  const std::filesystem::path file = write_either(folder, table, 2);
  const auto refused = [&](const std::string& column) {
    return refusal(file, {.columns = {column, "x"}, .on_nan = NanPolicy::drop});
  };
  check_mentions(refused("v[0]"), {"row 3, column 'v' holds a list of 1 value, and other rows one of 2",
                                   "lists of one length", "ReadOptions::columns from: v, empty"});
  check_mentions(refused("empty"), {"'empty' holds no values"});
  check_mentions(refused("empty[0]"), {"there is no 'empty[0]'", "0 values"});
  check_mentions(refused("some[0]"), {"row 0, column 'some' holds a list of 0 values, and other rows one of 1"});
  check_mentions(refused("none"), {"'none' holds no values"});
  check_mentions(refused("deep"), {"'deep'", "list<", "one list of numbers for each row"});
  check_mentions(refused("words[0]"), {"'words'", "string", "not numbers"});
  CHECK(values_of(read_points(file, {.columns = {"x"}})) == Values{1, 2, 3, 4, 5});
  // No list gives the length of the others, as may happen in one of many files.
  const FilePoints none = read_points(file, {.columns = {"none[1]", "x"}, .on_nan = NanPolicy::drop});
  CHECK(none.size() == 0);
  CHECK(none.inputs[0].dropped.size() == 5);
  CHECK(read_points(write_either(folder, table->Slice(0, 0)), {.columns = {"v[1]"}}).size() == 0);
}

TEST_CASE("parquet and arrow: more vectors than are read at once") {
  const TempFolder folder;
  constexpr std::int32_t kWidth = 64;
  constexpr std::int64_t kCount = 20000;
  const bool is_fixed = GENERATE(true, false);
  const auto numbers = std::make_shared<arrow::DoubleBuilder>();
  arrow::FixedSizeListBuilder fixed(arrow::default_memory_pool(), numbers, kWidth);
  arrow::ListBuilder lists(arrow::default_memory_pool(), numbers);
  for (std::int64_t i = 0; i < kCount; ++i) {
    require_ok(is_fixed ? fixed.Append() : lists.Append());
    for (std::int64_t k = 0; k < kWidth; ++k) require_ok(numbers->Append(static_cast<double>(i * kWidth + k)));
  }
  const std::shared_ptr<arrow::Array> array = value_of(is_fixed ? fixed.Finish() : lists.Finish());
  // There are two chunks, and neither begins at the start of its buffers.
  const auto chunks = std::make_shared<arrow::ChunkedArray>(
      arrow::ArrayVector{array->Slice(1, 9000), array->Slice(9001, kCount - 9001)});
  const auto table = arrow::Table::Make(arrow::schema({arrow::field("v", array->type())}), {chunks});
  const FilePoints points = read_points(write_either(folder, table, 15000), {.columns = {"v[63]", "v[0]"}});
  check_rows(points, kCount - 1, [](auto i) {
    const double first = static_cast<double>(i + 1) * kWidth;
    return Values{first + kWidth - 1, first};
  });
}

TEST_CASE("arrow: runs, tensors, lists as views, and dictionaries within lists") {
  const TempFolder folder;
  const auto json = [](const std::shared_ptr<arrow::DataType>& type, const std::string& values) {
    return value_of(arrow::json::ArrayFromJSONString(type, values));
  };
  const auto runs = value_of(arrow::RunEndEncodedArray::Make(5, json(arrow::int32(), "[2, 3, 5]"),
                                                             json(arrow::int64(), "[7, null, 9007199254740994]")));
  const auto tensor = value_of(arrow::extension::FixedShapeTensorType::Make(arrow::float32(), {2, 2}));
  const auto stored = json(arrow::fixed_size_list(arrow::float32(), 4),
                           "[[1, 2, 3, 4], [5, 6, 7, 8], null, [9, 10, 11, 12], [13, 14, 15, 16]]");
  const auto coded = arrow::dictionary(arrow::uint8(), arrow::float64());
  const auto codes = value_of(arrow::DictionaryArray::FromArrays(
      coded, json(arrow::uint8(), "[1, 0, 0, 1, null, 1, 0, 0, 1, 1]"), json(arrow::float64(), "[0.25, 0.5]")));
  const auto pairs = value_of(arrow::ListArray::FromArrays(*json(arrow::int32(), "[0, 2, 4, 6, 8, 10]"), *codes));
  const auto coded_lists_type = arrow::dictionary(arrow::int8(), arrow::list(arrow::int16()));
  const auto coded_lists =
      value_of(arrow::DictionaryArray::FromArrays(coded_lists_type, json(arrow::int8(), "[1, 0, null, 1, 0]"),
                                                  json(arrow::list(arrow::int16()), "[[1, 2], [3, 4]]")));
  const auto uuids = value_of(arrow::MakeArrayOfNull(arrow::extension::uuid(), 5));
  arrow::FieldVector fields;
  const arrow::ArrayVector arrays{
      runs,
      arrow::ExtensionType::WrapArray(tensor, stored),
      json(arrow::list_view(arrow::float32()), "[[1], [2], null, [4], [5]]"),
      json(arrow::large_list_view(arrow::uint8()), "[[1, 2], [3, 4], [5, 6], [7, 8], [9, 10]]"),
      pairs,
      coded_lists,
      uuids};
  for (const auto& [name, array] :
       {std::pair{"runs", 0}, {"tensor", 1}, {"view", 2}, {"large_view", 3}, {"pairs", 4}, {"coded", 5}, {"uuid", 6}}) {
    fields.push_back(arrow::field(name, arrays[static_cast<std::size_t>(array)]->type()));
  }
  const TablePtr table = arrow::Table::Make(arrow::schema(fields), arrays);
  // The second file lacks the first row, and batches have two rows, so all parts begin within their buffers.
  for (const auto& file : {folder.write("a.arrow", arrow_of(table, 2)),
                           folder.write("b.arrow", arrow_of(value_of(table->Slice(1)->CombineChunks()), 2))}) {
    const std::size_t first = file.filename() == "b.arrow" ? 1 : 0;
    const auto is_read = [&](const std::string& column, Values expected) {
      CAPTURE(file, column);
      expected.erase(expected.begin(), expected.begin() + static_cast<std::ptrdiff_t>(first));
      const FilePoints points = read_points(file, {.columns = {column}, .on_nan = NanPolicy::drop});
      CHECK(values_of(points) == expected);
      CHECK(points.inputs[0].dropped == std::vector<std::uint64_t>{2 - first});
      return points.precision();
    };
    is_read("runs", {7, 7, 9007199254740994, 9007199254740994});
    CHECK(is_read("tensor[3]", {4, 8, 12, 16}) == Precision::float32);
    CHECK(is_read("view", {1, 2, 4, 5}) == Precision::float32);
    is_read("pairs[0]", {0.5, 0.25, 0.25, 0.5});
    is_read("coded[1]", {4, 2, 4, 2});
    CHECK(values_of(read_points(file, {.columns = {"large_view[1]"}})).back() == 10);
    check_mentions(refusal(file, {.columns = {"uuid"}}), {"'uuid'", "uuid", "not numbers"});
  }
}

TEST_CASE("parquet and arrow: times are read as seconds beside the points") {
  const TempFolder folder;
  const TablePtr table =
      table_of({{"x", arrow::float64(), "[1, 2, 3]"},
                {"s", arrow::timestamp(arrow::TimeUnit::SECOND), "[0, 1426550400, null]"},
                {"us", arrow::timestamp(arrow::TimeUnit::MICRO, "Asia/Tokyo"), "[-1500000, 1426550400250000, null]"},
                {"ns", arrow::timestamp(arrow::TimeUnit::NANO), "[1, 1426550400500000000, null]"},
                {"day", arrow::date32(), "[-1, 16511, null]"},
                {"ms", arrow::date64(), "[86400000, 0, null]"},
                {"clock", arrow::time64(arrow::TimeUnit::MICRO), "[1500000, 0, null]"},
                {"word", arrow::utf8(), R"(["a", "b", "c"])"}});
  const std::filesystem::path file = write_either(folder, table);
  const FilePoints points = read_points(file, {.columns = {"x"}});
  const auto beside = [&](const std::string& column) {
    Values values = read_columns({file}, {}, {column}, points).values[0];
    CHECK(std::isnan(values.back()));
    values.pop_back();
    return values;
  };
  CHECK(beside("s") == Values{0, 1426550400});
  CHECK(beside("us") == Values{-1.5, 1426550400.25});
  CHECK(beside("ns") == Values{1e-9, 1426550400.5});
  CHECK(beside("day") == Values{-86400, 1426550400});
  CHECK(beside("ms") == Values{86400, 0});
  CHECK(beside("clock") == Values{1.5, 0});
  check_mentions(error_of<InputError>([&] { beside("word"); }), {"'word'", "string", "not numbers"});
  check_mentions(refusal(file, {.columns = {"day"}, .on_nan = NanPolicy::drop}),
                 {"'day'", "date32[day]", "such as seconds"});
}

TEST_CASE("parquet: row groups and compression, as the kind says") {
  const TempFolder folder;
  const TablePtr table = many_rows(1000);
  const Values all = values_of(read_points(folder.write("one.parquet", parquet_of(table)), {.columns = {"y", "x"}}));
  REQUIRE(all.size() == 2000);
  CHECK(all[2 * 999] == 999);
  for (const auto codec : {arrow::Compression::UNCOMPRESSED, arrow::Compression::SNAPPY, arrow::Compression::GZIP,
                           arrow::Compression::ZSTD, arrow::Compression::LZ4, arrow::Compression::BROTLI}) {
    if (!arrow::util::Codec::IsAvailable(codec)) continue;
    const FilePoints points =
        read_points(folder.write("three.parq", parquet_of(table, 400, codec)), {.columns = {"y", "x"}});
    CHECK(values_of(points) == all);
    const std::string name = codec == arrow::Compression::LZ4 ? "lz4_raw" : arrow::util::Codec::GetCodecAsString(codec);
    CHECK(points.inputs[0].kind == "Parquet, 3 row groups, " + name);
  }
  CHECK(read_points(folder / "one.parquet", {.columns = {"x"}}).inputs[0].kind == "Parquet, 1 row group, snappy");
}

TEST_CASE("arrow: record batches and compression") {
  const TempFolder folder;
  const TablePtr table = many_rows(1000);
  for (const auto codec : {arrow::Compression::UNCOMPRESSED, arrow::Compression::LZ4_FRAME, arrow::Compression::ZSTD}) {
    if (!arrow::util::Codec::IsAvailable(codec)) continue;
    const FilePoints points = read_points(folder.write("t.ipc", arrow_of(table, 400, codec)), {.columns = {"y"}});
    CHECK(points.inputs[0].kind == "Arrow, 3 record batches");
    REQUIRE(points.size() == 1000);
    CHECK(points.view().at(999, 0) == 999);
  }
  const std::filesystem::path one = folder.write("one.arrow.gz", gzip(arrow_of(table)));
  CHECK(read_points(one, {.columns = {"y"}}).inputs[0].kind == "Arrow, 1 record batch, gzipped");
  check_mentions(refusal(folder.write("s.arrow", stream_of(table))), {"s.arrow", "Arrow stream", "new_file"});
}

TEST_CASE("parquet and arrow: more rows than are read at once") {
  const TempFolder folder;
  constexpr std::int64_t kCount = 200000;
  const std::filesystem::path file = write_either(folder, many_rows(kCount), 150000);
  const FilePoints points = read_points(file, {.columns = {"y", "x"}});
  check_rows(points, kCount, [](auto i) { return Values{double(i), static_cast<double>(i * 7919 % 100003) + 0.25}; });
}

TEST_CASE("parquet and arrow: no rows, no columns") {
  const TempFolder folder;
  const std::filesystem::path none = write_either(folder, stars()->Slice(0, 0));
  CHECK(read_points(none, {.columns = {"ra", "dec"}}).size() == 0);
  check_mentions(refusal(write_either(folder, table_of({}))), {"table.", "no columns"});
}

TEST_CASE("parquet and arrow: other files under their names") {
  const TempFolder folder;
  check_mentions(refusal(folder.write("a.parquet", "x,y\n1,2\n")), {"a.parquet", "not a Parquet file", "PAR1"});
  check_mentions(refusal(folder.write("a.feather", "x,y\n1,2\n")), {"a.feather", "not an Arrow file", "ARROW1"});
}

TEST_CASE("parquet: columns that are not chosen are not read, and checksums are verified") {
  const TempFolder folder;
  const TablePtr table = many_rows(1000);
  const std::string bytes = parquet_of(table, 1024, arrow::Compression::UNCOMPRESSED, true);
  std::string damaged = bytes;
  const std::size_t offset = damaged.find("row 500");
  REQUIRE(offset != std::string::npos);
  damaged[offset] = 'R';
  const std::filesystem::path file = folder.write("x.parquet", damaged);
  CHECK(read_points(file, {.columns = {"x", "y"}}).size() == 1000);
  damaged = bytes;
  damaged[bytes.size() / 64] ^= 1;  // among the values of x, which come first
  check_mentions(refusal(folder.write("y.parquet", damaged), {.columns = {"x", "y"}}),
                 {"y.parquet", "checksum", "fetch it again"});
}

TEST_CASE("parquet and arrow: a claim of more memory than the file can need is refused") {
  const TempFolder folder;
  const TablePtr table = many_rows(1000);
  std::string bytes = parquet_of(table, 1024, arrow::Compression::UNCOMPRESSED);
  // The header of the first page has its type, its size and its compressed size.
  std::size_t begin = std::string_view("PAR1").size();
  const auto end_of_field = [&] {
    std::size_t end = begin + 1;
    while ((static_cast<unsigned char>(bytes[end]) & 0x80U) != 0) ++end;
    return end + 1;
  };
  for (int field = 0; field < 2; ++field) begin = end_of_field();
  bytes.replace(begin, end_of_field() - begin, "\x15\xFE\xFF\xFF\xFF\x0F");  // 2^31 - 1
  check_mentions(refusal(folder.write("p.parquet", bytes), {.columns = {"x"}}),
                 {"p.parquet", "claims 2.0 GiB", "1,000 rows", "damaged"});
  bytes = arrow_of(table, 1024, arrow::Compression::LZ4_FRAME);
  const std::string length("\x40\x1F\0\0\0\0\0\0", 8);  // 8000, stored before the values of x
  const std::size_t offset = bytes.find(length + "\x04\x22\x4D\x18");
  REQUIRE(offset != std::string::npos);
  bytes[offset + 4] = '\x10';
  check_mentions(refusal(folder.write("a.arrow", bytes), {.columns = {"x"}}),
                 {"a.arrow", "claims 64.0 GiB", "1,000 rows", "damaged"});
}

TEST_CASE("parquet and arrow: a truncated file is an error, or all of its points are there") {
  const TempFolder folder;
  const TablePtr table = many_rows(300);
  const ReadOptions options{.columns = {"x", "y"}};
  const std::vector<DamageSample> samples{{"t.parquet", parquet_of(table, 100), options},
                                          {"t.arrow", arrow_of(table, 100), options}};
  check_truncated(samples);
  for (const DamageSample& sample : samples) {
    const std::string half = sample.bytes.substr(0, sample.bytes.size() / 2);
    check_mentions(refusal(folder.write(sample.name, half), options), {sample.name, "truncated or damaged"});
  }
}

TEST_CASE("parquet and arrow: a flipped bit is an error, or leaves the number of rows") {
  const TablePtr table = many_rows(300);
  const TablePtr coded = table_of({{"x", arrow::dictionary(arrow::int8(), arrow::float64()), "[1, 2, 1, null]"},
                                   {"y", arrow::float16(), "[1, null, 3, 4]"}});
  const TablePtr vectors =
      with_pandas(table_of({{"x", arrow::list(arrow::float64()), "[[1], [2], null, [3]]"},
                            {"y", arrow::fixed_size_list(arrow::int32(), 1), "[[1], null, [3], [4]]"},
                            {"id", arrow::int64(), "[1, 2, 3, 4]"}}),
                  R"(["id"])");
  const ReadOptions options{.columns = {"x", "y"}, .on_nan = NanPolicy::drop};
  check_flipped({{"t.parquet", parquet_of(table, 100), options},
                 {"t.arrow", arrow_of(table, 100), options},
                 {"lz4.arrow", arrow_of(table, 100, arrow::Compression::LZ4_FRAME), options},
                 {"coded.arrow", arrow_of(coded), options},
                 {"vectors.arrow", arrow_of(vectors), options},
                 {"vectors.parquet", parquet_of(vectors), options}},
                150, 1);
}

}  // namespace epsflow::io::test
