// Points that are generated on the device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include <epsflow/core/device_array.hpp>
#include <epsflow/gpu/base/memory.hpp>
#include <epsflow/gpu/base/stream.hpp>

namespace epsflow::bench {

/// The points of the options --uniform, --uniform32, --lattice and --haloes (bench_direct.cpp).
enum class Shape : std::uint8_t { uniform, uniform32, lattice, haloes };

/// Returns the shape for an option such as --lattice.
[[nodiscard]] std::optional<Shape> shape_of(std::string_view option);

struct MadePoints {
  Shape shape = Shape::uniform;
  std::uint64_t size = 0;  ///< the number of points
};

/// Returns the bytes of the coordinates.
[[nodiscard]] std::uint64_t bytes_of(const MadePoints& points);

/// Writes the points, which are the same on every machine, to `to`, which must have room for them. Synchronises.
[[nodiscard]] DevicePointsView make_points(const MadePoints& points, std::byte* to, gpu::DeviceMemory& memory,
                                           const gpu::Stream& stream);

}  // namespace epsflow::bench
