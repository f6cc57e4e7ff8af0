#include <epsflow/io/atomic_file.hpp>

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>
#include <utility>

#include <epsflow/core/error.hpp>

namespace epsflow::io {
namespace {

[[noreturn]] void fail_to_write(const std::filesystem::path& target, const std::string& reason) {
  throw ResourceError("cannot write " + target.string() + ": " + reason +
                      "; free space, fix the permissions or choose another place with --out");
}

}  // namespace

std::filesystem::path temporary_beside(const std::filesystem::path& target) {
  std::error_code code;
  if (target.has_parent_path()) {
    std::filesystem::create_directories(target.parent_path(), code);
    if (code) fail_to_write(target, "the folder cannot be made: " + code.message());
  }
  if (std::filesystem::is_directory(target, code)) fail_to_write(target, "it is a folder");
  std::filesystem::path temporary = target;
  temporary += ".part-" + std::to_string(getpid());
  return temporary;
}

void commit_file(const std::filesystem::path& temporary, const std::filesystem::path& target) {
  std::error_code code;
  std::filesystem::rename(temporary, target, code);
  if (!code) return;
  const std::string reason = code.message();
  std::filesystem::remove(temporary, code);
  fail_to_write(target, reason);
}

AtomicFile::AtomicFile(std::filesystem::path target)
    : target_(std::move(target)), temporary_(temporary_beside(target_)), file_(std::fopen(temporary_.c_str(), "wb")) {
  if (file_ == nullptr) fail_to_write(target_, std::strerror(errno));
}

AtomicFile::~AtomicFile() {
  if (file_ == nullptr) return;
  file_.reset();
  std::error_code code;
  std::filesystem::remove(temporary_, code);
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) != bytes.size()) {
    fail_to_write(target_, std::strerror(errno));
  }
}

void AtomicFile::commit() {
  // fclose() reports what the last flush could not write, so the file counts as written only after it.
  const bool flushed = std::fflush(file_.get()) == 0;
  const int error = errno;
  const bool closed = std::fclose(file_.release()) == 0;
  if (!flushed || !closed) {
    const std::string reason = std::strerror(flushed ? errno : error);
    std::error_code code;
    std::filesystem::remove(temporary_, code);
    fail_to_write(target_, reason);
  }
  commit_file(temporary_, target_);
}

void write_text_file(const std::filesystem::path& target, std::string_view text) {
  AtomicFile file(target);
  file.write(text);
  file.commit();
}

}  // namespace epsflow::io
