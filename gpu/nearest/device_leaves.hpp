// Points on a GPU in the order of a curve, with a hierarchy of boxes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include <epsflow/gpu/base/memory.hpp>
#include <epsflow/gpu/base/stream.hpp>
#include <epsflow/gpu/grid/device_points.hpp>
#include <epsflow/gpu/nearest/nearest_kernels.hpp>

namespace epsflow::gpu {

/// Returns true if DeviceLeaves::of() may be called: there are points, the space is plain and has up to three
/// dimensions, and the largest extent of the points along an axis is 0 or between 1e-140 and 1e150.
[[nodiscard]] bool can_order(const DevicePoints& points);

/// Owns the arrays of a LeafView. Move-only. Its stream must outlive it.
class DeviceLeaves {
 public:
  /// Returns nothing if the curve does not distinguish enough points. Waits. The GPU must be the current one. Throws
  /// DeviceError.
  [[nodiscard]] static std::optional<DeviceLeaves> of(const DevicePoints& points, DeviceMemory& memory,
                                                      const Stream& stream);

  [[nodiscard]] const LeafView& view() const noexcept { return view_; }

 private:
  DeviceLeaves() = default;

  LeafView view_;
  DeviceBuffer<std::byte> coordinates_;
  DeviceBuffer<std::byte> boxes_;
  DeviceBuffer<std::uint32_t> order_;
};

}  // namespace epsflow::gpu
