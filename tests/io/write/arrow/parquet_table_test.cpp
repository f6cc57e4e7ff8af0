#include <memory>
#include <string>
#include <vector>

#include <arrow/io/file.h>
#include <arrow/table.h>
#include <arrow/type.h>
#include <arrow/util/key_value_metadata.h>
#include <parquet/arrow/reader.h>
#include <parquet/file_reader.h>

#include "io/io_test.hpp"

#include <epsflow/io/labelled_copy.hpp>
#include <epsflow/io/read_points.hpp>
#include <epsflow/io/write/output_table.hpp>
#include <epsflow/io/write_labels.hpp>

namespace epsflow::io::test {
namespace {

template <class T>
T value_of(arrow::Result<T> result) {
  INFO(result.status().ToString());
  REQUIRE(result.ok());
  return std::move(result).ValueUnsafe();
}

std::shared_ptr<arrow::Schema> schema_of(const std::filesystem::path& file) {
  const auto bytes = value_of(arrow::io::ReadableFile::Open(file.string()));
  const auto reader = value_of(parquet::arrow::OpenFile(bytes, arrow::default_memory_pool()));
  std::shared_ptr<arrow::Schema> schema;
  REQUIRE(reader->GetSchema(&schema).ok());
  return schema;
}

std::string metadata_of(const std::filesystem::path& file, const std::string& key) {
  return value_of(schema_of(file)->metadata()->Get(key));
}

}  // namespace

TEST_CASE("write parquet: labels are int32, and the schema says of what") {
  const TempFolder folder;
  const VariantResult result{{0.1, 7}, {0, -1, 1, 1, 0, 2147483647}, {2, 1, 3, 2, 3}, 1.5};
  const auto file = folder / "l.parquet";
  write_labels(file, result, Overwrite::refuse, {.kind = MetricKind::greatcircle, .unit = ArcUnit::kilometre});
  CHECK(values_of(read_points(file)) == Values{0, -1, 1, 1, 0, 2147483647});
  CHECK(schema_of(file)->ToString(/*show_metadata=*/false) == "label: int32 not null");
  for (const auto& [key, value] : {std::pair{"eps", "0.1"},
                                   {"minpts", "7"},
                                   {"clusters", "2"},
                                   {"noise", "1"},
                                   {"core", "3"},
                                   {"border", "2"},
                                   {"largest", "3"},
                                   {"metric", "greatcircle, eps in km"},
                                   {"eps_unit", "km"}}) {
    CHECK(metadata_of(file, key) == value);
  }
  error_of<UsageError>([&] { write_labels(file, result, Overwrite::refuse); });
  write_labels(file, result, Overwrite::replace);
  CHECK(metadata_of(file, "metric") == "euclidean");
  CHECK_FALSE(schema_of(file)->metadata()->Contains("eps_unit"));
  write_labels(file, {{1, 1}, {}, {}, 0}, Overwrite::replace);
  CHECK(schema_of(file)->num_fields() == 1);
}

TEST_CASE("write parquet: more rows than a group has") {
  const TempFolder folder;
  VariantResult result{.variant = {0.5, 3}, .labels = Labels((std::size_t{1} << 20) + 3), .summary = {}};
  Values expected;
  for (std::size_t i = 0; i < result.labels.size(); ++i) {
    result.labels[i] = static_cast<std::int32_t>(i % 1013) - 1;
    expected.push_back(result.labels[i]);
  }
  write_labels(folder / "l.parquet", result, Overwrite::refuse);
  CHECK(values_of(read_points(folder / "l.parquet")) == expected);
  CHECK(parquet::ParquetFileReader::OpenFile((folder / "l.parquet").string())->metadata()->num_row_groups() == 2);
}

TEST_CASE("write parquet: coordinates keep their precision and every bit") {
  const TempFolder folder;
  FilePoints points(3, 2, Precision::float32);
  const std::vector<float> values{0.1F, -1e30F, 1e-45F, 1.0F / 3, -0.0F, 42};
  std::copy(values.begin(), values.end(), points.values<float>().begin());
  points.column_names = {"ra", "L\u00e4nge"};
  points.inputs = {{.name = "a", .kind = "", .rows = 5, .dropped = {0, 3}}};
  const auto file = folder / "t.parquet";
  LabelledCopy({"a"}, {}, points, OutputFormat::parquet, {.core = true})
      .write(file, result_of(points), Overwrite::refuse);
  CHECK(schema_of(file)->ToString(/*show_metadata=*/false) ==
        "row: int64 not null\nra: float not null\nL\u00e4nge: float not null\nlabel: int32 not null\ncore: bool not "
        "null");
  const FilePoints back = read_points(file, {.columns = {"ra", "L\u00e4nge"}});
  CHECK(back.precision() == Precision::float32);
  CHECK(values_of(back) == Values(values.begin(), values.end()));
  CHECK(values_of(read_points(file, {.columns = {"row", "label", "core"}})) == Values{1, 0, 0, 2, -1, 1, 4, 2, 0});
}

TEST_CASE("write parquet: names are UTF-8, and the system's reason is told") {
  check_error<UsageError>({"L\\xe4nge", "UTF-8", ".csv"}, [] {
    parquet_tables().check(Names{"x", "L\xe4nge"}, 0, "column");
  });
  const VariantResult result{{0.1, 7}, {0, -1}, {}, 1.5};
  check_error<ResourceError>({"/dev/null/l.parquet"},
                             [&] { write_labels("/dev/null/l.parquet", result, Overwrite::replace); });
  const Metric metric;
  const OutputTable table{
      .origin = {"t", result, metric}, .rows = 2, .columns = {{"x", ColumnView<std::int32_t>{result.labels.data()}}}};
  check_error<ResourceError>({"t.parquet", "No space left on device"},
                             [&] { parquet_tables().write("/dev/full", "t.parquet", table); });
}

}  // namespace epsflow::io::test
