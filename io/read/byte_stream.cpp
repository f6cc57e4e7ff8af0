#include <epsflow/io/read/byte_stream.hpp>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <fmt/format.h>

#include <epsflow/core/buffer.hpp>
#include <epsflow/core/checked.hpp>
#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/io/read/library_file.hpp>

namespace epsflow::io {
namespace {

[[noreturn]] void throw_unreadable(const std::string& name, int code) {
  throw InputError(fmt::format("{}: cannot read the file: {}; check its name and permissions", name,
                               std::generic_category().message(code)));
}

/// Opens a file; for standard input, duplicates its descriptor, because the process owns the original.
OwnedDescriptor open_to_read(const std::filesystem::path& file, const std::string& name) {
  int descriptor = -1;
  do {
    descriptor = file == "-" ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0) : ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  } while (descriptor < 0 && errno == EINTR);
  if (descriptor < 0) throw_unreadable(name, errno);
  return OwnedDescriptor(descriptor);
}

class FileByteStream final : public ByteStream {
 public:
  FileByteStream(const std::filesystem::path& file, std::string name)
      : path_(file), name_(std::move(name)), descriptor_(open_to_read(file, name_)) {
    struct stat status {};
    if (::fstat(descriptor_.get(), &status) != 0) throw_unreadable(name_, errno);
    if (S_ISDIR(status.st_mode)) {
      throw InputError(name_ + ": is a folder, not a file; name the files in it that are to be read");
    }
    // Kernel files, as in /proc, report size 0 but are not empty: their size is known only after reading.
    if (!S_ISREG(status.st_mode)) return;
    find_path(status);
    // Standard input may have been read in part before.
    const off_t begin = ::lseek(descriptor_.get(), 0, SEEK_CUR);
    if (status.st_size == 0 || begin < 0) return;
    size_ = narrow<std::uint64_t>(std::max<off_t>(0, status.st_size - begin), "file size");
    // This is only advice: a refusal costs time, nothing else.
    (void)::posix_fadvise(descriptor_.get(), 0, 0, POSIX_FADV_SEQUENTIAL);
  }

  [[nodiscard]] std::optional<std::uint64_t> size() const noexcept override { return size_; }
  [[nodiscard]] const std::filesystem::path* regular_file() const noexcept override {
    return path_elsewhere_.empty() ? nullptr : &path_elsewhere_;
  }

 private:
  /// Finds a path by which another process can open the same file; /dev/stdin and deleted files have none.
  void find_path(const struct stat& status) {
    std::error_code code;
    const std::filesystem::path path = std::filesystem::canonical(path_, code);
    struct stat there {};
    if (code || ::stat(path.c_str(), &there) != 0) return;
    const bool same = there.st_dev == status.st_dev && there.st_ino == status.st_ino;
    if (same && ::lseek(descriptor_.get(), 0, SEEK_CUR) == 0) path_elsewhere_ = path;
  }

  std::size_t read_some(std::span<char> to) override {
    // Bytes that are appended meanwhile are not read, because their last line may be incomplete.
    if (size_) to = to.first(static_cast<std::size_t>(std::min<std::uint64_t>(to.size(), *size_ - done_)));
    if (to.empty()) return 0;
    for (;;) {
      const ssize_t got = ::read(descriptor_.get(), to.data(), to.size());
      if (got >= 0) {
        done_ += static_cast<std::uint64_t>(got);
        if (got == 0 && size_) throw_shortened();
        return static_cast<std::size_t>(got);
      }
      if (errno == EAGAIN || errno == EWOULDBLOCK) {
        wait_for_bytes();
      } else if (errno != EINTR) {
        throw_unreadable(name_, errno);
      }
    }
  }

  std::uint64_t skip_some(std::uint64_t count) override {
    if (!size_) return 0;
    count = std::min(count, *size_ - done_);
    if (::lseek(descriptor_.get(), narrow<off_t>(count, "file size"), SEEK_CUR) < 0) return 0;
    done_ += count;
    return count;
  }

  // Another process that shares the pipe may have made it non-blocking.
  void wait_for_bytes() const {
    pollfd waiting{.fd = descriptor_.get(), .events = POLLIN, .revents = 0};
    if (::poll(&waiting, 1, -1) < 0 && errno != EINTR) throw_unreadable(name_, errno);
  }

  [[noreturn]] void throw_shortened() const {
    throw InputError(
        fmt::format("{}: was shortened while it was read: {} of {} were there; read it again when it is complete",
                    name_, format_bytes(done_), format_bytes(*size_)));
  }

  std::filesystem::path path_;
  std::filesystem::path path_elsewhere_ = {};  ///< for regular_file(); empty if there is none
  std::string name_;
  OwnedDescriptor descriptor_;
  std::optional<std::uint64_t> size_;
  std::uint64_t done_ = 0;
};

class MemoryStream final : public ByteStream {
 public:
  explicit MemoryStream(std::span<const char> bytes) : size_(bytes.size()), rest_(bytes) {}
  [[nodiscard]] std::optional<std::uint64_t> size() const noexcept override { return size_; }

 private:
  std::size_t read_some(std::span<char> to) override {
    const std::size_t count = std::min(to.size(), rest_.size());
    std::copy_n(rest_.begin(), count, to.begin());
    rest_ = rest_.subspan(count);
    return count;
  }

  std::size_t size_;
  std::span<const char> rest_;
};

bool begins_as_gzip(std::span<const char> bytes) noexcept {
  return bytes.size() >= 2 && bytes[0] == '\x1f' && bytes[1] == '\x8b';
}

class GzipStream final : public ByteStream {
 public:
  GzipStream(std::unique_ptr<ByteStream> packed, std::string name)
      : packed_(std::move(packed)), name_(std::move(name)), input_(kInputBytes) {
    constexpr int kGzipOnly = 15 + 16;
    if (inflateInit2(&state_, kGzipOnly) != Z_OK) throw ResourceError("zlib has no memory to unpack a gzip file");
  }
  ~GzipStream() override { inflateEnd(&state_); }
  [[nodiscard]] bool is_gzip() const noexcept override { return true; }

 private:
  static constexpr std::size_t kInputBytes = std::size_t{1} << 17;

  std::size_t read_some(std::span<char> to) override {
    // Sizes in zlib have 32 bits.
    constexpr std::size_t kMostAtOnce = std::size_t{1} << 30;
    const auto capacity = static_cast<uInt>(std::min(kMostAtOnce, to.size()));
    state_.next_out = reinterpret_cast<Bytef*>(to.data());
    state_.avail_out = capacity;
    while (!is_done_ && state_.avail_out == capacity) {
      if (state_.avail_in == 0) refill();
      const int code = inflate(&state_, Z_NO_FLUSH);
      if (code == Z_STREAM_END) {
        finish_member();
      } else if (code == Z_MEM_ERROR) {
        throw ResourceError(fmt::format("{}: no memory to unpack the gzip file", name_));
      } else if (code != Z_OK && code != Z_BUF_ERROR) {
        throw_damaged(state_.msg != nullptr ? state_.msg : "damaged data");
      } else if (state_.avail_in == 0 && state_.avail_out == capacity && input_ended_) {
        throw InputError(fmt::format("{}: truncated gzip file: it ends within the packed data; fetch it again", name_));
      }
    }
    return capacity - state_.avail_out;
  }

  void refill() {
    const std::size_t got = packed_->read(input_.span());
    input_ended_ = got < input_.size();
    state_.next_in = reinterpret_cast<Bytef*>(input_.data());
    state_.avail_in = static_cast<uInt>(got);
  }

  /// After a member follows the end, another member, or zeros, with which tape archives are padded.
  void finish_member() {
    bool is_padded = false;
    for (;; ++state_.next_in, --state_.avail_in) {
      if (state_.avail_in == 0 && !input_ended_) refill();
      if (state_.avail_in == 0) {
        is_done_ = true;
        return;
      }
      if (*state_.next_in != 0) break;
      is_padded = true;
    }
    if (is_padded) throw_damaged("something follows the padding behind the packed data");
    inflateReset(&state_);
  }

  [[noreturn]] void throw_damaged(std::string_view reason) const {
    throw InputError(fmt::format("{}: damaged gzip file: {}; fetch it again", name_, reason));
  }

  std::unique_ptr<ByteStream> packed_;
  std::string name_;
  Buffer<char> input_;
  z_stream state_{};
  bool input_ended_ = false;
  bool is_done_ = false;
};

std::unique_ptr<ByteStream> unpacked(std::unique_ptr<ByteStream> stream, std::string name, Unpack unpack) {
  if (unpack == Unpack::nothing || !begins_as_gzip(stream->peek())) return stream;
  return std::make_unique<GzipStream>(std::move(stream), std::move(name));
}

}  // namespace

std::size_t ByteStream::fill(std::span<char> to) {
  std::size_t done = 0;
  while (done < to.size() && !is_at_end_) {
    const std::size_t got = read_some(to.subspan(done));
    is_at_end_ = got == 0;
    done += got;
  }
  return done;
}

std::size_t ByteStream::read(std::span<char> to) {
  const std::size_t ready = std::min(to.size(), ahead_.size() - ahead_begin_);
  std::copy_n(ahead_.begin() + static_cast<std::ptrdiff_t>(ahead_begin_), ready, to.begin());
  ahead_begin_ += ready;
  return ready + fill(to.subspan(ready));
}

std::uint64_t ByteStream::skip(std::uint64_t count) {
  const std::uint64_t ready = std::min<std::uint64_t>(count, ahead_.size() - ahead_begin_);
  ahead_begin_ += static_cast<std::size_t>(ready);
  std::uint64_t done = ready;
  if (!is_at_end_ && done < count) done += skip_some(count - done);
  std::vector<char> scratch(done < count ? std::size_t{1} << 16 : 0);
  while (done < count) {
    const std::span<char> block = std::span(scratch).first(std::min<std::uint64_t>(scratch.size(), count - done));
    const std::size_t got = fill(block);
    done += got;
    if (got < block.size()) break;
  }
  return done;
}

std::span<const char> ByteStream::peek() {
  if (ahead_.size() - ahead_begin_ < kPeekBytes) {
    ahead_.erase(ahead_.begin(), ahead_.begin() + static_cast<std::ptrdiff_t>(ahead_begin_));
    ahead_begin_ = 0;
    const std::size_t unread = ahead_.size();
    ahead_.resize(kPeekBytes);
    ahead_.resize(unread + fill(std::span(ahead_).subspan(unread)));
  }
  return std::span(ahead_).subspan(ahead_begin_);
}

std::string display_name(const std::filesystem::path& file) { return file == "-" ? "standard input" : file.string(); }

std::unique_ptr<ByteStream> open_stream(const std::filesystem::path& file, Unpack unpack) {
  return unpacked(std::make_unique<FileByteStream>(file, display_name(file)), display_name(file), unpack);
}

std::unique_ptr<ByteStream> stream_of(std::span<const char> bytes, std::string name, Unpack unpack) {
  return unpacked(std::make_unique<MemoryStream>(bytes), std::move(name), unpack);
}

}  // namespace epsflow::io
