// make_arrow_seeds FOLDER: as make_seeds, for fuzz_arrow: a table of two row groups as Parquet and as Arrow.
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include <arrow/api.h>
#include <arrow/io/memory.h>
#include <arrow/ipc/writer.h>
#include <parquet/arrow/writer.h>

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

void add_seed(const std::filesystem::path& file, char mode, arrow::io::BufferOutputStream& bytes) {
  std::ofstream(file, std::ios::binary) << mode << bytes.Finish().ValueOrDie()->ToString();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::filesystem::path folder = std::filesystem::path(argv[1]) / "fuzz_arrow";
  std::filesystem::create_directories(folder);
  const auto table = make_table();
  const auto as_parquet = arrow::io::BufferOutputStream::Create().ValueOrDie();
  PARQUET_THROW_NOT_OK(parquet::arrow::WriteTable(*table, arrow::default_memory_pool(), as_parquet, 3));
  add_seed(folder / "table.parquet", '\0', *as_parquet);
  const auto as_arrow = arrow::io::BufferOutputStream::Create().ValueOrDie();
  const auto writer = arrow::ipc::MakeFileWriter(as_arrow, table->schema()).ValueOrDie();
  PARQUET_THROW_NOT_OK(writer->WriteTable(*table, 3));
  PARQUET_THROW_NOT_OK(writer->Close());
  add_seed(folder / "table.arrow", '\x10', *as_arrow);
}
