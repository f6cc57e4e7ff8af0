#include <epsflow/io/results/shared_vector.hpp>

#include <algorithm>

#include <epsflow/io/write/atomic_file.hpp>
#include <epsflow/io/write/npy_writer.hpp>

namespace epsflow::io {
namespace {

/// Written to at once, so that the disk works beside the computation.
constexpr std::uint64_t kLargeShare = 1 << 20;

/// Of one value: the last digit of its type.
std::uint64_t value_bytes(const SharedVector& vector) { return static_cast<std::uint64_t>(vector.type.back() - '0'); }

}  // namespace

FileDigest write_share(const SharedVector& vector, std::uint64_t first, std::span<const std::byte> values,
                       Durable durable) {
  constexpr std::size_t kPiece = 1 << 18;
  const std::string header = npy_vector_header(vector.type, vector.n);
  Checksum checksum;
  FileStream stream(vector.file, vector.target, first == 0 ? 0 : header.size() + first * value_bytes(vector));
  if (first == 0) stream.write(header);
  for (std::size_t at = 0; at < values.size(); at += kPiece) {
    const auto piece = values.subspan(at, std::min(kPiece, values.size() - at));
    checksum.add(piece);
    stream.write(piece, values.size());
  }
  if (durable == Durable::now) {
    stream.sync();
  } else if (values.size() >= kLargeShare) {
    stream.start_writeback();
  }
  stream.close();
  return {values.size(), checksum.value()};
}

FileDigest digest_of_shares(const SharedVector& vector, std::span<const FileDigest> shares) {
  const std::string header = npy_vector_header(vector.type, vector.n);
  Checksum checksum;
  checksum.add(header);
  FileDigest digest{header.size(), 0};
  for (const FileDigest& share : shares) {
    checksum.add(share);
    digest.bytes += share.bytes;
  }
  digest.crc32 = checksum.value();
  return digest;
}

}  // namespace epsflow::io
