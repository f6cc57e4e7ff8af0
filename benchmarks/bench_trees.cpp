// Times hierarchies of HDBSCAN*, and prints one line of JSON:
//
//   bench_trees FILE|uniform:N:DIMS|haloes:N|clumps:N:DIMS MINPTS,… [--backend cpu|gpu] [--repeat N] [--threads N]
//               [--size M]
//
// seconds: of each repetition, from points in an engine (on a GPU: on the device) to a hierarchy for each minpts, in
// host memory. labels_s: of one condensed tree with min_cluster_size M (default 100) and its labels, for each minpts.
// condensed_s: from points to labels for all minpts, without hierarchies. hdbscan_s: the same by hdbscan(), which
// leaves labels on a GPU. On a GPU also, by CUDA events: lists_ms, from points on the device to their order and lists
// of nearest points; and for each minpts tree_ms, from these to a spanning tree, join_ms, to its dendrogram,
// condense_ms, to the clusters, and labels_ms, to the labels and probabilities of the selected ones, all on the device.
#include <optional>
#include <span>

#include <epsflow/pipeline/engine.hpp>
#include <epsflow/pipeline/hierarchy.hpp>
#ifdef EPSFLOW_WITH_CUDA
#include <epsflow/gpu/trees/device_boruvka.hpp>
#endif

#include "bench.hpp"
#include "made_points.hpp"

namespace {

using namespace epsflow;

#ifdef EPSFLOW_WITH_CUDA
void measure_device(PointsView points, std::span<const std::uint32_t> minpts, std::uint64_t size, int repeat,
                    bench::Json& json) {
  const gpu::KeptStreams streams;
  gpu::DeviceMemory memory(0, 0);
  gpu::PinnedPool pinned;
  const gpu::DevicePoints loaded(points, 0, memory, pinned, 8);
  const gpu::Stream stream;
  const gpu::StreamDrain drain(stream);
  for (int i = -1; i < repeat; ++i) {  // one warm-up
    const gpu::Event begin, listed;
    begin.record(stream);
    const CancelToken cancel;
    auto trees = gpu::DeviceBoruvka::of(loaded, *std::max_element(minpts.begin(), minpts.end()),
                                        {0, memory, pinned, cancel}, stream);
    if (!trees) return;
    listed.record(stream);
    listed.synchronize();
    if (i >= 0) json["lists_ms"].push_back(listed.since(begin));
    for (const std::uint32_t m : minpts) {
      const gpu::Event start, end;
      start.record(stream);
      trees->run(m);
      end.record(stream);
      end.synchronize();
      if (i >= 0) json["tree_ms"].push_back(end.since(start));
      const gpu::Event joined;
      const gpu::DeviceTree tree = trees->sorted();
      gpu::launch_sums_to_eps(tree.edges.data(), tree.core.data(), static_cast<std::uint32_t>(points.size()),
                              stream.get());
      const gpu::DeviceDendrogram dendrogram(tree, trees->order(), {memory, stream.get()});
      joined.record(stream);
      joined.synchronize();
      if (i >= 0) json["join_ms"].push_back(joined.since(end));
      const gpu::Event condensed;
      const gpu::DeviceCondensed clusters = dendrogram.condense(size);
      condensed.record(stream);
      condensed.synchronize();
      if (i >= 0) json["condense_ms"].push_back(condensed.since(joined));
      const gpu::Event labelled;
      const ChosenClusters chosen = choose_clusters(clusters.clusters, {});
      const auto of_clusters = gpu::copy_of(std::span<const SelectedCluster>(chosen.of_clusters), memory, stream.get());
      const gpu::DeviceBuffer<std::int32_t> labels(memory, stream.get(), points.size());
      const gpu::DeviceBuffer<double> probabilities(memory, stream.get(), points.size());
      gpu::launch_label(clusters, of_clusters.data(), labels.data(), probabilities.data(), stream.get());
      labelled.record(stream);
      labelled.synchronize();
      if (i >= 0) json["labels_ms"].push_back(labelled.since(condensed));
    }
    json["device_bytes"] = memory.most_used();
  }
}
#endif

int measure(const bench::Words& words) {
  const Points points = bench::points_of<double>(words[0]);
  const std::vector<std::uint32_t> minpts = parse_minpts_list(words[1]);
  EngineOptions options;
  words.set(options);
  const Engine engine(options);
  bench::Json json{
      {"points", points.size()}, {"dims", points.dims()}, {"minpts", minpts}, {"backend", engine.backend()}};
  const Dataset data = engine.load(points);
  std::vector<Hierarchy> found;
  for (int i = 0; i < words.repeat(3); ++i) {
    found.clear();
    json["seconds"].push_back(bench::seconds_of([&] { found = hierarchy(data, minpts); }));
  }
  const std::uint64_t size = words.number("--size", 100);
  for (const Hierarchy& tree : found) {
    json["labels_s"].push_back(
        bench::seconds_of([&] { json["clusters"].push_back(CondensedTree(tree, size).select().nodes.size()); }));
  }
  found.clear();
  for (int i = 0; i < words.repeat(3); ++i) {
    json["condensed_s"].push_back(bench::seconds_of([&] {
      for (const CondensedTree& tree : condensed_trees(data, minpts, std::span(&size, 1))) (void)tree.select();
    }));
  }
  for (int i = 0; i < words.repeat(3); ++i) {
    json["hdbscan_s"].push_back(
        bench::seconds_of([&] { (void)hdbscan(data, minpts, std::span(&size, 1), {.labels = MemorySpace::device}); }));
  }
#ifdef EPSFLOW_WITH_CUDA
  if (engine.backend() == "gpu") measure_device(points, minpts, size, words.repeat(3), json);
#endif
  std::cout << json.dump() << "\n";
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return epsflow::bench::run(
      {"bench_trees FILE|uniform:N:DIMS|haloes:N|clumps:N:DIMS MINPTS,… [--OPTION [VALUE] …]", 2}, argc, argv, measure);
}
