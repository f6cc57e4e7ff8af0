// The choice of backend: the one place that knows which there are.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <epsflow/core/backend.hpp>
#include <epsflow/pipeline/options.hpp>

namespace epsflow {

/// A backend, and what it found on this machine.
struct BackendInfo {
  std::string name;
  bool usable = true;
  std::string detail;
};
[[nodiscard]] std::vector<BackendInfo> backends();

/// The backend that the options ask for, working with so many threads. Where the choice is automatic and a GPU is there
/// but cannot be used, `notice` is called with the reason, and it is the CPU's. Throws UsageError, ResourceError.
[[nodiscard]] std::unique_ptr<Backend> make_backend(const Options& options, unsigned threads,
                                                    const std::function<void(const std::string&)>& notice);

}  // namespace epsflow
