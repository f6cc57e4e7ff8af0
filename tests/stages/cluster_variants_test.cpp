#include <epsflow/stages/cluster_variants.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <vector>

#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/oracle.hpp"
#include "support/random_points.hpp"

#include <epsflow/core/error.hpp>
#include <epsflow/cpu/cpu_backend.hpp>

namespace epsflow::stages {
namespace {

using test::DataSet;

/// Holds a finished csr table of the data. Entries for which `drop` is true are missing.
struct Scene {
  template <class Drop>
  Scene(double eps, Drop drop) : pool(budget) {
    job.group.eps = job.group.radius = eps;
    job.index = points->build_index({.eps = eps, .cells = Cells::eps}, cancel);
    job.search = job.index->table({});
    job.order = job.search->order();
    const auto order = job.order.ids;
    const auto n = static_cast<std::uint32_t>(data.size());
    std::vector<std::uint32_t> counts(n), ids;
    const test::OracleTable rows = test::by_position(data.oracle(eps), order);
    for (std::uint32_t p = 0; p < n; ++p) {
      for (const std::uint32_t q : rows.rows[p]) {
        if (drop(order[p], order[q])) continue;
        ids.push_back(q);
        ++counts[p];
      }
    }
    job.table = std::make_unique<NeighborTable>(n, pool.acquire(1 << 22));
    REQUIRE(job.table->append({0, n}, counts, ids));
    job.table->set_blocks({{0, n / 2}, {n / 2, n}});
  }
  DataSet data = test::make_data("clustered", 300, 2, Precision::float64, 12);
  CancelToken cancel;
  MemoryBudget budget{1 << 26};
  ArenaPool pool;
  std::unique_ptr<Backend> backend = cpu::make_cpu_backend(1);
  std::unique_ptr<LoadedPoints> points = backend->load(data.view());
  EpsJob job{EpsGroup{1, {9, 4, 2}}};
};

TEST_CASE("cluster variants: every variant once, with a share of the table's time, whatever the method") {
  for (const VariantMethod method : {VariantMethod::nested, VariantMethod::each}) {
    Scene scene(0.3, [](auto, auto) { return false; });
    scene.job.table_seconds = 30;
    std::mutex mutex;
    std::vector<std::uint32_t> seen;
    bool right = true;
    const ClusterVariants cluster{.method = method,
                                  .verify = true,
                                  .core_mask = true,
                                  .points = scene.data.view(),
                                  .workers = 3,
                                  .cancel = scene.cancel};
    cluster(scene.job, [&](VariantResult&& r) {
      const std::scoped_lock lock(mutex);
      seen.push_back(r.variant.minpts);
      right &= r.labels == test::oracle_labels(scene.data.oracle(0.3), r.variant.minpts).labels;
      right &= r.seconds >= 10;
      const test::OracleTable oracle = scene.data.oracle(0.3);
      for (std::size_t i = 0; i < scene.data.size(); ++i) {
        right &= r.core.at(i) == (oracle.rows[i].size() >= r.variant.minpts ? 1 : 0);
      }
    });
    CHECK(right);
    std::sort(seen.begin(), seen.end());
    CHECK(seen == std::vector<std::uint32_t>{2, 4, 9});
  }
}

TEST_CASE("cluster variants: an error of one variant comes out, and no variant after it") {
  Scene scene(0.3, [](auto, auto) { return false; });
  scene.job.group.minpts = {20, 16, 12, 9, 7, 6, 5, 4, 3, 2, 1};
  for (const VariantMethod method : {VariantMethod::nested, VariantMethod::each}) {
    int calls = 0;
    const ClusterVariants cluster{.method = method, .workers = 1, .cancel = scene.cancel};
    CHECK_THROWS_AS(cluster(scene.job,
                            [&](VariantResult&&) {
                              if (++calls == 3) throw std::domain_error("enough");
                            }),
                    std::domain_error);
    CHECK(calls == 3);
  }
}

TEST_CASE("cluster variants: memory of the variants that are under way at once") {
  const CancelToken cancel;
  const ClusterVariants nested{.method = VariantMethod::nested, .workers = 4, .cancel = cancel};
  const ClusterVariants each{.method = VariantMethod::each, .workers = 4, .cancel = cancel};
  CHECK(nested.bytes(1000, 1) > 0);
  CHECK(nested.bytes(1000, 50) == nested.bytes(1000, 1));
  CHECK(each.bytes(1000, 2) == 2 * each.bytes(1000, 1));
  CHECK(each.bytes(1000, 50) == 4 * each.bytes(1000, 1));
}

TEST_CASE("cluster variants: verification finds what the table lacks, and asks for a report") {
  // The search missed pairs. If both directions of a pair are missing, the table is consistent.
  const bool symmetric = GENERATE(false, true);
  for (const VariantMethod method : {VariantMethod::nested, VariantMethod::each}) {
    const auto drop = [symmetric](std::uint32_t id, std::uint32_t neighbor) {
      return id != neighbor && (id ^ neighbor) % 3 == 0 && (symmetric || id < neighbor);
    };
    Scene scene(0.3, drop);
    ClusterVariants cluster{
        .method = method, .verify = true, .points = scene.data.view(), .workers = 3, .cancel = scene.cancel};
    test::check_mentions(test::error_of<Error>([&] { cluster(scene.job, [](VariantResult&&) {}); }),
                         {"eps 0.3", "minpts", "report", "point"});
    cluster.verify = false;
    CHECK_NOTHROW(cluster(scene.job, [](VariantResult&& r) { REQUIRE(r.core.empty()); }));
  }
}

}  // namespace
}  // namespace epsflow::stages
