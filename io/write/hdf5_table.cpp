#include <algorithm>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <epsflow/core/error.hpp>
#include <epsflow/io/write/hdf5_output.hpp>
#include <epsflow/io/write/labelled_hdf5.hpp>
#include <epsflow/io/write/labelled_rows.hpp>
#include <epsflow/io/write/table_writers.hpp>

namespace epsflow::io {
namespace {

/// Text of fixed length, filled up with zeros.
TypeHandle text_type(const Hdf5Output& out, const std::vector<std::string>& values) {
  std::size_t width = 1;
  for (const std::string& value : values) width = std::max(width, value.size());
  TypeHandle type(out.check(H5Tcopy(H5T_C_S1)));
  out.check(H5Tset_size(type.get(), width));
  out.check(H5Tset_strpad(type.get(), H5T_STR_NULLPAD));
  out.check(H5Tset_cset(type.get(), H5T_CSET_UTF8));
  return type;
}

/// Writes a member at its offset in each of the rows [first, last).
struct MemberWriter {
  std::vector<char>& bytes;
  std::size_t row_bytes, offset, width, first, last;

  template <class T>
  void operator()(const std::vector<T>& values) const {
    for (std::size_t row = first; row < last; ++row) {
      char* const to = bytes.data() + (row - first) * row_bytes + offset;
      if constexpr (std::is_same_v<T, std::string>) {
        std::copy(values[row].begin(), values[row].end(), to);
      } else {
        std::memcpy(to, &values[row], width);
      }
    }
  }
};

}  // namespace

void write_hdf5_table(const std::filesystem::path& file, const std::filesystem::path& target, const Table& table,
                      const TableOrigin& origin) {
  std::vector<std::string> names;
  for (const TableColumn& column : table) names.push_back(column.name);
  require_hdf5_names(names);
  const Hdf5Session session;
  Hdf5Output out(file, target);
  {
    std::vector<TypeHandle> texts;
    std::vector<std::pair<hid_t, hid_t>> types;  // in memory, in the file
    std::size_t row_bytes = 0;
    std::vector<std::size_t> offsets;
    for (const TableColumn& column : table) {
      if (const auto* text = std::get_if<std::vector<std::string>>(&column.values)) {
        texts.push_back(text_type(out, *text));
        types.emplace_back(texts.back().get(), texts.back().get());
      } else if (std::holds_alternative<std::vector<double>>(column.values)) {
        types.emplace_back(H5T_NATIVE_DOUBLE, H5T_IEEE_F64LE);
      } else {
        types.emplace_back(H5T_NATIVE_INT64, H5T_STD_I64LE);
      }
      offsets.push_back(row_bytes);
      row_bytes += H5Tget_size(types.back().first);
    }
    const TypeHandle memory_type(out.check(H5Tcreate(H5T_COMPOUND, row_bytes)));
    const TypeHandle file_type(out.check(H5Tcreate(H5T_COMPOUND, row_bytes)));
    for (std::size_t k = 0; k < table.size(); ++k) {
      out.check(H5Tinsert(memory_type.get(), names[k].c_str(), offsets[k], types[k].first));
      out.check(H5Tinsert(file_type.get(), names[k].c_str(), offsets[k], types[k].second));
    }
    const hsize_t rows = table.empty() ? 0 : table.front().size();
    const SpaceHandle space(out.check(H5Screate_simple(1, &rows, nullptr)));
    const DatasetHandle set(out.check(H5Dcreate2(out.file(), origin.name, file_type.get(), space.get(), H5P_DEFAULT,
                                                 out.layout().get(), H5P_DEFAULT)));
    out.attributes(set.get(), origin.result, origin.metric);
    const std::size_t most = std::max<std::size_t>(1, kLabelledBlockBytes / row_bytes);
    std::vector<char> bytes;
    for (hsize_t first = 0; first < rows; first += most) {
      const hsize_t count = std::min<hsize_t>(most, rows - first);
      bytes.assign(count * row_bytes, '\0');
      for (std::size_t k = 0; k < table.size(); ++k) {
        std::visit(MemberWriter{bytes, row_bytes, offsets[k], H5Tget_size(types[k].first), first, first + count},
                   table[k].values);
      }
      const SpaceHandle memory(out.check(H5Screate_simple(1, &count, nullptr)));
      out.check(H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, &first, nullptr, &count, nullptr));
      out.check(H5Dwrite(set.get(), memory_type.get(), memory.get(), space.get(), H5P_DEFAULT, bytes.data()));
    }
  }
  out.close();
}

}  // namespace epsflow::io
