// Prints the best instruction set of this machine, as Highway numbers them.
#include <index/instruction_sets.hpp>
// This must come before any header of Highway.
#include <hwy/targets.h>

#include <cstdio>

int main() {
  const long long usable = hwy::SupportedTargets() & HWY_TARGETS;
  std::printf("%lld", usable & -usable);
}
