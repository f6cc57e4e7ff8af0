#include <epsflow/io/write/npy_writer.hpp>

#include <bit>
#include <fstream>
#include <string_view>

namespace epsflow::io {
namespace {

static_assert(std::endian::native == std::endian::little, "arrays are written as they lie in memory");

constexpr std::size_t kPreamble = 10;  // magic, version, length of the header
/// The begin of a header of marked_npy().
constexpr std::string_view kMark = "{'shape': (";

std::string header_of(std::string header) {
  // NPY 1.0 has a magic, a version, the length of the header, and a header padded to data at a multiple of 64.
  header.append(63 - (kPreamble + header.size()) % 64, ' ');
  header += '\n';
  std::string start("\x93NUMPY\x01\x00", 8);
  start += static_cast<char>(header.size() & 0xFF);
  start += static_cast<char>(header.size() >> 8);
  return start + header;
}

std::string header_of(const std::string& type, const std::string& shape) {
  return header_of("{'descr': '" + type + "', 'fortran_order': False, 'shape': " + shape + ", }");
}

template <class T>
NpyArray make_vector(const std::string& type, std::span<const T> values) {
  return {npy_vector_header(type, values.size()), std::as_bytes(values)};
}

template <class T>
NpyArray make_marked(const std::string& type, std::span<const T> values) {
  return {header_of(std::string(kMark) + std::to_string(values.size()) + ",), 'descr': '" + type +
                    "', 'fortran_order': False, }"),
          std::as_bytes(values)};
}

}  // namespace

std::string npy_vector_header(const std::string& type, std::uint64_t n) {
  return header_of(type, "(" + std::to_string(n) + ",)");
}

NpyArray npy_labels(std::span<const std::int32_t> labels) { return make_vector("<i4", labels); }
NpyArray npy_mask(std::span<const std::uint8_t> mask) { return make_vector("|b1", mask); }
NpyArray npy_rows(std::span<const std::int64_t> rows) { return make_vector("<i8", rows); }
NpyArray npy_numbers(std::span<const double> numbers) { return make_vector("<f8", numbers); }

NpyArray marked_npy(std::span<const std::int64_t> rows) { return make_marked("<i8", rows); }
NpyArray marked_npy(std::span<const std::int32_t> groups) { return make_marked("<i4", groups); }

bool is_marked_npy(const std::filesystem::path& file) {
  std::string begin(kPreamble + kMark.size(), '\0');
  std::ifstream(file, std::ios::binary).read(begin.data(), static_cast<std::streamsize>(begin.size()));
  return begin.starts_with("\x93NUMPY") && begin.ends_with(kMark);
}

NpyArray npy_points(PointsView points) {
  return {header_of(points.precision() == Precision::float32 ? "<f4" : "<f8",
                    "(" + std::to_string(points.size()) + ", " + std::to_string(points.dims()) + ")"),
          {static_cast<const std::byte*>(points.data()), points.bytes()}};
}

void write_npy(const std::filesystem::path& file, const NpyArray& array, Overwrite overwrite) {
  write_atomically(file, overwrite, [&](const std::filesystem::path& temporary) {
    FileStream out(temporary, file);
    out.write(array.header);
    out.write(array.data);
    out.close();
  });
}

}  // namespace epsflow::io
