#include <epsflow/io/npy_writer.hpp>

#include <bit>
#include <string>

#include <epsflow/io/atomic_file.hpp>

namespace epsflow::io {
namespace {

static_assert(std::endian::native == std::endian::little, "arrays are written as they lie in memory");

void write_array(const std::filesystem::path& file, const std::string& type, const std::string& shape,
                 std::span<const std::byte> bytes) {
  // NPY 1.0: magic, version, length of the header, header padded so that the data begin at a multiple of 64.
  constexpr std::size_t kPreamble = 10;
  std::string header = "{'descr': '" + type + "', 'fortran_order': False, 'shape': " + shape + ", }";
  header.append(63 - (kPreamble + header.size()) % 64, ' ');
  header += '\n';
  std::string start("\x93NUMPY\x01\x00", 8);
  start += static_cast<char>(header.size() & 0xFF);
  start += static_cast<char>(header.size() >> 8);
  AtomicFile out(file);
  out.write(start + header);
  out.write(bytes);
  out.commit();
}

}  // namespace

void write_npy(const std::filesystem::path& file, std::span<const std::int32_t> labels) {
  write_array(file, "<i4", "(" + std::to_string(labels.size()) + ",)", std::as_bytes(labels));
}

void write_npy(const std::filesystem::path& file, PointsView points) {
  write_array(file, points.precision() == Precision::float32 ? "<f4" : "<f8",
              "(" + std::to_string(points.size()) + ", " + std::to_string(points.dims()) + ")",
              {static_cast<const std::byte*>(points.data()), points.bytes()});
}

}  // namespace epsflow::io
