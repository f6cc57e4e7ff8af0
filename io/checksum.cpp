#include <epsflow/io/checksum.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <vector>

namespace epsflow::io {
namespace {

static_assert(std::endian::native == std::endian::little, "words are taken as they lie in memory");

/// Words of a block, each with a checksum of its own, so that none waits for another ("braiding", Kadatch & Jenkins 2010).
constexpr std::size_t kWords = 5;
constexpr std::size_t kBlock = kWords * sizeof(std::uint64_t);
using Table = std::array<std::uint32_t, 256>;

/// Table k: what a byte does to the checksum when k bytes follow it.
constexpr std::array<Table, kBlock> make_tables() {
  constexpr std::uint32_t kPolynomial = 0xEDB88320;
  std::array<Table, kBlock> tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t value = byte;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) != 0 ? kPolynomial : 0);
    tables[0][byte] = value;
  }
  for (std::size_t k = 1; k < kBlock; ++k) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t before = tables[k - 1][byte];
      tables[k][byte] = (before >> 8) ^ tables[0][before & 0xFF];
    }
  }
  return tables;
}

constexpr std::array<Table, kBlock> kTables = make_tables();

/// What the bytes of a word do when so many others follow it.
template <std::size_t following>
std::uint32_t look_up(std::uint64_t word) noexcept {
  std::uint32_t value = 0;
  for (std::size_t k = 0; k < sizeof(word); ++k) value ^= kTables[following + 7 - k][(word >> (8 * k)) & 0xFF];
  return value;
}

}  // namespace

void Checksum::add(std::span<const std::byte> bytes) noexcept {
  std::uint32_t value = ~value_;
  const std::byte* at = bytes.data();
  std::size_t left = bytes.size();
  if (left >= kBlock) {
    std::array<std::uint64_t, kWords> words{};
    std::array<std::uint64_t, kWords> state{value};
    for (; left >= 2 * kBlock; at += kBlock, left -= kBlock) {
      std::memcpy(words.data(), at, kBlock);
      for (std::size_t k = 0; k < kWords; ++k) state[k] = look_up<kBlock - sizeof(std::uint64_t)>(state[k] ^ words[k]);
    }
    std::memcpy(words.data(), at, kBlock);
    value = 0;
    for (std::size_t k = 0; k < kWords; ++k) value = look_up<0>(value ^ state[k] ^ words[k]);
    at += kBlock;
    left -= kBlock;
  }
  for (; left > 0; ++at, --left) value = (value >> 8) ^ kTables[0][(value ^ static_cast<std::uint32_t>(*at)) & 0xFF];
  value_ = ~value;
}

std::string format_checksum(std::uint32_t checksum) {
  std::array<char, 9> text{};
  std::snprintf(text.data(), text.size(), "%08x", checksum);
  return text.data();
}

std::optional<std::uint32_t> parse_checksum(std::string_view text) {
  constexpr std::size_t kDigits = 8;
  constexpr int kHexadecimal = 16;
  std::uint32_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value, kHexadecimal);
  if (text.size() != kDigits || code != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<FileDigest> digest_of(const std::filesystem::path& file) {
  constexpr std::size_t kPiece = 1 << 20;
  std::error_code code;
  if (!std::filesystem::is_regular_file(std::filesystem::symlink_status(file, code))) return std::nullopt;
  const int descriptor = open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (descriptor < 0) return std::nullopt;
  std::vector<std::byte> block(kPiece);
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
  checksum.add(std::to_string(points.size()) + "x" + std::to_string(points.dims()) + ":" +
               std::to_string(bytes_of(points.precision())));
  checksum.add({static_cast<const std::byte*>(points.data()), points.bytes()});
  return "crc32:" + format_checksum(checksum.value());
}

}  // namespace epsflow::io
