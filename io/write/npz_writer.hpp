// Writing NPZ: several arrays in one file, as numpy.load() reads it.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <utility>

#include <epsflow/io/write/npy_writer.hpp>

namespace epsflow::io {

/// Arrays by name, not compressed. file: is made, or replaced. Throws UsageError in a build without libzip,
/// ResourceError.
void write_npz(const std::filesystem::path& file, std::span<const std::pair<std::string, NpyArray>> arrays);

}  // namespace epsflow::io
