#include <epsflow/io/checksum.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>

#include <charconv>
#include <vector>

namespace epsflow::io {

void Checksum::add(std::span<const std::byte> bytes) noexcept {
  value_ = static_cast<std::uint32_t>(
      crc32_z(value_, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));  // zlib has unsigned bytes
}

std::string format_checksum(std::uint32_t checksum) { return fmt::format("{:08x}", checksum); }

std::optional<std::uint32_t> parse_checksum(std::string_view text) {
  constexpr std::size_t kDigits = 8;
  constexpr int kHexadecimal = 16;
  std::uint32_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value, kHexadecimal);
  if (text.size() != kDigits || code != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<FileDigest> digest_of(const std::filesystem::path& file) {
  constexpr std::size_t kBlock = 1 << 20;
  std::error_code code;
  if (!std::filesystem::is_regular_file(std::filesystem::symlink_status(file, code))) return std::nullopt;
  const int descriptor = open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (descriptor < 0) return std::nullopt;
  std::vector<std::byte> block(kBlock);
  FileDigest digest;
  Checksum checksum;
  ssize_t count = 0;
  while ((count = read(descriptor, block.data(), block.size())) > 0) {
    checksum.add({block.data(), static_cast<std::size_t>(count)});
    digest.bytes += static_cast<std::uint64_t>(count);
  }
  close(descriptor);
  if (count < 0) return std::nullopt;
  digest.crc32 = checksum.value();
  return digest;
}

std::string checksum_of(PointsView points) {
  Checksum checksum;
  checksum.add(fmt::format("{}x{}:{}", points.size(), points.dims(), bytes_of(points.precision())));
  checksum.add({static_cast<const std::byte*>(points.data()), points.bytes()});
  return "crc32:" + format_checksum(checksum.value());
}

}  // namespace epsflow::io
