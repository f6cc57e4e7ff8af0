// Times one part of epsflow and prints a line of JSON. Without words it prints the cases, which the table below lists.
#include <exception>
#include <iostream>
#include <string_view>

#include "cases.hpp"

namespace {

using namespace epsflow::bench;

struct Case {
  std::string_view name;
  std::string_view usage;  ///< as Words needs it
  std::string_view what;
  bool (*run)(const Words& words);
};

constexpr std::string_view kPoints =
    "POINTS are a file or generated: uniform:N:DIMS, in the unit cube; clumps:N:DIMS, 100 normal ones of deviation\n"
    "0.01 and a fifth of uniform noise; lattice:SIDE[:COUNT], SIDE³ points at distance 1, in cubes of 100³ with\n"
    "gaps of 2 between them, COUNT lattices in a row; haloes:N, like h10 in N / 10⁷ times its volume;\n"
    "KIND:N[:DIMS], by `epsflow generate`. Lattices and haloes are float32, and so is everything with --float32.\n"
    "EPS_LIST, MINPTS_LIST and the options of the machine, the run, the search and the metric are those of\n"
    "`epsflow sweep`; sizes are bytes. seconds are of each repetition unless it says otherwise, _s is seconds, _ms\n"
    "milliseconds, stage_s the seconds of each stage of the last repetition. Points are read before the clock\n"
    "starts. The exit code is 1 if `equal` is false.\n";

constexpr Case kCases[] = {
    {"sweep",
     "POINTS EPS_LIST MINPTS_LIST [--repeat N] [--share nothing|engine|data] [--separately 1] [--box LENGTH] "
     "[--weighted 1] [--labels host|device] [--OPTION VALUE …]",
     "A sweep from points in memory to labels in memory. share: objects that all repetitions share, made by the\n"
     "first: the engine with device, pools and threads, or also the loaded data set. engine_s and load_s: the part\n"
     "of the seconds for making an engine and loading. search_share: of the last repetition, the share of time in\n"
     "which a lane searched or sorted (on a GPU, in which it was busy). weighted: with weights between 0.5 and\n"
     "1.5. labels: memory that holds all labels of a run until it ends. separately: one run for each variant. box:\n"
     "side of a periodic box, from 0 on. peak_rss_bytes: of the process, with the points.",
     time_sweep},
    {"read", "FILE [--columns A,B,…] [--repeat N]",
     "Reading a file into points in memory, as the program reads it. peak_rss_bytes: of the process.", time_read},
    {"map", "POINTS EPS_LIST MINPTS_LIST [--repeat N] [--backend cpu|gpu] [--threads N] [--keep summary|core]",
     "The map of a sweep with its lineage, from a loaded data set to the lineage in host memory. clusters: the sum\n"
     "over all cells.",
     time_map},
    {"knn", "POINTS K [--backend cpu|gpu] [--repeat N] [--threads N] [--float32] [--check]",
     "The distances of all points to their k-th nearest other points, from points in an engine (on a GPU: on the\n"
     "device) to distances in host memory. mean: the mean distance. On a GPU also device_ms: of each repetition,\n"
     "by CUDA events, from points on the device to distances on the device. It includes the order of the points\n"
     "and all other preparation of the search, except their extents and the check for NaN. check: compares the\n"
     "device with the CPU, point by point.",
     time_nearest},
    {"trees", "POINTS MINPTS,… [--backend cpu|gpu] [--repeat N] [--threads N] [--size M]",
     "Hierarchies of HDBSCAN*, from points in an engine (on a GPU: on the device) to a hierarchy for each minpts,\n"
     "in host memory. labels_s: of one condensed tree with min_cluster_size M (default 100) and its labels, for\n"
     "each minpts. condensed_s: from points to labels for all minpts, without hierarchies. hdbscan_s: the same by\n"
     "hdbscan(), which leaves labels on a GPU. On a GPU also, by CUDA events: lists_ms, from points on the device\n"
     "to their order and lists of nearest points; and for each minpts tree_ms, from these to a spanning tree,\n"
     "join_ms, to its dendrogram, condense_ms, to the clusters, and labels_ms, to the labels and probabilities of\n"
     "the selected ones, all on the device.",
     time_trees},
    {"predict", "POINTS EPS MINPTS [--new N] [--repeat N] [--threads N] [--backend auto|cpu|gpu]",
     "The assignment of new points to clusters, from points in memory to labels in memory. new: number of points\n"
     "to assign, by default a million: points of the file, shifted by up to eps along each axis. make_s: of\n"
     "building the index of core points. one_s: of a single point, the median of a hundred.",
     time_predict},
    {"parts",
     "POINTS EPS_LIST MINPTS_LIST [--ranks N] [--threads N] [--backend cpu|gpu] [--repeat N] [--gpus LIST] "
     "[--gpu-memory BYTES] [--parts N] [--drop] [--alone] [--gpu-each]",
     "A sweep over ranks, which are threads of this process, and the same sweep in one run. Uniform points and\n"
     "clumps are float32. drop: drops the labels at once, and compares counts only. alone: without the one run.\n"
     "threads: of each rank; the one run has the threads of all ranks. whole_s: the one run, from points in host\n"
     "memory to labels in host memory. parts_s: the same in parts, from the shares to their labels; distribute_s\n"
     "and cluster_s: the slowest rank of the last repetition. gpu-each: rank r uses GPU r. equal: all labels equal\n"
     "those of the one run. With --gpus or --gpu-memory ranks are not used. Then parts_s is a sweep that these\n"
     "GPUs share, or that runs within this much memory, from points in host memory to labels in host memory;\n"
     "`sharing` describes how. The one run has a whole GPU. All engines are kept between repetitions.",
     time_parts},
    {"slices", "[--sets N] [--points N] [--dims D] [--backend cpu|gpu] [--threads N] [--looped N] [--repeat N]",
     "Many data sets of uniform points in one run, and a loop of one engine over `looped` of them, 16 variants:\n"
     "eps at 4 multiples of the mean separation, 4 minpts. Times are from host to host with labels, the minimum of\n"
     "the repetitions after one warm-up.",
     time_slices},
    {"velocities",
     "[--points N] [--side N] [--eps E] [--minpts N] [--backend cpu|gpu] [--threads N] [--looped N] [--repeat N]",
     "One data set under a grid of side² velocities of up to 0.1 degrees a night, and a loop of one engine over\n"
     "`looped` of them. The points are a night sky: detections at random positions in a field of 20 by 20 degrees in\n"
     "15 nights, and objects that move evenly and are seen once a night. Times are from points in host memory to\n"
     "the clusters of all velocities, the minimum of the repetitions after one warm-up.",
     time_velocities},
    {"window",
     "[--points N] [--percent P] [--dims D] [--steps N] [--leave first|random] [--new] [--backend cpu|gpu] "
     "[--threads N] [--each N] [--labels host|device]",
     "The steps of a window, in turns with runs from scratch over the same points. Three fifths of the points are\n"
     "in 50 clumps that wander, the others anywhere. In each step P percent of the points arrive and as many\n"
     "leave: those that arrived first, or random ones; with --new all points are replaced. eps is .8 of the mean\n"
     "separation, minpts 6. After `each` steps the points are also clustered from scratch, by the same engine\n"
     "options, from host to host, and labels are compared. Prints the time of steps (median, 99th percentile,\n"
     "largest) and of runs (median), and the resident bytes after a tenth of the steps and at the end.",
     time_window},
#ifdef EPSFLOW_WITH_CUDA
    {"direct", "POINTS EPS MINPTS [EPS MINPTS …] [--float32] [--check] [--phases] [--repeat N] [--reach]",
     "Direct clustering on the GPU, points and labels in device memory. Prints for each pair of EPS and MINPTS the\n"
     "time from points to labels with the index, after two warm-ups; counts of the labelling; the peak of device\n"
     "memory in addition to points and labels, in bytes per point. check: compares the labels with the CPU\n"
     "backend. phases: the device time of each phase. reach: a search point by point on a grid of eps cells, for\n"
     "any number of dimensions.",
     time_direct},
    {"tiles",
     "POINTS EPS [EPS …] [--float32] [--index auto|grid|tree|all] [--decide auto|scalar|tensor64|tensor16] "
     "[--portable] [--repeat N]",
     "The search by tiles on the GPU, points and pairs in device memory. Prints for each eps the median after two\n"
     "warm-ups: of the index (order and list of tiles), of the frame (centre, survey, factors and bounds), and of\n"
     "the search, from the factors to the list of all pairs, including undecided ones; then the ordered pairs,\n"
     "with each point and itself; the share of tile pairs that was compared; the undecided pairs; and the rate of\n"
     "2·n²·d operations in the time of the search.",
     time_tiles},
    {"catalog", "POINTS EPS MINPTS [--box LENGTH] [--core] [--weighted] [--repeat N]",
     "Catalogues on the GPU, points and labels in device memory. First compares the catalogue with the host's:\n"
     "counts must be equal, all other columns must agree to 1e-12 of the largest value. Then times, after two\n"
     "warm-ups, a run whose labels stay on the device, the same with the catalogue in host memory, and the\n"
     "catalogue alone. box: side of a periodic box, from 0 on. core: core points, too. weighted: masses.",
     time_catalog},
    {"kernels", "POINTS EPS [--first N] [--repeat N]",
     "The device time of each kernel of the tables over the first N points or all, medians, and the threads of\n"
     "each launch.",
     time_kernels},
    {"tables", "POINTS EPS rows|global|shared [--repeat N] [--packed 1]",
     "Tables into host memory, seconds from the index to the last row, for the first table and later ones,\n"
     "relative to the bus, which is a copy of 1 GiB from the device to pinned memory. stage_s: summed over all\n"
     "tables.",
     time_tables},
    {"start", "POINTS EPS MINPTS", "The steps of a process's first run on a GPU, and later runs.", time_start},
#endif
};

}  // namespace

int main(int argc, char** argv) {
  try {
    for (const Case& one : kCases) {
      if (argc > 1 && one.name == argv[1]) return one.run(Words(one.usage, argc - 2, argv + 2)) ? 0 : 1;
    }
    std::cerr << "usage: bench CASE …\n\n" << kPoints;
    for (const Case& one : kCases) std::cerr << "\nbench " << one.name << " " << one.usage << "\n" << one.what << "\n";
    return 2;
  } catch (const epsflow::UsageError& error) {
    std::cerr << "error: " << error.what() << "\n";
    return 2;
  } catch (const std::exception& error) {
    std::cerr << "error: " << error.what() << "\n";
    return 1;
  }
}
