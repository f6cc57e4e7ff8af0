// The backends that there are, and whether the one asked for can be used.
#pragma once

#include <string>
#include <vector>

#include <epsflow/pipeline/options.hpp>

namespace epsflow {

/// A backend, and what it found on this machine.
struct BackendInfo {
  std::string name;
  bool usable = true;
  std::string detail;
  bool present = true;  ///< the machine has such a device, whether or not it can be used
};
[[nodiscard]] std::vector<BackendInfo> backends();

/// Throws UsageError, ResourceError as a run with these options would: for a backend or a GPU that is not there.
void check_backend(const Options& options);

}  // namespace epsflow
