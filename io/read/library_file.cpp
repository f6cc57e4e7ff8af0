#include <epsflow/io/read/library_file.hpp>

#include <cerrno>
#include <cstring>
#include <string>

#include <sys/mman.h>
#include <unistd.h>

#include <epsflow/core/buffer.hpp>
#include <epsflow/core/format.hpp>

namespace epsflow::io {
namespace {

[[noreturn]] void throw_over_budget(const Source& source) {
  throw source.error<ResourceError>(
      "its bytes are more than the {} that are left to read them; raise ReadOptions::memory",
      format_bytes(memory_left(source)));
}

}  // namespace

OwnedDescriptor::~OwnedDescriptor() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

int write_all(int descriptor, std::span<const char> bytes) noexcept {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return written < 0 ? errno : EIO;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return 0;
}

std::filesystem::path path_of_descriptor(int descriptor) { return "/proc/self/fd/" + std::to_string(descriptor); }

LibraryFile library_file(ByteStream& stream, const Source& source) {
  if (stream.peek().empty()) throw source.error("empty: the file has no bytes");
  // The size of a kernel file, as in /proc, is not known.
  if (const std::filesystem::path* const path = stream.regular_file(); path != nullptr && stream.size()) {
    return {.path = *path, .size = *stream.size()};
  }
  constexpr std::size_t kBlockBytes = std::size_t{1} << 20;
  LibraryFile file{.path = {}, .memory = OwnedDescriptor(::memfd_create("epsflow", MFD_CLOEXEC))};
  if (file.memory.get() < 0) {
    throw ResourceError(
        fmt::format("no file in memory: {}; close files or raise the limit (ulimit -n)", std::strerror(errno)));
  }
  const std::uint64_t budget = memory_left(source);
  if (stream.size().value_or(0) > budget) throw_over_budget(source);
  Buffer<char> block(kBlockBytes);
  for (std::size_t got = kBlockBytes; got == kBlockBytes;) {
    got = stream.read(block.span());
    if (got > budget - file.size) throw_over_budget(source);
    if (const int reason = write_all(file.memory.get(), block.span().first(got)); reason != 0) {
      throw source.error<ResourceError>("no memory to hold its bytes: {}; end other programs", std::strerror(reason));
    }
    file.size += got;
  }
  file.path = path_of_descriptor(file.memory.get());
  file.memory_taken = file.size;
  return file;
}

}  // namespace epsflow::io
