#include <epsflow/io/read/reader_messages.hpp>

#include <cerrno>

#include <sys/socket.h>
#include <unistd.h>

namespace epsflow::io {
namespace {

/// Changes with what a request or an answer holds.
constexpr std::string_view kVersion = "epsflow-reader 8";

}  // namespace

void MessageWriter::bytes(const void* from, std::uint64_t count) {
  const auto* at = static_cast<const std::byte*>(from);
  while (count > 0) {
    ssize_t written = ::send(descriptor_, at, count, MSG_NOSIGNAL);
    if (written < 0 && errno == ENOTSOCK) written = ::write(descriptor_, at, count);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) throw BadMessage();
    at += written;
    count -= static_cast<std::uint64_t>(written);
  }
}

std::string MessageReader::text() {
  const auto size = value<std::uint64_t>();
  if (size > kLongestText) throw BadMessage();
  std::string text(size, '\0');
  bytes(text.data(), size);
  return text;
}

void MessageReader::bytes(void* to, std::uint64_t count) {
  auto* at = static_cast<std::byte*>(to);
  while (count > 0) {
    const ssize_t got = ::read(descriptor_, at, count);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) throw BadMessage();
    at += got;
    count -= static_cast<std::uint64_t>(got);
  }
}

void write_request(const ReadRequest& request, MessageWriter to) {
  to.text(kVersion);
  to.value(request.parent);
  to.value(request.patience);
  for (const std::string* const text :
       {&request.format, &request.name, &request.path, &request.options.table, &request.options.weight}) {
    to.text(*text);
  }
  for (const std::uint64_t number : {request.size, request.file_memory, request.memory_taken, request.options.memory,
                                     request.options.share.index, request.options.share.count}) {
    to.value(number);
  }
  to.value(request.chooses);
  to.value(request.neighbors);
  to.value(request.options.external_storage);
  to.value(request.options.particles);
  to.value(request.options.on_nan);
  to.value(std::uint64_t{request.options.columns.size()});
  for (const std::string& column : request.options.columns) to.text(column);
}

ReadRequest read_request(MessageReader from) {
  if (from.text() != kVersion) throw BadMessage();
  ReadRequest request;
  request.parent = from.value<pid_t>();
  request.patience = from.value<std::chrono::seconds>();
  for (std::string* const text :
       {&request.format, &request.name, &request.path, &request.options.table, &request.options.weight}) {
    *text = from.text();
  }
  for (std::uint64_t* const number :
       {&request.size, &request.file_memory, &request.memory_taken, &request.options.memory,
        &request.options.share.index, &request.options.share.count}) {
    *number = from.value<std::uint64_t>();
  }
  if (request.options.share.index >= request.options.share.count) throw BadMessage();
  request.chooses = from.value<bool>();
  request.neighbors = from.value<bool>();
  request.options.external_storage = from.value<bool>();
  request.options.particles = from.value<Particles>();
  request.options.on_nan = from.value<NanPolicy>();
  request.options.columns.resize(from.value<std::uint64_t>());
  for (std::string& column : request.options.columns) column = from.text();
  return request;
}

}  // namespace epsflow::io
