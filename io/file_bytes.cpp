#include <epsflow/io/file_bytes.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <fmt/format.h>

#include <epsflow/core/checked.hpp>
#include <epsflow/core/error.hpp>

namespace epsflow::io {
namespace {

class Descriptor {
 public:
  explicit Descriptor(const std::filesystem::path& file) : fd_(::open(file.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int get() const noexcept { return fd_; }

 private:
  int fd_;
};

[[noreturn]] void throw_unreadable(const std::filesystem::path& file, int code) {
  throw InputError(fmt::format("{}: cannot read the file: {}; check its name and permissions", file.string(),
                               std::generic_category().message(code)));
}

// Bytes that arrive in unknown number: blocks that are joined once at the end, and not at all when one block held all.
class GrowingBytes {
 public:
  explicit GrowingBytes(std::size_t guess) : next_size_(std::max<std::size_t>(guess, kSmallest)) {}

  // Room behind the bytes so far, never empty.
  std::span<char> room() {
    if (blocks_.empty() || used_ == blocks_.back().size()) {
      blocks_.emplace_back(next_size_);
      used_ = 0;
      next_size_ = std::max<std::size_t>(kSmallest, total_ / 2);
    }
    return blocks_.back().span().subspan(used_);
  }

  void advance(std::size_t count) noexcept {
    used_ += count;
    total_ += count;
  }

  // The joined bytes and how many they are.
  std::pair<Buffer<char>, std::size_t> take() {
    if (blocks_.size() <= 1) return {blocks_.empty() ? Buffer<char>() : std::move(blocks_.front()), total_};
    Buffer<char> joined(total_);
    std::size_t at = 0;
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      const std::size_t count = i + 1 == blocks_.size() ? used_ : blocks_[i].size();
      std::memcpy(joined.data() + at, blocks_[i].data(), count);
      at += count;
      blocks_[i] = Buffer<char>();
    }
    return {std::move(joined), total_};
  }

 private:
  static constexpr std::size_t kSmallest = std::size_t{1} << 16;

  std::vector<Buffer<char>> blocks_;
  std::size_t used_ = 0;  // of the last block
  std::size_t total_ = 0;
  std::size_t next_size_;
};

// zlib's state for one run over a gzip file.
class Inflater {
 public:
  explicit Inflater(std::span<const char> packed) : packed_(packed) {
    constexpr int kGzipOnly = 15 + 16;
    if (inflateInit2(&state_, kGzipOnly) != Z_OK) throw ResourceError("zlib has no memory to unpack a gzip file");
  }
  ~Inflater() { inflateEnd(&state_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  struct Step {
    int code;
    std::size_t written;
  };

  // Unpacks into `out` until that or the input is used up. zlib's counters are 32-bit, so both sides go in slices.
  Step step(std::span<char> out) {
    constexpr std::size_t kSlice = std::size_t{1} << 30;
    state_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed_.data() + at_));
    state_.avail_in = static_cast<uInt>(std::min(kSlice, packed_.size() - at_));
    state_.next_out = reinterpret_cast<Bytef*>(out.data());
    state_.avail_out = static_cast<uInt>(std::min(kSlice, out.size()));
    const uInt in = state_.avail_in;
    const uInt room = state_.avail_out;
    const int code = inflate(&state_, Z_NO_FLUSH);
    at_ += in - state_.avail_in;
    return {code, room - state_.avail_out};
  }

  [[nodiscard]] std::span<const char> rest() const noexcept { return packed_.subspan(at_); }
  [[nodiscard]] const char* message() const noexcept { return state_.msg != nullptr ? state_.msg : "damaged data"; }
  void next_member() { inflateReset(&state_); }

 private:
  std::span<const char> packed_;
  std::size_t at_ = 0;
  z_stream state_{};
};

// The unpacked size that the last four bytes claim, which is right for one member under 4 GiB; deflate never shrinks by
// more than 1032, so that a forged claim cannot make a small file ask for much memory.
std::size_t guess_unpacked_size(std::span<const char> packed) noexcept {
  if (packed.size() < 18) return 0;
  std::uint64_t claimed = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    claimed |= std::uint64_t{static_cast<unsigned char>(packed[packed.size() - 4 + i])} << (8 * i);
  }
  // One byte more, so that the trailer is read without a second block.
  return static_cast<std::size_t>(std::min<std::uint64_t>(claimed, packed.size() * std::uint64_t{1032}) + 1);
}

}  // namespace

namespace detail {
void Unmap::operator()(const char* p) const noexcept { ::munmap(const_cast<char*>(p), size); }
}  // namespace detail

FileBytes::FileBytes(const std::filesystem::path& file) {
  const Descriptor descriptor(file);
  struct stat status {};
  if (descriptor.get() < 0 || ::fstat(descriptor.get(), &status) != 0) throw_unreadable(file, errno);
  if (S_ISDIR(status.st_mode)) {
    throw InputError(file.string() + ": is a folder, not a file; name the files in it that are to be read");
  }
  if (S_ISREG(status.st_mode)) {
    const auto size = narrow<std::size_t>(status.st_size, "file size");
    if (size == 0) return;
    void* p = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor.get(), 0);
    if (p == MAP_FAILED) throw_unreadable(file, errno);
    // Only advice: a refusal costs time, nothing else.
    (void)::madvise(p, size, MADV_SEQUENTIAL);
    mapping_ = {static_cast<const char*>(p), detail::Unmap{size}};
    view_ = {mapping_.get(), size};
    return;
  }
  GrowingBytes bytes(0);
  for (;;) {
    const std::span<char> room = bytes.room();
    const ssize_t got = ::read(descriptor.get(), room.data(), room.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw_unreadable(file, errno);
    if (got == 0) break;
    bytes.advance(static_cast<std::size_t>(got));
  }
  auto [joined, size] = bytes.take();
  owned_ = std::move(joined);
  view_ = {owned_.data(), size};
}

bool is_gzip(std::span<const char> bytes) noexcept {
  return bytes.size() >= 2 && bytes[0] == '\x1f' && bytes[1] == '\x8b';
}

FileBytes inflate_gzip(std::span<const char> packed, std::string_view name) {
  Inflater inflater(packed);
  GrowingBytes bytes(guess_unpacked_size(packed));
  for (;;) {
    const auto [code, written] = inflater.step(bytes.room());
    bytes.advance(written);
    if (code == Z_STREAM_END) {
      const std::span<const char> rest = inflater.rest();
      // Archives on tape pad with zeros; anything else that follows must be another member.
      if (std::all_of(rest.begin(), rest.end(), [](char c) { return c == '\0'; })) break;
      inflater.next_member();
    } else if (code == Z_MEM_ERROR) {
      throw ResourceError(fmt::format("{}: no memory to unpack the gzip file", name));
    } else if (code != Z_OK && code != Z_BUF_ERROR) {
      throw InputError(fmt::format("{}: damaged gzip file: {}; fetch it again", name, inflater.message()));
    } else if (inflater.rest().empty() && written == 0) {
      throw InputError(fmt::format("{}: truncated gzip file: it ends within the packed data; fetch it again", name));
    }
  }
  FileBytes result;
  auto [joined, size] = bytes.take();
  result.owned_ = std::move(joined);
  result.view_ = {result.owned_.data(), size};
  return result;
}

std::string inflate_gzip_prefix(std::span<const char> packed, std::size_t count) {
  Inflater inflater(packed);
  std::string prefix(count, '\0');
  std::size_t size = 0;
  while (size < count) {
    const auto [code, written] = inflater.step(std::span(prefix).subspan(size));
    size += written;
    if (code != Z_OK || written == 0) break;
  }
  prefix.resize(size);
  return prefix;
}

}  // namespace epsflow::io
