#include <epsflow/pipeline/options.hpp>

#include <cmath>
#include <string>

#include <epsflow/core/error.hpp>

namespace epsflow {
namespace {

void require_at_most(const char* option, std::uint64_t value, std::uint64_t most) {
  if (value > most) {
    throw UsageError(std::string(option) + " is " + std::to_string(value) + "; 0 (automatic) to " +
                     std::to_string(most) + " are possible");
  }
}

}  // namespace

void check_options(const Options& options) {
  require_at_most("Options::threads", options.threads, kMostThreads);
  require_at_most("Options::tables", options.tables, kMostThreads);
  require_at_most("Options::lanes", options.lanes, kMostThreads);
  require_at_most("Options::lane_pairs", options.lane_pairs, kMostLanePairs);
  if (options.gpu < -1) {
    throw UsageError("Options::gpu is " + std::to_string(options.gpu) + "; GPUs are counted from 0, and -1 is any");
  }
  if (options.gpu >= 0 && options.backend == BackendChoice::cpu) {
    throw UsageError("Options::gpu asks for a GPU and Options::backend for the CPU; leave one of them out");
  }
  if (options.strategy == StrategyChoice::direct && table_wanted(options)) {
    throw UsageError(
        "Options::kernel, Options::format and Options::method are about tables, and Options::strategy = "
        "StrategyChoice::direct makes none; leave one of them out");
  }
  if ((emits_pairs(options.kernel) || options.format == FormatChoice::packed) &&
      (options.index == IndexChoice::tree || options.index == IndexChoice::all ||
       options.decide == DecideChoice::tensor64 || options.decide == DecideChoice::tensor16)) {
    throw UsageError(
        "Options::kernel other than rows and packed tables search a grid in float64; leave out Options::index and "
        "Options::decide");
  }
  if (options.backend == BackendChoice::cpu &&
      (options.decide == DecideChoice::tensor64 || options.decide == DecideChoice::tensor16)) {
    throw UsageError(
        "Options::decide asks for tensor cores, which a GPU has, and Options::backend for the CPU; leave one of them "
        "out");
  }
  if (options.labels == MemorySpace::device) {
    if (options.backend == BackendChoice::cpu) {
      throw UsageError(
          "Options::labels asks for labels on a GPU and Options::backend for the CPU; leave one of them out");
    }
    if (options.strategy == StrategyChoice::table || table_wanted(options) || options.verify) {
      throw UsageError(
          "Options::labels = MemorySpace::device needs labels that are made on the GPU, without a table and without "
          "Options::verify; leave out Options::strategy, kernel, format, method and verify");
    }
  }
  if (!(options.estimate_factor > 0) || !std::isfinite(options.estimate_factor)) {
    throw UsageError("Options::estimate_factor is " + std::to_string(options.estimate_factor) +
                     "; it must be a finite number > 0");
  }
}

}  // namespace epsflow
