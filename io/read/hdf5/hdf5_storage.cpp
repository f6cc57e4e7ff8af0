#include <epsflow/io/read/hdf5/hdf5_file.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

namespace epsflow::io {
namespace {

/// Returns a little-endian number, as all numbers of HDF5's own structures are.
std::uint64_t number_at(std::span<const unsigned char> bytes, std::size_t at, std::size_t size) noexcept {
  if (size > 8 || at > bytes.size() || size > bytes.size() - at) return 0;
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < size; ++i) value |= std::uint64_t{bytes[at + i]} << (8 * i);
  return value;
}

/// Walks the messages of an object header through all of its blocks.
class HeaderReader {
 public:
  HeaderReader(const ReadAt& read_at, const Hdf5Sizes& sizes) : read_at_(read_at), sizes_(sizes) {}

  Hdf5Storage read(std::uint64_t address) {
    std::array<unsigned char, 32> prefix{};
    if (!read_at_(sizes_.base + address, prefix)) return storage_;
    const bool has_signature = std::equal(kSignature.begin(), kSignature.end(), prefix.begin());
    if (has_signature) {
      flags_ = prefix[5];
      const std::size_t size_bytes = std::size_t{1} << (flags_ & 3U);
      const std::size_t begin = 6 + ((flags_ & 0x20U) != 0 ? 16 : 0) + ((flags_ & 0x10U) != 0 ? 4 : 0);
      blocks_.push_back({address + begin + size_bytes, number_at(prefix, begin, size_bytes)});
    } else {
      blocks_.push_back({address + 16, number_at(prefix, 8, 4)});
    }
    // A damaged block may refer to itself as its successor.
    constexpr std::size_t kMostBlocks = 256;
    for (std::size_t i = 0; i < blocks_.size() && i < kMostBlocks; ++i) read_block(blocks_[i], has_signature);
    return storage_;
  }

 private:
  static constexpr std::string_view kSignature = "OHDR";

  struct HeaderBlock {
    std::uint64_t address;
    std::uint64_t size;
  };

  void read_block(const HeaderBlock& block, bool has_signature) {
    constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 20;
    if (block.size > kMostBytes) return;
    std::vector<unsigned char> bytes(static_cast<std::size_t>(block.size));
    if (!read_at_(sizes_.base + block.address, bytes)) return;
    const std::size_t header = has_signature ? ((flags_ & 4U) != 0 ? 6 : 4) : 8;
    for (std::size_t at = 0; at + header <= bytes.size();) {
      const auto type = number_at(bytes, at, has_signature ? 1 : 2);
      const auto size = static_cast<std::size_t>(number_at(bytes, at + (has_signature ? 1 : 2), 2));
      at += header;
      if (size > bytes.size() - at) return;
      read_message(type, std::span(bytes).subspan(at, size), has_signature);
      at += size;
    }
  }

  void read_message(std::uint64_t type, std::span<const unsigned char> body, bool has_signature) {
    constexpr std::uint64_t kExternalFiles = 0x07;
    constexpr std::uint64_t kLayout = 0x08;
    constexpr std::uint64_t kContinuation = 0x10;
    if (type == kExternalFiles) storage_.is_external = true;
    if (type == kLayout) read_layout(body);
    if (type != kContinuation) return;
    HeaderBlock next{number_at(body, 0, sizes_.address_bytes),
                     number_at(body, sizes_.address_bytes, sizes_.length_bytes)};
    if (has_signature) {  // The signature OCHK comes first, a checksum last.
      if (next.size < 8) return;
      next = {next.address + 4, next.size - 8};
    }
    blocks_.push_back(next);
  }

  void read_layout(std::span<const unsigned char> body) {
    constexpr std::uint64_t kChunked = 2;
    constexpr std::uint64_t kVirtual = 3;
    const std::uint64_t version = number_at(body, 0, 1);
    const std::uint64_t kind = number_at(body, version < 3 ? 2 : 1, 1);
    if (version >= 4 && kind == kVirtual) storage_.is_virtual = true;
    if (kind != kChunked) return;
    // After the chunk's extents follows the size of an element, stored as one more axis.
    std::uint64_t axes = 0;
    std::size_t first = 0;
    std::size_t width = 4;
    if (version < 3) {
      axes = number_at(body, 1, 1);
      first = 8 + sizes_.address_bytes;
    } else if (version == 3) {
      axes = number_at(body, 2, 1);
      first = 3 + sizes_.address_bytes;
    } else {
      axes = number_at(body, 3, 1);
      width = static_cast<std::size_t>(number_at(body, 4, 1));
      first = 5;
    }
    if (axes > 0) storage_.chunk_element_bytes = number_at(body, first + (axes - 1) * width, width);
  }

  const ReadAt& read_at_;
  Hdf5Sizes sizes_;
  std::uint64_t flags_ = 0;
  std::vector<HeaderBlock> blocks_;
  Hdf5Storage storage_;
};

}  // namespace

Hdf5Storage find_hdf5_storage(const ReadAt& read_at, const Hdf5Sizes& sizes, std::uint64_t address) {
  return HeaderReader(read_at, sizes).read(address);
}

}  // namespace epsflow::io
