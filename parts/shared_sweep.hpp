// A sweep that several engines of this process share, as the GPUs of a host do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <epsflow/core/metric.hpp>
#include <epsflow/core/option.hpp>
#include <epsflow/core/points.hpp>
#include <epsflow/core/points_source.hpp>
#include <epsflow/core/sweep.hpp>
#include <epsflow/parts/point_rows.hpp>
#include <epsflow/pipeline/engine.hpp>
#include <epsflow/pipeline/options.hpp>
#include <epsflow/pipeline/sweep.hpp>

namespace epsflow::parts {

/// Which devices share a sweep.
struct DeviceOptions {
  /// "all", or numbers of GPUs: "0,1". A GPU that is named twice is two devices with half of its memory each. Empty: EngineOptions says it.
  std::string gpus = {};

  friend bool operator==(const DeviceOptions&, const DeviceOptions&) = default;
};

/// The options of an engine for each of these devices, one or more: threads and memory of `engine` are divided between them, and so is the
/// memory of a GPU that is named several times. Throws UsageError where the list cannot be read, names a GPU that is not there, or
/// comes with EngineOptions::gpu or BackendChoice::cpu; ResourceError where "all" finds no GPU.
[[nodiscard]] std::vector<EngineOptions> engines_on(const DeviceOptions& devices, const EngineOptions& engine);

/// Whether an engine with these options works on the CPU.
[[nodiscard]] bool on_the_host(const EngineOptions& engine);

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
  /// The one device is the CPU. device_memory is that of the budget then, which holds the points and all labels, too.
  bool host = false;
  std::size_t levels = 1;  ///< minpts of an eps, at most
  /// They are in memory, all the time; else they are brought as they are needed.
  bool in_memory = true;
  /// The devices can cut the points into parts themselves.
  bool cut_by_devices = false;
};

/// The first rule that applies decides:
///   1. eps, or one where there is one eps or one engine, for what parts do not have: tables, verify, Keep::core, labels left on a device.
///   2. parts, where clustering all points needs more memory than one device, or the CPU, has; and if it needs more than all devices have, so many
///      that there is room for two at a time on each.
///   3. parts, one for each device, where devices cut 32 million points or more themselves, and eps would leave a fifth of them idle: one
///      eps, or three for two devices.
///   4. eps, or one.
/// Pure.
[[nodiscard]] SharingAnswer choose_sharing(const SharingQuestion& question, const RunOptions& run) noexcept;

/// The same for these engines. The memory of a GPU is asked for where its options leave it open.
[[nodiscard]] SharingAnswer choose_sharing(const PointRows& points, const Metric& metric, const Sweep& sweep,
                                           std::span<const EngineOptions> engines, const RunOptions& run,
                                           bool weights = false);

/// run_each() by several engines, or by one that cannot hold all: the same labels, bit for bit, in any order of variants. What the engines set
/// up stays for later sweeps; each takes its turns with whatever else it does. weights: empty, or
/// [n], as for Dataset::weighted(). sharing: null for choose_sharing()'s, or how; its parts are a multiple of the engines. on_result and
/// the callbacks of `observer` but before_stage are called by one engine at a time. Where parts turn out not to fit there are twice as many, three times at
/// most, or one run where a device holds all points. Of parts nothing is traced. Throws as run_each().
void run_each(PointsView points, const Metric& metric, const Sweep& sweep, const OnResult& on_result,
              std::span<const Engine> engines, const RunOptions& options = {}, const Observer& observer = {},
              std::span<const double> weights = {}, const SharingAnswer* sharing = nullptr);
/// The same by engines of its own, which are gone afterwards.
void run_each(PointsView points, const Metric& metric, const Sweep& sweep, const OnResult& on_result,
              std::span<const EngineOptions> engines, const RunOptions& options = {}, const Observer& observer = {},
              std::span<const double> weights = {}, const SharingAnswer* sharing = nullptr);

/// Whether a metric may move points, or asks where they lie: any but the norms, and those with a box or with scales.
[[nodiscard]] bool may_move(const Metric& metric);

/// The same of points that are not in memory, or not all: parts are brought as they are needed, several times. Where parts are not asked for,
/// or not to be had, and where the metric may move points, all are brought into memory first.
/// points.write is called from several threads at once, and may be called for any rows, any number of times.
void run_each(const PointsSource& points, const Metric& metric, const Sweep& sweep, const OnResult& on_result,
              std::span<const Engine> engines, const RunOptions& options = {}, const Observer& observer = {},
              std::span<const double> weights = {}, const SharingAnswer* sharing = nullptr);

void run_each(const PointsSource& points, const Metric& metric, const Sweep& sweep, const OnResult& on_result,
              std::span<const EngineOptions> engines, const RunOptions& options = {}, const Observer& observer = {},
              std::span<const double> weights = {}, const SharingAnswer* sharing = nullptr);

/// Engines with these options, made at once: setting up a GPU takes some 0.2 s. Throws as Engine.
[[nodiscard]] std::vector<Engine> make_engines(std::span<const EngineOptions> options, const Observer& observer = {});

}  // namespace epsflow::parts

namespace epsflow {
template <>
std::span<const Option<parts::DeviceOptions>> options_of<parts::DeviceOptions>() noexcept;
}  // namespace epsflow
