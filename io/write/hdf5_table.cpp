#include <algorithm>
#include <cstring>
#include <type_traits>
#include <vector>

#include <fmt/format.h>

#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/io/write/hdf5_output.hpp>
#include <epsflow/io/write/output_table.hpp>

namespace epsflow::io {
namespace {

/// The type of a column in memory and in the file. Text has a fixed length and is filled up with zeros.
TypeHandle type_of(const Hdf5Output& out, const OutputColumn& column, std::size_t rows, bool in_memory) {
  return std::visit(
      [&]<class T>(const ColumnView<T>& values) {
        if constexpr (std::is_same_v<T, std::string>) {
          TypeHandle type(out.check(H5Tcopy(H5T_C_S1)));
          out.check(H5Tset_size(type.get(), text_width(values, rows)));
          out.check(H5Tset_strpad(type.get(), H5T_STR_NULLPAD));
          out.check(H5Tset_cset(type.get(), H5T_CSET_UTF8));
          return type;
        } else {
          const Hdf5Type type = hdf5_type<T>();
          return TypeHandle(out.check(H5Tcopy(in_memory ? type.memory : type.file)));
        }
      },
      column.values);
}

/// The type of a row without gaps: a compound of the columns, or the type of the only column.
TypeHandle row_type(const Hdf5Output& out, const OutputTable& table, bool in_memory) {
  if (table.columns.size() == 1) return type_of(out, table.columns.front(), table.rows, in_memory);
  std::vector<TypeHandle> types;
  std::size_t bytes = 0;
  for (const OutputColumn& column : table.columns) {
    types.push_back(type_of(out, column, table.rows, in_memory));
    bytes += H5Tget_size(types.back().get());
  }
  TypeHandle row(out.check(H5Tcreate(H5T_COMPOUND, bytes)));
  std::size_t offset = 0;
  for (std::size_t k = 0; k < types.size(); ++k) {
    out.check(H5Tinsert(row.get(), table.columns[k].name.c_str(), offset, types[k].get()));
    offset += H5Tget_size(types[k].get());
  }
  return row;
}

/// Copies rows [first, first + count) of a column to rows of `row_bytes` zeros. `to` is the column in the first of
/// them.
void copy_column(const OutputColumn& column, std::size_t first, std::size_t count, char* to, std::size_t row_bytes) {
  std::visit(
      [&]<class T>(const ColumnView<T>& values) {
        for (std::size_t row = first; row < first + count; ++row, to += row_bytes) {
          if constexpr (std::is_same_v<T, std::string>) {
            std::copy(values[row].begin(), values[row].end(), to);
          } else {
            std::memcpy(to, &values[row], sizeof(T));
          }
        }
      },
      column.values);
}

void write_table_rows(const Hdf5Output& out, hid_t set, hid_t type, const OutputTable& table) {
  const std::size_t row_bytes = H5Tget_size(type);
  const bool plain = table.columns.size() == 1;
  const std::size_t most = std::max<std::size_t>(1, kOutputBlockBytes / row_bytes);
  const SpaceHandle space(out.check(H5Dget_space(set)));
  std::vector<char> bytes;
  for (hsize_t first = 0; first < table.rows; first += most) {
    const hsize_t count = std::min<hsize_t>(most, table.rows - first);
    bytes.assign(count * row_bytes, '\0');
    for (std::size_t k = 0; k < table.columns.size(); ++k) {
      const std::size_t offset = plain ? 0 : H5Tget_member_offset(type, static_cast<unsigned>(k));
      copy_column(table.columns[k], first, count, bytes.data() + offset, row_bytes);
    }
    const SpaceHandle memory(out.check(H5Screate_simple(1, &count, nullptr)));
    out.check(H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, &first, nullptr, &count, nullptr));
    out.check(H5Dwrite(set, type, memory.get(), space.get(), H5P_DEFAULT, bytes.data()));
  }
}

void write_hdf5(const std::filesystem::path& file, const std::filesystem::path& target, const OutputTable& table) {
  const Hdf5Session session;
  Hdf5Output out(file, target);
  {
    const TypeHandle type = row_type(out, table, true);
    const DatasetHandle set =
        out.create(table.origin.name, row_type(out, table, false).get(), std::array<hsize_t, 1>{table.rows});
    const bool plain = table.columns.size() == 1;
    // The library places attributes in the order of these calls. Keep the order: equal results make equal files.
    if (plain) write_table_rows(out, set.get(), type.get(), table);
    out.attributes(set.get(), table.origin.result, table.origin.metric);
    if (table.numbers == LabelNumbers::group) out.attribute(set.get(), "numbers", std::string(kGroupMark));
    if (!plain) write_table_rows(out, set.get(), type.get(), table);
  }
  out.close();
}

void check_hdf5_columns(std::span<const std::string> names, std::size_t others, std::string_view what) {
  // The type of a data set, names included, must fit into 64 KiB. A member takes about 60 bytes and its name.
  constexpr std::size_t kMostBytes = 60'000;
  constexpr std::size_t kMemberBytes = 72;
  std::size_t bytes = (names.size() + others) * kMemberBytes;
  for (const std::string& name : names) bytes += name.size();
  if (bytes <= kMostBytes) return;
  throw UsageError(fmt::format("{} with their names are more than a table of HDF5 holds; choose .parquet or .csv",
                               format_count(names.size(), what)));
}

}  // namespace

TableFunctions hdf5_tables() { return {.check = check_hdf5_columns, .write = write_hdf5}; }

}  // namespace epsflow::io
