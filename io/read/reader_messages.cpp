#include <epsflow/io/read/reader_messages.hpp>

#include <cerrno>

#include <sys/socket.h>
#include <unistd.h>

namespace epsflow::io {

void Connection::send_bytes(const void* from, std::uint64_t count) const {
  const auto* at = static_cast<const std::byte*>(from);
  while (count > 0) {
    ssize_t written = ::send(out_, at, count, MSG_NOSIGNAL);  // raises no signal if nobody reads
    if (written < 0 && errno == ENOTSOCK) written = ::write(out_, at, count);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) throw BadValues();
    at += written;
    count -= static_cast<std::uint64_t>(written);
  }
}

void Connection::receive_bytes(void* to, std::uint64_t count) const {
  auto* at = static_cast<std::byte*>(to);
  while (count > 0) {
    const ssize_t got = ::read(in_, at, count);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) throw BadValues();
    at += got;
    count -= static_cast<std::uint64_t>(got);
  }
}

}  // namespace epsflow::io
