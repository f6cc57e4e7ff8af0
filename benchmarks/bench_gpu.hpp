// Parts of bench_gpu that have a source file of their own. argv[0]: the word that chose them.
#pragma once

int bench_catalog(int argc, char** argv);
int bench_direct(int argc, char** argv);
int bench_tiles(int argc, char** argv);
