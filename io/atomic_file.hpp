// Files that appear whole or not at all.
#pragma once

#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>

namespace epsflow::io {

/// A name beside `target` for a file that commit_file() will move there. Creates the parent folder where it is missing.
/// Throws ResourceError when that fails.
[[nodiscard]] std::filesystem::path temporary_beside(const std::filesystem::path& target);

/// Moves `temporary` to `target` in one step, over an older file. Throws ResourceError, and removes `temporary`, on
/// failure.
void commit_file(const std::filesystem::path& temporary, const std::filesystem::path& target);

/// Writes beside the target and moves it there at commit(); without commit() nothing is left behind.
class AtomicFile {
 public:
  /// Throws ResourceError naming the file and the system's reason.
  explicit AtomicFile(std::filesystem::path target);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;  // owns the temporary file
  AtomicFile& operator=(const AtomicFile&) = delete;

  /// Throw ResourceError when the bytes cannot be written, as on a full disk.
  void write(std::span<const std::byte> bytes);
  void write(std::string_view text) { write(std::as_bytes(std::span(text.data(), text.size()))); }
  void commit();

 private:
  struct Close {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
  };

  std::filesystem::path target_;
  std::filesystem::path temporary_;
  std::unique_ptr<std::FILE, Close> file_;
};

/// The whole of `text` as the file `target`.
void write_text_file(const std::filesystem::path& target, std::string_view text);

}  // namespace epsflow::io
