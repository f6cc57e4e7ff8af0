// Writes NPZ: several arrays in one file, for numpy.load().
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include <epsflow/io/write/npy_writer.hpp>

namespace epsflow::io {

/// Writes arrays to a file one after the other, not compressed. The same arrays make the same bytes. Not thread-safe.
class NpzWriter {
 public:
  /// Creates `file`, or empties it. Errors name `target`. Throws ResourceError.
  NpzWriter(const std::filesystem::path& file, const std::filesystem::path& target) : out_(file, target) {}

  /// Writes an array. `name` is without .npy. Throws ResourceError.
  void add(std::string_view name, const NpyArray& array);
  /// Writes the list of the arrays, without which the file is not readable, and closes it. Throws ResourceError.
  void close();

 private:
  void write(std::string_view bytes);

  FileStream out_;
  std::uint64_t written_ = 0;
  std::uint64_t arrays_ = 0;
  std::string directory_;
};

}  // namespace epsflow::io
