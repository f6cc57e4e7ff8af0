// How a sweep is shared by the engines that are there, from counts alone.
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

/// How a sweep is shared.
enum class Sharing : std::uint8_t {
  one,    ///< not at all: the first engine makes it
  eps,    ///< each engine has all points, and takes one eps after the other
  parts,  ///< each engine has a part of space, or several that take turns
};

struct SharingAnswer {
  Sharing sharing = Sharing::one;
  std::string_view reason = {};  ///< in words
  std::size_t parts = 1;         ///< of space
  bool fits_one = false;         ///< parts are for speed alone: each device holds all points, too
};

/// What is known of a sweep before it is shared.
struct SharingQuestion {
  std::size_t engines = 1;
  std::size_t eps = 1;  ///< of the sweep
  std::uint64_t points = 0;
  std::uint64_t bytes = 0;          ///< of their coordinates
  std::uint64_t device_memory = 0;  ///< that the smallest of the devices has; 0 where there is no limit
  bool weights = false;
  bool slices = false;
  /// The one device is the CPU. device_memory is that of the budget then, which holds the points and all labels, too.
  bool host = false;
  std::size_t levels = 1;  ///< minpts of an eps, at most
  /// They are in memory, all the time; else they are brought as they are needed.
  bool in_memory = true;
  /// The devices can cut the points into parts themselves.
  bool cut_by_devices = false;
};

/// The first rule that applies decides:
///   1. eps, or one where there is one eps or one engine, for what parts do not have: slices, tables, verify, Keep::core, labels left on a device.
///   2. parts, where clustering all points needs more memory than one device, or the CPU, has; and if it needs more than all devices have, so many
///      that there is room for two at a time on each.
///   3. parts, one for each device, where devices cut 32 million points or more themselves, and eps would leave a fifth of them idle: one
///      eps, or three for two devices.
///   4. eps, or one.
/// Pure.
[[nodiscard]] SharingAnswer choose_sharing(const SharingQuestion& question, const RunOptions& run) noexcept;

/// The same for these points and engines. The options of a single engine go through with_backend() first. If options leave the memory of a GPU
/// open, the GPU is queried.
[[nodiscard]] SharingAnswer choose_sharing(const PointSet& points, const Sweep& sweep,
                                           std::span<const EngineOptions> engines, const RunOptions& run);

/// Whether a metric may move points, or asks where they lie: any but the norms, and those with a box or with scales.
[[nodiscard]] bool may_move(const Metric& metric);

}  // namespace epsflow::parts
