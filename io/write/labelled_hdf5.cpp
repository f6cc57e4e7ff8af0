#include <epsflow/io/write/labelled_hdf5.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <vector>

#include <fmt/format.h>

#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/io/write/hdf5_output.hpp>

namespace epsflow::io {
namespace {

struct Member {
  std::string name;
  hid_t memory_type;
  hid_t file_type;
};

std::vector<Member> members_of(std::span<const std::string> names, const LabelledRows& rows) {
  std::vector<Member> members;
  const bool single = rows.points.precision() == Precision::float32;
  if (rows.points.renumbered()) members.push_back({kRowColumn, H5T_NATIVE_INT64, H5T_STD_I64LE});
  for (const std::string& name : names) {
    members.push_back({name, single ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE, single ? H5T_IEEE_F32LE : H5T_IEEE_F64LE});
  }
  members.push_back({kLabelColumn, H5T_NATIVE_INT32, H5T_STD_I32LE});
  if (rows.core) members.push_back({kCoreColumn, H5T_NATIVE_UINT8, H5T_STD_U8LE});
  return members;
}

/// A row of members without gaps.
TypeHandle row_type(const Hdf5Output& out, const std::vector<Member>& members, hid_t Member::*type) {
  std::size_t size = 0;
  for (const Member& member : members) size += H5Tget_size(member.*type);
  TypeHandle row(out.check(H5Tcreate(H5T_COMPOUND, size)));
  std::size_t offset = 0;
  for (const Member& member : members) {
    out.check(H5Tinsert(row.get(), member.name.c_str(), offset, member.*type));
    offset += H5Tget_size(member.*type);
  }
  return row;
}

/// Rows as bytes, member behind member.
class RowBlock {
 public:
  template <class T>
  void add(T value) {
    const std::size_t at = bytes_.size();
    bytes_.resize(at + sizeof(T));
    std::memcpy(bytes_.data() + at, &value, sizeof(T));
  }
  void end_row() noexcept { ++rows_; }
  [[nodiscard]] bool is_full() const noexcept { return bytes_.size() >= kLabelledBlockBytes; }

  /// Writes the rows behind the first `at` of the data set, and returns how many there are then.
  hsize_t write(const Hdf5Output& out, hid_t set, hid_t type, hsize_t at) {
    if (rows_ == 0) return at;
    const SpaceHandle space(out.check(H5Dget_space(set)));
    const SpaceHandle memory(out.check(H5Screate_simple(1, &rows_, nullptr)));
    out.check(H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, &at, nullptr, &rows_, nullptr));
    out.check(H5Dwrite(set, type, memory.get(), space.get(), H5P_DEFAULT, bytes_.data()));
    bytes_.clear();
    return at + std::exchange(rows_, 0);
  }

 private:
  std::vector<unsigned char> bytes_;
  hsize_t rows_ = 0;
};

template <class T>
void write_rows(const Hdf5Output& out, hid_t set, hid_t type, std::span<const T> values, const LabelledRows& rows) {
  const std::size_t dims = rows.points.dims();
  RowWalker walker(rows.points.inputs);
  RowBlock block;
  hsize_t written = 0;
  while (const auto row = walker.next_point()) {
    if (rows.points.renumbered()) block.add(static_cast<std::int64_t>(row->number));
    for (std::size_t k = 0; k < dims; ++k) block.add(values[*row->point * dims + k]);
    block.add(rows.result.labels[*row->point]);
    if (rows.core) block.add(rows.result.core[*row->point]);
    block.end_row();
    if (block.is_full()) written = block.write(out, set, type, written);
  }
  block.write(out, set, type, written);
}

}  // namespace

void require_hdf5_names(std::span<const std::string> names) {
  // The type of a data set, names included, has to fit into 64 KiB; a member takes some 60 bytes and its name.
  constexpr std::size_t kMostBytes = 60'000;
  constexpr std::size_t kMemberBytes = 72;
  const std::size_t bytes =
      std::accumulate(names.begin(), names.end(), 3 * kMemberBytes,
                      [](std::size_t sum, const std::string& name) { return sum + kMemberBytes + name.size(); });
  if (bytes <= kMostBytes) return;
  throw UsageError(
      fmt::format("{} with their names are more than a table of HDF5 holds; choose .csv for the labels and "
                  "coordinates",
                  format_count(names.size(), "coordinate")));
}

void write_hdf5_coordinates(const std::filesystem::path& file, const std::filesystem::path& target,
                            std::span<const std::string> names, const LabelledRows& rows) {
  const Hdf5Session session;
  Hdf5Output out(file, target);
  {
    const std::vector<Member> members = members_of(names, rows);
    const TypeHandle memory_type = row_type(out, members, &Member::memory_type);
    const TypeHandle file_type = row_type(out, members, &Member::file_type);
    const hsize_t size = rows.points.size();
    const SpaceHandle space(out.check(H5Screate_simple(1, &size, nullptr)));
    const DatasetHandle set(out.check(H5Dcreate2(out.file(), "labelled", file_type.get(), space.get(), H5P_DEFAULT,
                                                 out.layout().get(), H5P_DEFAULT)));
    out.attributes(set.get(), rows.result, rows.metric);
    rows.points.view().visit([&](auto values) { write_rows(out, set.get(), memory_type.get(), values, rows); });
  }
  out.close();
}

}  // namespace epsflow::io
