#include <epsflow/parts/choose_sharing.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <vector>

#include <epsflow/core/device_part.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/index/cell_axes.hpp>
#include <epsflow/parts/engines.hpp>
#include <epsflow/parts/local_sweep.hpp>
#include <epsflow/parts/transformed_points.hpp>
#include <epsflow/pipeline/backends.hpp>
#include <epsflow/pipeline/host_bytes.hpp>
#include <epsflow/pipeline/session.hpp>
#include <epsflow/pipeline/workers.hpp>

namespace epsflow::parts {
namespace {

/// Bytes of a point to cluster without a table, in addition to its coordinates, which are there twice: index and sets
/// (measured: 27 to 36), counts for several minpts (4), labels (4).
constexpr std::uint64_t kBytesPerPoint = 44;
/// Additional bytes of a point if clusters are requested as objects, and of a point of a part.
constexpr std::uint64_t kBytesOfLineage = 12;
constexpr std::uint64_t kBytesPerPartPoint = 8;
/// The number of the part in which a point lies.
constexpr std::uint64_t kHostBytesPerPartNumber = 2;
/// The memory of a GPU is queried, which starts it, only if more than this is needed.
constexpr std::uint64_t kFitsAnyGpu = 2_GiB;
/// Cutting points on devices costs about 10 ms, the time to cluster this many points on one device.
constexpr std::uint64_t kFewestCutByDevices = 32'000'000;
/// Sharing by eps may leave less than a fifth of the devices idle.
constexpr std::size_t kShareOfIdle = 5;

/// True if the options permit a grid with the scalar test, which devices use for parts.
bool grid_wanted(const RunOptions& run) {
  return (run.search.index == IndexChoice::automatic || run.search.index == IndexChoice::grid) &&
         (run.search.decide == DecideChoice::automatic || run.search.decide == DecideChoice::scalar);
}

/// True if each engine has a GPU of its own.
bool apart(std::span<const EngineOptions> engines) {
  std::set<unsigned> gpus;
  return std::ranges::all_of(
      engines, [&](const EngineOptions& engine) { return engine.gpu && gpus.insert(*engine.gpu).second; });
}

bool parts_can(const RunOptions& run) {
  return !run.verify && run.keep != Keep::core && run.labels == MemorySpace::host &&
         run.strategy != StrategyChoice::table && !table_wanted(run);
}

std::uint64_t bytes_needed(const SharingQuestion& question, const RunOptions& run) {
  return 2 * question.bytes + question.points * (kBytesPerPoint + (question.weights ? kBytesPerWeight : 0) +
                                                 (run.clusters ? kBytesOfLineage : 0));
}

/// Adds memory for ghosts and for parts of unequal size.
std::uint64_t with_ghosts(std::uint64_t bytes) { return bytes + bytes / 7; }

/// Returns the number of parts of which two at a time fit into each device.
std::size_t parts_in_turns(std::uint64_t needed, std::uint64_t device_memory, std::size_t engines) {
  const double parts =
      static_cast<double>(kTogether) * static_cast<double>(with_ghosts(needed)) / static_cast<double>(device_memory);
  const auto of_engine = static_cast<std::size_t>(std::ceil(parts / static_cast<double>(engines)));
  return std::max<std::size_t>(2, of_engine) * engines;
}

/// Chooses for points that the CPU clusters within the memory budget.
SharingAnswer choose_host_sharing(const SharingQuestion& question, const RunOptions& run) noexcept {
  constexpr SharingAnswer kOne{Sharing::one, "all points fit the one device"};
  const std::uint64_t needed = question.bytes + question.points * host_bytes(question.levels, question.weights);
  const std::uint64_t held = question.in_memory ? question.bytes : 0;
  if (question.device_memory == 0 || question.bytes + needed <= question.device_memory) return kOne;
  const std::uint64_t labels = labels_retained(run) ? question.points * kBytesPerLabel : 0;
  const std::uint64_t retained = held + question.points * kHostBytesPerPartNumber +
                                 std::clamp(question.device_memory / kHostLabelShare, labels, labels * question.levels);
  // Then one run reports how much memory is needed.
  constexpr SharingAnswer kTooMuch{Sharing::one, "points and labels alone are more than the memory holds"};
  if (retained >= question.device_memory) return kTooMuch;
  const std::uint64_t of_parts = needed + question.bytes + question.points * kHostBytesPerPartPoint;
  const std::size_t parts = parts_in_turns(of_parts, question.device_memory - retained, 1);
  if (parts > kMostParts) return kTooMuch;
  return {Sharing::parts, "clustering all points takes more than the memory holds", parts};
}

}  // namespace

SharingAnswer choose_sharing(const SharingQuestion& question, const RunOptions& run) noexcept {
  const auto whole = [&](std::string_view of_one_eps, std::string_view of_several) {
    return question.engines < 2 || question.eps < 2 ? SharingAnswer{Sharing::one, of_one_eps}
                                                    : SharingAnswer{Sharing::eps, of_several};
  };
  if (question.slices || !parts_can(run)) {
    constexpr std::string_view kLacking = "parts of space do not have what is asked for";
    return whole(kLacking, kLacking);
  }
  if (question.host) return choose_host_sharing(question, run);
  const std::uint64_t whole_needs = bytes_needed(question, run);
  if (question.device_memory != 0 && whole_needs > question.device_memory) {
    const std::uint64_t needed = whole_needs + question.points * kBytesPerPartPoint;
    if (with_ghosts(needed) <= question.device_memory * question.engines) {
      return {Sharing::parts, "all points are more than one device holds", question.engines};
    }
    return {Sharing::parts, "all points are more than the memory of GPUs holds",
            parts_in_turns(needed, question.device_memory, question.engines)};
  }
  if (question.engines < 2) return {Sharing::one, "all points fit the one device"};
  const std::size_t rounds = (question.eps + question.engines - 1) / question.engines;
  if (question.cut_by_devices && question.points >= kFewestCutByDevices &&
      kShareOfIdle * (rounds * question.engines - question.eps) >= rounds * question.engines) {
    return {Sharing::parts, "each device clusters a part, which the devices cut themselves", question.engines, true};
  }
  return whole("all points fit one device, which is done with one eps before they are in parts",
               "all points fit each device, and nothing has to be sent");
}

bool may_move(const Metric& metric) { return !metric.box.empty() || !is_identity(metric, {}, 0, 0); }

SharingAnswer choose_sharing(const PointSet& given, const Sweep& sweep, std::span<const EngineOptions> engines,
                             const RunOptions& run) {
  const PointRows& points = given.host_rows();
  std::vector<double> eps;
  eps.reserve(sweep.size());
  for (const Variant& variant : sweep.variants()) eps.push_back(variant.eps);
  std::sort(eps.begin(), eps.end());
  SharingQuestion question{.engines = engines.size(),
                           .eps = static_cast<std::size_t>(std::unique(eps.begin(), eps.end()) - eps.begin()),
                           .points = points.size(),
                           .bytes = std::uint64_t{points.size()} * points.row_bytes(),
                           .weights = !given.weights.empty(),
                           .slices = !given.slices.empty(),
                           .in_memory = points.in_memory()};
  std::optional<EngineOptions> one;
  if (engines.size() == 1) engines = {&one.emplace(with_backend(given, engines.front(), run)), 1};
  if (one && on_the_host(*one)) {
    question.host = true;
    question.device_memory = resolved(*one).memory;
    question.levels = most_levels(sweep);
    return choose_sharing(question, run);
  }
  const bool small = bytes_needed(question, run) < kFitsAnyGpu;
  for (const EngineOptions& engine : engines) {
    if (small && engine.gpu_memory == 0) continue;
    const std::uint64_t memory = gpu_memory_of(engine);
    question.device_memory = question.device_memory == 0 ? memory : std::min(question.device_memory, memory);
  }
  // With more dimensions or tiles, parts lack features of one device. Images in a periodic box are found by the host.
  question.cut_by_devices = !question.weights && points.in_memory() && given.metric.box.empty() &&
                            points.dims() <= index::kMostDenseBoxDims && engines.size() <= kMostDeviceParts &&
                            grid_wanted(run) && apart(engines);
  return choose_sharing(question, run);
}

}  // namespace epsflow::parts
