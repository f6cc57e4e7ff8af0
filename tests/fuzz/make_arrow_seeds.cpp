// make_arrow_seeds FOLDER writes seeds as make_seeds does, for fuzz_arrow: tables of two row groups as Parquet and as
// Arrow. One table has numbers, the other has vectors and a pandas index.
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>

#include <arrow/api.h>
#include <arrow/io/memory.h>
#include <arrow/ipc/writer.h>
#include <parquet/arrow/writer.h>
#include <parquet/properties.h>

namespace {

std::shared_ptr<arrow::Table> make_table() {
  arrow::DoubleBuilder x;
  arrow::Int64Builder id;
  for (const std::int64_t i : {1, 2, 3, 4, 5}) {
    PARQUET_THROW_NOT_OK(x.Append(static_cast<double>(i) / 4));
    PARQUET_THROW_NOT_OK(i == 3 ? id.AppendNull() : id.Append(i));
  }
  return arrow::Table::Make(arrow::schema({arrow::field("x", arrow::float64()), arrow::field("id", arrow::int64())}),
                            {x.Finish().ValueOrDie(), id.Finish().ValueOrDie()});
}

std::shared_ptr<arrow::Table> make_vectors() {
  arrow::MemoryPool* const pool = arrow::default_memory_pool();
  const auto of_x = std::make_shared<arrow::DoubleBuilder>();
  const auto of_y = std::make_shared<arrow::FloatBuilder>();
  arrow::ListBuilder x(pool, of_x);
  arrow::FixedSizeListBuilder y(pool, of_y, 1);
  arrow::Int64Builder id;
  for (const std::int64_t i : {1, 2, 3, 4, 5}) {
    PARQUET_THROW_NOT_OK(i == 3 ? x.AppendNull() : x.Append());
    if (i != 3) PARQUET_THROW_NOT_OK(of_x->Append(static_cast<double>(i) / 4));
    PARQUET_THROW_NOT_OK(y.Append());
    PARQUET_THROW_NOT_OK(of_y->Append(static_cast<float>(i)));
    PARQUET_THROW_NOT_OK(id.Append(i));
  }
  const arrow::ArrayVector columns{x.Finish().ValueOrDie(), y.Finish().ValueOrDie(), id.Finish().ValueOrDie()};
  return arrow::Table::Make(
      arrow::schema({arrow::field("x", columns[0]->type()), arrow::field("y", columns[1]->type()),
                     arrow::field("id", columns[2]->type())},
                    arrow::key_value_metadata({"pandas"}, {R"({"index_columns": ["id"], "columns": []})"})),
      columns);
}

void add_seed(const std::filesystem::path& file, char mode, arrow::io::BufferOutputStream& bytes) {
  std::ofstream(file, std::ios::binary) << mode << bytes.Finish().ValueOrDie()->ToString();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::filesystem::path folder = std::filesystem::path(argv[1]) / "fuzz_arrow";
  std::filesystem::create_directories(folder);
  for (const auto& [name, table] : {std::pair{"table", make_table()}, {"vectors", make_vectors()}}) {
    const auto with_schema = parquet::ArrowWriterProperties::Builder().store_schema()->build();
    const auto as_parquet = arrow::io::BufferOutputStream::Create().ValueOrDie();
    PARQUET_THROW_NOT_OK(parquet::arrow::WriteTable(*table, arrow::default_memory_pool(), as_parquet, 3,
                                                    parquet::default_writer_properties(), with_schema));
    add_seed(folder / (std::string(name) + ".parquet"), '\0', *as_parquet);
    const auto as_arrow = arrow::io::BufferOutputStream::Create().ValueOrDie();
    const auto writer = arrow::ipc::MakeFileWriter(as_arrow, table->schema()).ValueOrDie();
    PARQUET_THROW_NOT_OK(writer->WriteTable(*table, 3));
    PARQUET_THROW_NOT_OK(writer->Close());
    add_seed(folder / (std::string(name) + ".arrow"), '\x10', *as_arrow);
  }
}
