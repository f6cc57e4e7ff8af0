// Writing NPY: labels and points.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

#include <epsflow/core/points.hpp>

namespace epsflow::io {

/// labels: [n]. Little-endian int32, one dimension. Atomic. Throws ResourceError.
void write_npy(const std::filesystem::path& file, std::span<const std::int32_t> labels);

/// points: [n × d]. Little-endian float32 or float64, C order. Atomic. Throws ResourceError.
void write_npy(const std::filesystem::path& file, PointsView points);

}  // namespace epsflow::io
