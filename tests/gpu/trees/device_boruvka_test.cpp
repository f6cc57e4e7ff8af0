#include <epsflow/gpu/trees/device_boruvka.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/gpu.hpp"
#include "support/random_points.hpp"

#include <epsflow/core/space.hpp>
#include <epsflow/gpu/base/fault.hpp>
#include <epsflow/pipeline/engine.hpp>
#include <epsflow/pipeline/hierarchy.hpp>
#include <epsflow/trees/boruvka.hpp>

namespace epsflow::gpu {
namespace {

using test::DataSet;
using test::Random;
using Minpts = std::vector<std::uint32_t>;

struct Gpu {
  DeviceMemory memory{0, 0};
  PinnedPool pinned;
  CancelToken cancel;

  /// Returns nothing if the device does not support these points.
  [[nodiscard]] std::vector<SpanningTree> find(const DataSet& data, const Minpts& minpts) {
    const DevicePoints points(data.view(), 0, memory, pinned, 2);
    const Stream stream;
    auto trees =
        DeviceBoruvka::of(points, *std::max_element(minpts.begin(), minpts.end()), {0, memory, pinned, cancel}, stream);
    if (!trees) return {};
    const StreamDrain drain(stream);
    std::vector<SpanningTree> found;
    for (const std::uint32_t m : minpts) {
      trees->run(m);
      found.push_back(trees->read());
    }
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

TEST_CASE("gpu trees: components at every height are the CPU's on data of every kind") {
  if (!test::have_gpu()) return;
  Gpu gpu;
  std::size_t found_on_gpu = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    Random random(seed);
    const std::size_t n = random.pick<std::size_t>({1, 2, 3, 9, 31, 33, 65, 257, 600, 3000, 9000});
    const DataSet data = test::make_data(random.pick(test::data_kinds()), n, 1 + random.below(3),
                                         random.chance(0.4) ? Precision::float32 : Precision::float64, seed);
    Minpts minpts;
    const std::uint64_t most = std::min<std::uint64_t>(n, random.pick<std::uint64_t>({1, 5, 8, 17, 33}));
    for (std::uint64_t i = 0; i <= random.below(3); ++i) {
      minpts.push_back(static_cast<std::uint32_t>(1 + random.below(most)));
    }
    INFO("seed " << seed << ", " << test::describe(data) << ", minpts " << minpts.front());
    std::vector<SpanningTree> found = gpu.find(data, minpts);
    if (found.empty()) continue;
    ++found_on_gpu;
    std::vector<SpanningTree> expected = on_cpu(data, minpts);
    for (std::size_t i = 0; i < minpts.size(); ++i) require_same(std::move(found[i]), std::move(expected[i]));
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
      std::vector<SpanningTree> found = gpu.find(data, {5, 16});
      REQUIRE(found.size() == 2);
      std::vector<SpanningTree> expected = on_cpu(data, {5, 16});
      for (std::size_t i = 0; i < 2; ++i) require_same(std::move(found[i]), std::move(expected[i]));
    }
  }
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
  require_same_hierarchy(plane, {5, 60}, {});  // longer lists than the device makes
  require_same_hierarchy(plane, {5}, {.kind = MetricKind::manhattan});
  require_same_hierarchy(test::make_data("clustered", 700, 9, Precision::float32, 6), {5}, {});
  const DataSet far = test::make_data("outlier 1e300", 2'000, 2, Precision::float64, 5);
  const Minpts minpts{4};
  REQUIRE_THROWS_AS(hierarchy(far.view(), minpts, {.backend = BackendChoice::gpu}), InputError);
}

}  // namespace
}  // namespace epsflow::gpu
