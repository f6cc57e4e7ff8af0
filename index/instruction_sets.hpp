// The instruction sets that vector code is compiled for. Must be included before any header of Highway.
#pragma once

// These sets are left out: they add nothing here, or their vectors have no size at compile time.
#define EPSFLOW_UNUSED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#ifdef EPSFLOW_BEST_TARGET  // EPSFLOW_INSTRUCTION_SETS=native
#define HWY_DISABLED_TARGETS (EPSFLOW_UNUSED_TARGETS | ~(EPSFLOW_BEST_TARGET | HWY_BASELINE_TARGETS))
#else
#define HWY_DISABLED_TARGETS EPSFLOW_UNUSED_TARGETS
#endif
