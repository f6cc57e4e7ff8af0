// Columns of Apache Arrow as coordinates: what Parquet and Arrow files share.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <arrow/io/interfaces.h>
#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/type.h>

#include <epsflow/io/read/library_file.hpp>
#include <epsflow/io/read/points_sink.hpp>
#include <epsflow/io/read/source.hpp>

namespace epsflow::io {

/// Throws where something failed: ResourceError for want of memory, else InputError with Arrow's reason.
void check_arrow(const arrow::Status& status, const Source& source, std::string_view doing);

/// The value, where there is one; throws as check_arrow().
template <class T>
T value_of(arrow::Result<T> result, const Source& source, std::string_view doing) {
  check_arrow(result.status(), source, doing);
  return std::move(result).ValueUnsafe();
}

/// The file for Arrow to read.
[[nodiscard]] std::shared_ptr<arrow::io::RandomAccessFile> open_for_arrow(const LibraryFile& file,
                                                                          const Source& source);

/// The columns of a table that become coordinates, and where their values go.
class ArrowColumns {
 public:
  /// Chooses as source.options says, and throws InputError for columns that hold no numbers.
  ArrowColumns(const arrow::Schema& schema, const Source& source);

  /// The fields of the schema that are to be read, in ascending order.
  [[nodiscard]] const std::vector<int>& fields() const noexcept { return fields_; }

  void begin(std::int64_t rows, std::string kind, std::uint64_t memory_taken, PointsSink& points);
  /// The next rows, as a batch of fields() alone.
  void put(const arrow::RecordBatch& batch, PointsSink& points);
  /// Throws InputError where rows are missing.
  void end() const;

 private:
  template <class T>
  void put_as(const arrow::RecordBatch& batch, PointsSink& points) const;

  const Source& source_;
  std::vector<ElementChoice> chosen_;
  std::vector<int> fields_;
  Precision precision_ = Precision::float64;
  std::uint64_t rows_ = 0;
  std::uint64_t done_ = 0;
};

}  // namespace epsflow::io
