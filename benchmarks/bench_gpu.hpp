// Parts of bench_gpu that have a source file of their own. The first plain word chose them.
#pragma once

#include "bench.hpp"

int bench_catalog(const epsflow::bench::Words& words);
int bench_direct(const epsflow::bench::Words& words);
int bench_tiles(const epsflow::bench::Words& words);
