#include <epsflow/io/write/labelled_vtp.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <fmt/format.h>

#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/io/write/atomic_file.hpp>

namespace epsflow::io {
namespace {

static_assert(std::endian::native == std::endian::little, "values are written as they lie in memory");

constexpr std::uint64_t kAxes = 3;

template <class T>
constexpr std::string_view type_name() {
  if constexpr (std::is_floating_point_v<T>) return sizeof(T) == 4 ? "Float32" : "Float64";
  if constexpr (std::is_same_v<T, std::uint8_t>) return "UInt8";
  if constexpr (std::is_same_v<T, std::int32_t>) return "Int32";
  return "Int64";
}

/// The elements that describe arrays, in the order in which write_values() is called for these.
class ArrayList {
 public:
  explicit ArrayList(std::uint64_t points) : points_(points) {}

  template <class T>
  std::string add(std::string_view name, std::uint64_t components = 1) {
    const std::uint64_t offset = end_;
    end_ += sizeof(std::uint64_t) + points_ * components * sizeof(T);
    return fmt::format(R"(<DataArray type="{}" Name="{}" NumberOfComponents="{}" format="appended" offset="{}"/>)",
                       type_name<T>(), name, components, offset);
  }

 private:
  std::uint64_t points_;
  std::uint64_t end_ = 0;
};

/// An array as it is appended: its bytes, then the values value_of(0), value_of(1), ….
template <class T, class ValueOf>
void write_values(FileStream& out, std::uint64_t count, ValueOf value_of) {
  constexpr std::uint64_t kBlock = kLabelledBlockBytes / sizeof(T);
  const std::uint64_t bytes = count * sizeof(T);
  out.write(std::as_bytes(std::span(&bytes, 1)));
  std::vector<T> block;
  for (std::uint64_t first = 0; first < count; first += kBlock) {
    block.clear();
    for (std::uint64_t i = first; i < std::min(count, first + kBlock); ++i) block.push_back(value_of(i));
    out.write(std::as_bytes(std::span(block)));
  }
}

template <class T>
void write_points(FileStream& out, std::span<const T> values, const LabelledRows& rows) {
  const std::uint64_t n = rows.points.size();
  const std::size_t dims = rows.points.dims();
  ArrayList arrays(n);
  std::string text = fmt::format(
      R"(<?xml version="1.0"?>
<VTKFile type="PolyData" version="1.0" byte_order="LittleEndian" header_type="UInt64">
<PolyData>
<Piece NumberOfPoints="{}" NumberOfVerts="{}" NumberOfLines="0" NumberOfStrips="0" NumberOfPolys="0">
<Points>{}</Points>
)",
      n, n, arrays.add<T>("Points", kAxes));
  text += "<Verts>" + arrays.add<std::int64_t>("connectivity");
  text += arrays.add<std::int64_t>("offsets") + "</Verts>\n";
  text += "<PointData Scalars=\"label\">" + arrays.add<std::int32_t>(kLabelColumn);
  if (rows.core) text += arrays.add<std::uint8_t>(kCoreColumn);
  if (rows.points.renumbered()) text += arrays.add<std::int64_t>(kRowColumn);
  text += "</PointData>\n</Piece>\n</PolyData>\n<AppendedData encoding=\"raw\">\n_";
  out.write(text);
  write_values<T>(out, n * kAxes,
                  [&](std::uint64_t i) { return i % kAxes < dims ? values[i / kAxes * dims + i % kAxes] : T{0}; });
  write_values<std::int64_t>(out, n, [](std::uint64_t i) { return static_cast<std::int64_t>(i); });
  write_values<std::int64_t>(out, n, [](std::uint64_t i) { return static_cast<std::int64_t>(i + 1); });
  write_values<std::int32_t>(out, n, [&](std::uint64_t i) { return rows.result.labels[i]; });
  if (rows.core) write_values<std::uint8_t>(out, n, [&](std::uint64_t i) { return rows.result.core[i]; });
  if (rows.points.renumbered()) {
    RowWalker walker(rows.points.inputs);
    write_values<std::int64_t>(out, n,
                               [&](std::uint64_t) { return static_cast<std::int64_t>(walker.next_point()->number); });
  }
  out.write("\n</AppendedData>\n</VTKFile>\n");
}

}  // namespace

void require_vtp_points(const FilePoints& points) {
  if (points.dims() <= kAxes) return;
  throw UsageError(fmt::format(
      "VTK's points have three coordinates at most, and these have {}: choose up to three with ReadOptions::columns, "
      "or choose .csv",
      format_count(points.dims())));
}

void write_vtp(const std::filesystem::path& file, const std::filesystem::path& target, const LabelledRows& rows) {
  FileStream out(file, target);
  rows.points.view().visit([&](auto values) { write_points(out, values, rows); });
  out.close();
}

}  // namespace epsflow::io
