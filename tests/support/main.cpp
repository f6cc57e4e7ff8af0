// Catch2 2 leaves main() to the user; Catch2 3 brings its own in Catch2WithMain.
#if !__has_include(<catch2/catch_all.hpp>)
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
#endif

#include <cstdlib>

// Tests have few points, and where there is a GPU they are to run there.
static const int kPrefersGpu = setenv("EPSFLOW_BACKEND", "gpu", 0);  // NOLINT: kept by nobody
