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

/// Throws UsageError, ResourceError where make_backend() would: for a backend or a GPU that is not there.
void check_backend(const Options& options);

/// The backend that the options ask for, working with so many threads. Where the choice is automatic and this build
/// could use a GPU but finds none that it can, it is the CPU's, and `notice` is called with the reason. Throws
/// UsageError, ResourceError.
[[nodiscard]] std::unique_ptr<Backend> make_backend(const Options& options, unsigned threads,
                                                    const std::function<void(const std::string&)>& notice);

}  // namespace epsflow
