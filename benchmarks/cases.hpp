// The cases of the program `bench`. Its table in bench.cpp has their words and what each times. Each returns false if
// results that should be equal are not.
#pragma once

#include "bench.hpp"

namespace epsflow::bench {

bool time_sweep(const Words& words);
bool time_read(const Words& words);
bool time_map(const Words& words);
bool time_nearest(const Words& words);
bool time_trees(const Words& words);
bool time_predict(const Words& words);
bool time_parts(const Words& words);
bool time_slices(const Words& words);
bool time_velocities(const Words& words);
bool time_window(const Words& words);

// With CUDA alone:
bool time_catalog(const Words& words);
bool time_direct(const Words& words);
bool time_kernels(const Words& words);
bool time_start(const Words& words);
bool time_tables(const Words& words);
bool time_tiles(const Words& words);

}  // namespace epsflow::bench
