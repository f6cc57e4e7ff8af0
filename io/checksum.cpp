#include <epsflow/io/checksum.hpp>

#include <fcntl.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <array>
#include <bit>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <vector>

namespace epsflow::io {
namespace {

static_assert(std::endian::native == std::endian::little, "words are taken as they lie in memory");

/// Bytes that are processed at once by lookup ("slicing", Kounavis & Berry 2008).
constexpr std::size_t kSlices = 8;
using CrcTable = std::array<std::uint32_t, 256>;

/// A checksum is a polynomial: bit 31 − k of a word is the coefficient of x^k.
constexpr std::uint32_t kPolynomial = 0xEDB88320;
constexpr std::uint32_t kOne = std::uint32_t{1} << 31;

constexpr std::uint32_t times_x(std::uint32_t a) { return (a >> 1) ^ ((a & 1) != 0 ? kPolynomial : 0); }

/// Multiplies polynomials modulo kPolynomial.
constexpr std::uint32_t multiply(std::uint32_t a, std::uint32_t b) {
  std::uint32_t product = 0;
  for (std::uint32_t bit = kOne; bit != 0; bit >>= 1, b = times_x(b)) product ^= (a & bit) != 0 ? b : 0;
  return product;
}

/// Returns x^(8 · bytes), the factor of a checksum that this many bytes follow.
constexpr std::uint32_t shift_of(std::uint64_t bytes) {
  std::uint32_t power = kOne >> 8;
  std::uint32_t shift = kOne;
  for (; bytes != 0; bytes >>= 1, power = multiply(power, power)) {
    if ((bytes & 1) != 0) shift = multiply(shift, power);
  }
  return shift;
}

constexpr std::array<CrcTable, kSlices> make_tables() {
  std::array<CrcTable, kSlices> tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t value = byte;
    for (int bit = 0; bit < 8; ++bit) value = times_x(value);
    tables[0][byte] = value;
  }
  for (std::size_t k = 1; k < kSlices; ++k) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t before = tables[k - 1][byte];
      tables[k][byte] = (before >> 8) ^ tables[0][before & 0xFF];
    }
  }
  return tables;
}

constexpr std::array<CrcTable, kSlices> kTables = make_tables();

/// Returns the state after the bytes. A checksum is the inverted state.
std::uint32_t advance(std::uint32_t state, std::span<const std::byte> bytes) noexcept {
  for (; bytes.size() >= kSlices; bytes = bytes.subspan(kSlices)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), kSlices);
    word ^= state;
    state = 0;
    for (std::size_t k = 0; k < kSlices; ++k) state ^= kTables[kSlices - 1 - k][(word >> (8 * k)) & 0xFF];
  }
  for (const std::byte b : bytes) state = (state >> 8) ^ kTables[0][(state ^ static_cast<std::uint32_t>(b)) & 0xFF];
  return state;
}

#if defined(__x86_64__)
__attribute__((target("pclmul"))) __m128i fold(__m128i x, __m128i by, __m128i next) noexcept {
  const __m128i low = _mm_clmulepi64_si128(x, by, 0x00);
  const __m128i high = _mm_clmulepi64_si128(x, by, 0x11);
  return _mm_xor_si128(_mm_xor_si128(low, high), next);
}

/// Does the same several times as fast: folds a multiple of 64 bytes into 16 that leave the same remainder (Gopal et
/// al., "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ Instruction", 2009).
__attribute__((target("pclmul"))) std::uint32_t advance_folded(std::uint32_t state,
                                                               std::span<const std::byte> bytes) noexcept {
  const __m128i by_64 = _mm_set_epi64x(0x01c6e41596, 0x0154442bd4);  // x^(512 ∓ 32) modulo the polynomial
  const __m128i by_16 = _mm_set_epi64x(0x00ccaa009e, 0x01751997d0);  // x^(128 ∓ 32)
  const auto* at = reinterpret_cast<const __m128i*>(bytes.data());   // NOLINT: loaded without alignment
  const __m128i* const end = at + bytes.size() / sizeof(__m128i);
  __m128i lanes[4];  // NOLINT: std::array drops the alignment
  for (__m128i& lane : lanes) lane = _mm_loadu_si128(at++);
  lanes[0] = _mm_xor_si128(lanes[0], _mm_cvtsi32_si128(static_cast<int>(state)));
  while (at != end) {
    for (__m128i& lane : lanes) lane = fold(lane, by_64, _mm_loadu_si128(at++));
  }
  for (std::size_t k = 1; k < 4; ++k) lanes[k] = fold(lanes[k - 1], by_16, lanes[k]);
  std::array<std::byte, sizeof(__m128i)> rest{};
  std::memcpy(rest.data(), &lanes[3], sizeof(__m128i));
  return advance(0, rest);
}
#endif

}  // namespace

void Checksum::add(std::span<const std::byte> bytes) noexcept {
  std::uint32_t state = ~value_;
#if defined(__x86_64__)
  const std::size_t folded = bytes.size() / 64 * 64;
  if (folded > 0 && __builtin_cpu_supports("pclmul") != 0) {
    state = advance_folded(state, bytes.first(folded));
    bytes = bytes.subspan(folded);
  }
#endif
  value_ = ~advance(state, bytes);
}

void Checksum::add(const FileDigest& digest) noexcept {
  value_ = multiply(shift_of(digest.bytes), value_) ^ digest.crc32;
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

FileDigest digest_of_coordinates(PointsView points) noexcept {
  Checksum checksum;
  checksum.add({static_cast<const std::byte*>(points.data()), points.bytes()});
  return {points.bytes(), checksum.value()};
}

std::string checksum_of(PointsView points) {
  return checksum_of(points.size(), points.dims(), points.precision(), std::array{digest_of_coordinates(points)});
}

std::string checksum_of(std::uint64_t n, std::size_t dims, Precision precision,
                        std::span<const FileDigest> coordinates) {
  Checksum checksum;
  checksum.add(std::to_string(n) + "x" + std::to_string(dims) + ":" + std::to_string(bytes_of(precision)));
  for (const FileDigest& digest : coordinates) checksum.add(digest);
  return "crc32:" + format_checksum(checksum.value());
}

}  // namespace epsflow::io
