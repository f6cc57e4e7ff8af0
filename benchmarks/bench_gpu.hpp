// Parts of bench_gpu in source files of their own. The first plain word selects the part.
#pragma once

#include "bench.hpp"

int bench_catalog(const epsflow::bench::Words& words);
int bench_direct(const epsflow::bench::Words& words);
int bench_tiles(const epsflow::bench::Words& words);
