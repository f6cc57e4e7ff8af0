// The choice of backend: the one place that knows which there are.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <epsflow/core/backend.hpp>
#include <epsflow/pipeline/options.hpp>

namespace epsflow {

/// A backend that works on this machine, and what it found there.
struct BackendInfo {
  std::string name;
  std::string detail;
};
[[nodiscard]] std::vector<BackendInfo> backends();

[[nodiscard]] std::unique_ptr<Backend> make_backend(BackendChoice choice, unsigned threads);

}  // namespace epsflow
