#include <epsflow/gpu/trees/device_trees.hpp>

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/gpu.hpp"
#include "support/random_points.hpp"

#include <epsflow/core/space.hpp>
#include <epsflow/gpu/base/error.hpp>
#include <epsflow/gpu/trees/device_boruvka.hpp>
#include <epsflow/pipeline/engine.hpp>
#include <epsflow/pipeline/hierarchy.hpp>
#include <epsflow/trees/boruvka.hpp>

namespace epsflow::gpu {
namespace {

using test::DataSet;
using test::Random;
using Minpts = std::vector<std::uint32_t>;

struct Gpu {
  std::shared_ptr<DeviceMemory> memory = std::make_shared<DeviceMemory>(0, 0);
  PinnedPool pinned;
  CancelToken cancel;

  /// Returns nothing if the device does not support these points.
  [[nodiscard]] std::vector<SpanningTree> find(const DataSet& data, const Minpts& minpts) {
    const DevicePoints points(data.view(), 0, *memory, pinned, 2);
    std::vector<SpanningTree> found;
    (void)make_trees(points, minpts, false, {0, *memory, pinned, cancel}, memory,
                     [&](HeldTree& tree) { found.push_back(tree.spanning_tree()); });
    return found;
  }
};

std::vector<SpanningTree> on_cpu(const DataSet& data, const Minpts& minpts) {
  std::vector<SpanningTree> found;
  trees::spanning_trees(data.view(), {}, minpts, {}, [&](SpanningTree&& tree) { found.push_back(std::move(tree)); });
  return found;
}

bool same_node(const TreeNode& a, const TreeNode& b) {
  return a.eps == b.eps && a.parent == b.parent && a.size == b.size && a.first_id == b.first_id;
}

/// Requires that both trees have the same core sums and components at every height. Spanning trees may differ.
void require_same(SpanningTree found, SpanningTree expected) {
  REQUIRE(found.minpts == expected.minpts);
  const auto below = [](const Edge& a, const Edge& b) { return a.height < b.height; };
  REQUIRE(std::is_sorted(found.edges.begin(), found.edges.end(), below));
  const Hierarchy ours(std::move(found)), theirs(std::move(expected));
  REQUIRE(std::ranges::equal(ours.core_distances(), theirs.core_distances()));
  REQUIRE(std::ranges::equal(ours.nodes(), theirs.nodes(), same_node));
  REQUIRE(std::ranges::equal(ours.parents(), theirs.parents()));
}

/// Requires that the trees of the device are the CPU's. Returns false if the device does not take the points.
bool check_trees(Gpu& gpu, const DataSet& data, const Minpts& minpts) {
  std::vector<SpanningTree> found = gpu.find(data, minpts);
  if (found.empty()) return false;
  REQUIRE(found.size() == minpts.size());
  std::vector<SpanningTree> expected = on_cpu(data, minpts);
  for (std::size_t i = 0; i < minpts.size(); ++i) require_same(std::move(found[i]), std::move(expected[i]));
  return true;
}

/// Returns up to three random minpts, of at most n and at most one of `bounds`.
Minpts some_minpts(Random& random, std::size_t n, const std::vector<std::uint64_t>& bounds) {
  Minpts minpts;
  const std::uint64_t most = std::min<std::uint64_t>(n, random.pick(bounds));
  for (std::uint64_t i = 0; i <= random.below(3); ++i) {
    minpts.push_back(static_cast<std::uint32_t>(1 + random.below(most)));
  }
  return minpts;
}

TEST_CASE("gpu trees: components at every height are the CPU's on data of every kind") {
  if (!test::have_gpu()) return;
  Gpu gpu;
  std::size_t found_on_gpu = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    Random random(seed);
    const std::size_t n = random.pick<std::size_t>({1, 2, 3, 9, 31, 33, 65, 257, 600, 3000, 9000});
    const DataSet data = test::make_data(random.pick(test::data_kinds()), n, 1 + random.below(3),
                                         random.chance(0.4) ? Precision::float32 : Precision::float64, seed);
    const Minpts minpts = some_minpts(random, n, {1, 5, 8, 17, 33, 34, 90, 257});
    INFO("seed " << seed << ", " << test::describe(data) << ", minpts " << minpts.front());
    found_on_gpu += check_trees(gpu, data, minpts) ? 1 : 0;
  }
  REQUIRE(found_on_gpu > 250);
}

TEST_CASE("gpu trees: many points, whose boxes have several levels") {
  if (!test::have_gpu()) return;
  Gpu gpu;
  for (const std::string kind : {"uniform", "clustered", "quantised", "duplicates", "log-uniform"}) {
    for (const std::size_t dims : {1U, 2U, 3U}) {
      const DataSet data =
          test::make_data(kind, 300'000, dims, dims == 2 ? Precision::float32 : Precision::float64, dims);
      INFO(test::describe(data));
      REQUIRE(check_trees(gpu, data, {5, 16}));
    }
  }
}

TEST_CASE("gpu trees: in many dimensions components are the CPU's on data of every kind") {
  if (!test::have_gpu()) return;
  Gpu gpu;
  std::size_t found_on_gpu = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Random random(seed);
    const std::size_t n = random.pick<std::size_t>({2, 3, 9, 33, 129, 257, 1000, 3000});
    const std::size_t dims = random.pick<std::size_t>({4, 5, 8, 17, 33, 64, 65, 130});
    const DataSet data = test::make_data(random.pick(test::data_kinds()), n, dims,
                                         random.chance(0.5) ? Precision::float32 : Precision::float64, seed);
    const Minpts minpts = some_minpts(random, n, {1, 5, 17, 90, 257});
    INFO("seed " << seed << ", " << test::describe(data) << ", minpts " << minpts.front());
    found_on_gpu += check_trees(gpu, data, minpts) ? 1 : 0;
  }
  REQUIRE(found_on_gpu > 100);
}

TEST_CASE("gpu trees: many points in many dimensions, compared in several parts") {
  if (!test::have_gpu()) return;
  Gpu gpu;
  for (const std::string kind : {"uniform", "clustered", "quantised"}) {
    for (const std::size_t dims : {6U, 40U}) {
      const DataSet data = test::make_data(kind, 30'000, dims, Precision::float32, dims);
      INFO(test::describe(data));
      REQUIRE(check_trees(gpu, data, {5, 16}));
    }
  }
}

/// Returns points on a lattice of a few values, so that lists end amid pairs of equal distance and components have
/// several pairs of one height.
DataSet lattice_points(std::size_t n, std::size_t dims, std::uint64_t values, std::uint64_t seed) {
  Random random(seed);
  DataSet data;
  data.dims = dims;
  for (std::size_t i = 0; i < n * dims; ++i) data.doubles.push_back(static_cast<double>(random.below(values)));
  return data;
}

TEST_CASE("gpu trees: in many dimensions, with equal distances everywhere, for several minpts from one search") {
  if (!test::have_gpu()) return;
  Gpu gpu;
  std::size_t found_on_gpu = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const DataSet data = lattice_points(200 + 50 * (seed % 40), 4 + seed % 9, 2 + seed % 4, seed);
    INFO("seed " << seed << ", " << test::describe(data));
    const Minpts minpts{2, 3, 5, 9};
    found_on_gpu += check_trees(gpu, data, minpts) ? 1 : 0;
  }
  REQUIRE(found_on_gpu > 40);
}

TEST_CASE("gpu trees: in many dimensions kernels for every GPU find the same heights") {
  if (!test::have_gpu()) return;
  Gpu gpu;
  for (const std::string kind : {"uniform", "clustered", "quantised"}) {
    for (const std::size_t dims : {5U, 70U}) {
      const DataSet data = test::make_data(kind, 5000, dims, Precision::float32, dims);
      INFO(test::describe(data));
      const DevicePoints points(data.view(), 0, *gpu.memory, gpu.pinned, 2);
      const Stream stream;
      const StreamDrain drain(stream);
      auto boruvka = DeviceBoruvka::of(points, 6, {0, *gpu.memory, gpu.pinned, gpu.cancel}, stream, true);
      REQUIRE(boruvka);
      boruvka->run(6);
      const DeviceTree tree = boruvka->sorted();
      const std::vector<Edge> edges = read_values(tree.edges.data(), data.size() - 1, stream.get());
      const SpanningTree expected = std::move(on_cpu(data, {6}).front());
      for (std::size_t i = 0; i < edges.size(); ++i) REQUIRE(edges[i].height == expected.edges[i].height);
    }
  }
}

TEST_CASE("gpu trees: groups that half precision rounds to one point are told apart in float64") {
  if (!test::have_gpu()) return;
  Gpu gpu;
  for (const std::size_t dims : {4U, 20U, 70U}) {
    Random random(dims);
    DataSet data;
    data.dims = dims;
    for (std::size_t i = 0; i < 6000; ++i) {
      for (std::size_t k = 0; k < dims; ++k) data.doubles.push_back(static_cast<double>(i % 2) + 1e-4 * random.bell());
    }
    INFO(dims << " dimensions");
    REQUIRE(check_trees(gpu, data, {5}));
  }
}

template <class T>
std::vector<T> read_back(const DeviceArray<T>& array) {
  std::vector<T> values(array.size());
  check(cudaMemcpy(values.data(), array.data(), values.size() * sizeof(T), cudaMemcpyDeviceToHost));
  return values;
}

TEST_CASE("gpu trees: condensed trees are the CPU's, with their stabilities") {
  if (!test::have_gpu()) return;
  std::size_t stayed = 0;  // labellings that stayed on the device
  const Engine gpu({.backend = BackendChoice::gpu});
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Random random(seed);
    const std::size_t n = seed == 0 ? 300'000 : random.pick<std::size_t>({2, 3, 9, 33, 257, 3000, 9000});
    const DataSet data =
        test::make_data(random.pick(test::data_kinds()), n, 1 + random.below(3), Precision::float64, seed);
    const Minpts minpts{1, static_cast<std::uint32_t>(1 + random.below(std::min<std::size_t>(n, 20)))};
    const std::vector<std::uint64_t> sizes{2, 2 + random.below(n - 1), std::min<std::size_t>(n, 5)};
    INFO("seed " << seed << ", " << test::describe(data) << ", minpts " << minpts[1] << ", size " << sizes[1]);
    std::vector<Hierarchy> trees;
    try {
      trees = hierarchy(data.view(), minpts, {.backend = BackendChoice::cpu});
    } catch (const InputError&) {
      continue;  // too far from each other
    }
    const Dataset loaded = gpu.load(data.view());
    const std::vector<Hierarchy> on_gpu = hierarchy(loaded, minpts);
    for (std::size_t i = 0; i < minpts.size(); ++i) {
      REQUIRE(std::ranges::equal(on_gpu[i].nodes(), trees[i].nodes(), same_node));
      REQUIRE(std::ranges::equal(on_gpu[i].parents(), trees[i].parents()));
      REQUIRE(std::ranges::equal(on_gpu[i].core_distances(), trees[i].core_distances()));
    }
    const std::vector<CondensedTree> found = condensed_trees(loaded, minpts, sizes);
    for (std::size_t i = 0; i < found.size(); ++i) {
      const CondensedTree expected(trees[i / sizes.size()], sizes[i % sizes.size()]);
      const auto same = [](const CondensedCluster& a, const CondensedCluster& b) {
        return a.parent == b.parent && a.birth == b.birth && a.death == b.death && a.size == b.size &&
               a.first_id == b.first_id && a.stability == b.stability;
      };
      REQUIRE(std::ranges::equal(found[i].clusters(), expected.clusters(), same));
      REQUIRE(std::ranges::equal(found[i].cluster_of(), expected.cluster_of()));
      REQUIRE(std::ranges::equal(found[i].leaves_at(), expected.leaves_at()));
    }
    const SelectionOptions selection{
        .method = random.pick<ClusterSelection>({ClusterSelection::eom, ClusterSelection::leaf}),
        .epsilon = random.below(2) == 0 ? 0 : trees[1].nodes()[random.below(trees[1].nodes().size())].eps,
        .max_size = random.below(2) == 0 ? 0 : 1 + random.below(n),
        .allow_single_cluster = random.below(2) == 0};
    const std::vector<SelectedClusters> on_host = hdbscan(loaded, minpts, sizes, {selection});
    const std::vector<SelectedClusters> on_device = hdbscan(loaded, minpts, sizes, {selection, MemorySpace::device});
    for (std::size_t i = 0; i < found.size(); ++i) {
      const SelectedClusters expected = found[i].select(selection);
      REQUIRE(std::ranges::equal(on_host[i].labels, expected.labels));
      REQUIRE(std::ranges::equal(on_host[i].probabilities, expected.probabilities));
      REQUIRE(on_host[i].nodes == expected.nodes);
      REQUIRE(on_host[i].persistence == expected.persistence);
      if (!on_device[i].labels.empty()) {  // the device does not take these points
        REQUIRE(std::ranges::equal(on_device[i].labels, expected.labels));
        continue;
      }
      ++stayed;
      REQUIRE(std::ranges::equal(read_back(on_device[i].device_labels), expected.labels));
      REQUIRE(std::ranges::equal(read_back(on_device[i].device_probabilities), expected.probabilities));
    }
  }
  REQUIRE(stayed > 500);
}

TEST_CASE("gpu trees: an engine's hierarchies are the CPU's, of points that the device serves and others") {
  if (!test::have_gpu()) return;
  const auto require_same_hierarchy = [](const DataSet& data, const Minpts& minpts, const Metric& metric) {
    const auto ours = hierarchy({data.view(), metric}, minpts, {.backend = BackendChoice::gpu});
    const auto theirs = hierarchy({data.view(), metric}, minpts, {.backend = BackendChoice::cpu});
    REQUIRE(ours.size() == theirs.size());
    for (std::size_t i = 0; i < ours.size(); ++i) {
      REQUIRE(std::ranges::equal(ours[i].core_distances(), theirs[i].core_distances()));
      REQUIRE(std::ranges::equal(ours[i].nodes(), theirs[i].nodes(), same_node));
      REQUIRE(std::ranges::equal(ours[i].parents(), theirs[i].parents()));
      const auto same_height = [](const Edge& a, const Edge& b) { return a.height == b.height; };
      REQUIRE(std::ranges::equal(ours[i].spanning_tree(), theirs[i].spanning_tree(), same_height));
    }
  };
  const DataSet plane = test::make_data("clustered", 20'000, 2, Precision::float64, 3);
  require_same_hierarchy(plane, {1, 5, 20}, {});
  require_same_hierarchy(plane, {5, 300}, {});  // longer lists than the device makes
  require_same_hierarchy(plane, {5}, {.kind = MetricKind::manhattan});
  require_same_hierarchy(test::make_data("clustered", 700, 9, Precision::float32, 6), {5}, {});
  require_same_hierarchy(test::make_data("clustered", 3'000, 3, Precision::float64, 8), {5},
                         {.kind = MetricKind::cosine});
  const DataSet far = test::make_data("outlier 1e300", 2'000, 2, Precision::float64, 5);
  const Minpts minpts{4};
  REQUIRE_THROWS_AS(hierarchy(far.view(), minpts, {.backend = BackendChoice::gpu}), InputError);
}

TEST_CASE("gpu trees: points along the curve, each with its parent after it, make no long walks") {
  if (!test::have_gpu()) return;
  Points line(2'000'000, 1, Precision::float64);
  const std::span<double> x = line.values<double>();
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::sqrt(static_cast<double>(i));
  const Minpts minpts{1, 5};
  const auto ours = hierarchy(line, minpts, {.backend = BackendChoice::gpu});
  const auto theirs = hierarchy(line, minpts, {.backend = BackendChoice::cpu});
  for (std::size_t i = 0; i < 2; ++i) REQUIRE(std::ranges::equal(ours[i].nodes(), theirs[i].nodes(), same_node));
}

TEST_CASE("gpu trees: without enough device memory they are made on the CPU") {
  if (!test::have_gpu()) return;
  const DataSet data = test::make_data("clustered", 200'000, 3, Precision::float64, 3);
  const Minpts minpts{5};
  const Engine small({.backend = BackendChoice::gpu, .gpu_memory = 16 << 20});
  const auto ours = hierarchy(small.load(data.view()), minpts);
  const auto theirs = hierarchy(data.view(), minpts, {.backend = BackendChoice::cpu});
  REQUIRE(std::ranges::equal(ours[0].nodes(), theirs[0].nodes(), same_node));
}

TEST_CASE("gpu trees: a cancelled run ends") {
  if (!test::have_gpu()) return;
  const DataSet data = test::make_data("clustered", 20'000, 3, Precision::float64, 3);
  CancelToken cancel;
  cancel.cancel();
  REQUIRE_THROWS_AS(hierarchy(data.view(), Minpts{5}, {.backend = BackendChoice::gpu}, {.cancel = &cancel}), Cancelled);
}

}  // namespace
}  // namespace epsflow::gpu
