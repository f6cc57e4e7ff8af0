// Chooses how the engines of a process share a sweep, from counts alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <epsflow/core/metric.hpp>
#include <epsflow/core/sweep.hpp>
#include <epsflow/pipeline/options.hpp>
#include <epsflow/pipeline/point_set.hpp>

namespace epsflow::parts {

/// How the engines of a process share a sweep.
enum class Sharing : std::uint8_t {
  one,    ///< no sharing: the first engine runs all of it
  eps,    ///< each engine holds all points and runs one eps after another
  parts,  ///< each engine holds a part of space, or several parts in turn
};

struct SharingAnswer {
  Sharing sharing = Sharing::one;
  std::string_view reason = {};  ///< one sentence for the user
  std::size_t parts = 1;         ///< number of parts of space; 1 unless Sharing::parts
  bool fits_one = false;         ///< Sharing::parts: each device could hold all points, and parts only save time
};

/// The figures of a sweep from which its sharing is chosen.
struct SharingQuestion {
  std::size_t engines = 1;
  std::size_t eps = 1;  ///< number of different eps
  std::uint64_t points = 0;
  std::uint64_t bytes = 0;          ///< bytes of the coordinates
  std::uint64_t device_memory = 0;  ///< bytes of the smallest device memory; 0: enough for any points
  bool weights = false;
  bool slices = false;
  /// True if the only device is the CPU. Then device_memory is the budget, which also holds points and all labels.
  bool host = false;
  std::size_t levels = 1;  ///< the largest number of minpts of one eps; read only if `host`
  /// True if the points stay in memory. If false, they are read when they are needed. Read only if `host`.
  bool in_memory = true;
  /// True if the devices can cut the points into parts themselves.
  bool cut_by_devices = false;
};

/// The first rule that applies decides:
///   1. eps (or one, if there is one eps or one engine), if the sweep needs something that parts lack: slices, tables,
///      verify, Keep::core, labels left on a device.
///   2. parts, if clustering all points needs more memory than one device (or the CPU) has: one for each device, but if
///      all devices together have too little memory, such small parts that each device can hold two at a time. The CPU
///      always gets such small parts; but one, if it would need more than kMostParts (256), or if points and labels
///      alone need all of its memory.
///   3. parts, one for each device, if there are several devices, which can cut the points themselves, and at least 32
///      million points, and sharing by eps would leave at least a fifth of the devices idle, as with one eps, or with
///      three on two devices.
///   4. eps; but one, if there is one eps or one engine.
/// Pure.
[[nodiscard]] SharingAnswer choose_sharing(const SharingQuestion& question, const RunOptions& run) noexcept;

/// Chooses for these points and engines. The options of a single engine go through with_backend() first. If the options
/// do not limit the memory of a GPU, the GPU is queried, unless so little memory is needed that any GPU has it. Throws
/// UsageError if an engine has loaded the points or if options are invalid, and ResourceError if a requested GPU cannot
/// be used.
[[nodiscard]] SharingAnswer choose_sharing(const PointSet& points, const Sweep& sweep,
                                           std::span<const EngineOptions> engines, const RunOptions& run);

/// True if a metric may transform points or depends on their extent. False only for norms without a box and without
/// scales.
[[nodiscard]] bool may_move(const Metric& metric);

}  // namespace epsflow::parts
