// Writes NPZ: several arrays in one file, for numpy.load().
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <utility>

#include <epsflow/io/write/npy_writer.hpp>

namespace epsflow::io {

/// Writes arrays by name, not compressed, to `file`, which is replaced. Throws UsageError without libzip,
/// ResourceError.
void write_npz(const std::filesystem::path& file, std::span<const std::pair<std::string, NpyArray>> arrays);

}  // namespace epsflow::io
