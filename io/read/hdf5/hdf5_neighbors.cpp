#include <epsflow/io/read/readers.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <epsflow/core/buffer.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/io/read/hdf5/hdf5_columns.hpp>
#include <epsflow/io/read/hdf5/hdf5_file.hpp>

namespace epsflow::io {
namespace {

/// The types that the values of an array may have, so that reading does not change a value.
struct AllowedType {
  H5T_class_t type_class;
  std::size_t most_bytes;
  const char* words;
};

template <class... Args>
InputError no_table(const Source& source, fmt::format_string<Args...> text, Args&&... args) {
  return source.error("no table of neighbours: {}; `epsflow neighbors` writes one",
                      fmt::format(text, std::forward<Args>(args)...));
}

Hdf5Dataset open_array(const Hdf5File& file, const std::string& path, const AllowedType& wanted) {
  const Source& source = file.source();
  if (file.kind_of(path) != Hdf5Object::dataset) throw no_table(source, "there is no data set {}", path);
  Hdf5Dataset dataset = describe_hdf5_dataset(file, path);
  const TypeHandle type = check(TypeHandle(H5Dget_type(dataset.id.get())), source, "reading the type of " + path);
  const bool is_signed = wanted.type_class == H5T_INTEGER && H5Tget_sign(type.get()) != H5T_SGN_NONE;
  if (dataset.axes != 1 || H5Tget_class(type.get()) != wanted.type_class || is_signed ||
      H5Tget_size(type.get()) > wanted.most_bytes || !is_sound_number(type.get())) {
    throw no_table(source, "{} is to hold {} along one axis, and does not", path, wanted.words);
  }
  require_written(dataset, source);
  dataset.netcdf_type.reset();  // the sign of the stored type counts
  return dataset;
}

template <class T>
void put_array(const Hdf5Dataset& dataset, TableArray array, ValueSink& table, const Source& source) {
  const std::uint64_t block = std::min(rows_per_block(dataset, sizeof(T)), dataset.rows);
  Buffer<T> values(block);
  for (std::uint64_t first = 0; first < dataset.rows; first += block) {
    const std::uint64_t count = std::min(block, dataset.rows - first);
    read_rows(dataset, hdf5_type<T>().memory, first, count, values.data(), source);
    table.put_array(array, first, std::span<const T>(values.data(), count));
  }
}

}  // namespace

void parse_hdf5_neighbors(const LibraryFile& file, const Source& source, ValueSink& table) {
  const Hdf5Session session;
  const Hdf5File opened(file, source);
  const Hdf5Dataset offsets = open_array(opened, "/offsets", {H5T_INTEGER, 8, "unsigned integers of up to 64 bits"});
  const Hdf5Dataset ids = open_array(opened, "/ids", {H5T_INTEGER, 4, "unsigned integers of up to 32 bits"});
  std::vector<Hdf5Dataset> distances;  // one or none
  if (opened.kind_of("/distances") != Hdf5Object::none) {
    distances.push_back(open_array(opened, "/distances", {H5T_FLOAT, 8, "floats of up to 64 bits"}));
  }
  const std::vector<double> eps = read_numbers(offsets.id.get(), "eps");
  if (eps.size() != 1 || !(eps[0] > 0) || !std::isfinite(eps[0])) {
    throw no_table(source, "/offsets has no attribute eps, a number above 0");
  }
  table.begin({.offsets = offsets.rows,
               .ids = ids.rows,
               .distances = distances.empty() ? 0 : distances[0].rows,
               .eps = eps[0],
               .memory_taken = file.memory_taken});
  put_array<std::uint64_t>(offsets, TableArray::offsets, table, source);
  put_array<std::uint32_t>(ids, TableArray::ids, table, source);
  if (!distances.empty()) put_array<double>(distances[0], TableArray::distances, table, source);
}

}  // namespace epsflow::io
