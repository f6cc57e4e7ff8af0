// How the program ends where something fails.
#pragma once

#include <string>

#include <epsflow/cli/commands.hpp>

namespace epsflow::cli {

struct Failure {
  int code = kDone;
  std::string text = {};  ///< for say(); empty where there is nobody to tell
};

/// What the exception means that is being handled: to be called in a catch block.
[[nodiscard]] Failure current_failure();

}  // namespace epsflow::cli
