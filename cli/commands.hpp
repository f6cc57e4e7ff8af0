// The commands of the program. Each takes the words behind its name and returns the exit code.
#pragma once

#include <epsflow/cli/arguments.hpp>

namespace epsflow::cli {

/// Exit codes. 1 stands for a defect of epsflow itself.
inline constexpr int kDone = 0;
inline constexpr int kUsage = 2;
inline constexpr int kInput = 3;
inline constexpr int kResources = 4;
inline constexpr int kInterrupted = 130;

int run_sweep(const Words& words);
int run_cluster(const Words& words);
int run_neighbors(const Words& words);
int run_generate(const Words& words);
int run_info(const Words& words);

}  // namespace epsflow::cli
