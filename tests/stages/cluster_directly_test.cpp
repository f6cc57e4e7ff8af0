#include <epsflow/stages/cluster_directly.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/oracle.hpp"
#include "support/random_points.hpp"

#include <epsflow/clustering/dbscan.hpp>
#include <epsflow/clustering/verify.hpp>
#include <epsflow/core/error.hpp>
#include <epsflow/cpu/cpu_backend.hpp>

namespace epsflow::stages {
namespace {

using test::DataSet;
using Minpts = std::vector<std::uint32_t>;

void nothing() {}

/// An index of clustered points, with dense-box cells in two dimensions and other cells in five.
struct Scene {
  explicit Scene(std::size_t dims = 2) : data(test::make_data("clustered", 300, dims, Precision::float64, 12)) {
    job.index = points->build_index({.eps = eps, .cells = Cells::dense_box}, cancel);
  }
  double eps = 0.6;
  DataSet data;
  CancelToken cancel;
  std::unique_ptr<Backend> backend = cpu::make_cpu_backend(1);
  std::unique_ptr<LoadedPoints> points = backend->load(data.view());
  EpsJob job{EpsGroup{eps, {9, 4, 2}}};
};

/// An index whose labels come from a function.
class ScriptedIndex final : public Index {
 public:
  using Script = std::function<test::OracleLabels(std::uint32_t minpts)>;
  /// n: the number of labels that the script returns.
  ScriptedIndex(std::size_t n, Script script) : n_(n), script_(std::move(script)) {}

  [[nodiscard]] IndexFigures figures() const override { return {}; }
  [[nodiscard]] std::uint64_t bytes() const override { return 1; }
  [[nodiscard]] std::unique_ptr<TableSearch> table(const TableOptions&) const override { return nullptr; }
  [[nodiscard]] std::uint64_t direct_bytes(const DirectOptions&) const override { return 1000; }
  [[nodiscard]] std::unique_ptr<CountedPart> count_part(const DirectOptions&) const override { return nullptr; }
  [[nodiscard]] std::unique_ptr<Counted> count(const DirectOptions&) const override {
    class Scripted final : public Counted, private United {
     public:
      explicit Scripted(const Script& script) : script_(script) {}
      United& unite(std::uint32_t minpts) override {
        minpts_ = minpts;
        return *this;
      }

     private:
      std::vector<std::uint32_t> first_cores() override { return {}; }
      std::vector<LevelResult> label(std::span<const LabelTarget> targets) override {
        const test::OracleLabels made = script_(minpts_);
        std::copy(made.labels.begin(), made.labels.end(), targets.front().labels);
        return std::vector<LevelResult>{LevelResult{made.summary}};
      }

      const Script& script_;
      std::uint32_t minpts_ = 0;
    };
    return std::make_unique<Scripted>(script_);
  }
  [[nodiscard]] std::unique_ptr<LabelStore> label_store(const DirectOptions& options) const override {
    return std::make_unique<clustering::HostLabels>(n_, options.core_mask);
  }

 private:
  std::size_t n_;
  Script script_;
};

TEST_CASE("cluster directly: every variant once, in descending order, as the oracle labels it") {
  for (const std::size_t dims : {2U, 5U}) {
    for (const bool verify : {false, true}) {
      Scene scene(dims);
      scene.job.begin -= std::chrono::seconds(30);
      MemoryBudget budget(1 << 26);
      Minpts seen;
      int begun = 0;
      double until_first = 0;
      double seconds = 0;
      const ClusterDirectly cluster{budget, {.minpts = {}, .core_mask = !verify}, verify, scene.data.view()};
      const bool done = cluster(
          scene.job, true, [&] { ++begun; },
          [&](VariantResult&& r) {
            CHECK(begun == 1);
            if (seen.empty()) until_first = scene.job.seconds();
            seconds += r.seconds;
            seen.push_back(r.variant.minpts);
            const test::OracleTable rows = scene.data.oracle(scene.eps);
            const test::OracleLabels expected = test::oracle_labels(rows, r.variant.minpts);
            CHECK(r.variant.eps == scene.eps);
            CHECK(r.labels == expected.labels);
            CHECK(r.summary == expected.summary);
            CHECK(r.seconds >= 10);  // a third of the seconds of the index
            REQUIRE(r.core.size() == (verify ? 0 : scene.data.size()));
            for (std::size_t i = 0; i < r.core.size(); ++i) {
              CHECK(r.core[i] == (rows.rows[i].size() >= r.variant.minpts ? 1 : 0));
            }
          });
      CHECK(done);
      CHECK(begun == 1);
      CHECK(seen == Minpts{9, 4, 2});
      if (dims == 2)
        CHECK(seconds <= until_first);  // in dense-box cells, all three labellings are made before the first result
      CHECK(scene.job.group.minpts.empty());
    }
  }
}

TEST_CASE("cluster directly: results carry the eps of the caller, not the one that was searched") {
  Scene scene;
  scene.job.group = {123, {4}, scene.eps};
  MemoryBudget budget(1 << 26);
  std::vector<double> eps;
  CHECK(ClusterDirectly{budget}(scene.job, true, nothing, [&](VariantResult&& r) { eps.push_back(r.variant.eps); }));
  CHECK(eps == std::vector<double>{123});
}

TEST_CASE("cluster directly: its memory is charged while it runs, and given back") {
  for (const std::size_t dims : {2U, 5U}) {
    for (const bool verify : {false, true}) {
      Scene scene(dims);
      const std::uint64_t bytes = scene.job.index->direct_bytes({scene.job.group.minpts}) +
                                  (verify ? scene.data.size() * clustering::kVerifyBytesPerPoint : 0);
      // The least possible size is labels and a number per node.
      CHECK(bytes >= scene.data.size() * 4);
      MemoryBudget budget(bytes);
      std::uint64_t when_begun = 0;
      int results = 0;
      const ClusterDirectly cluster{budget, {}, verify, scene.data.view()};
      CHECK(cluster(
          scene.job, true, [&] { when_begun = budget.used(); },
          [&](VariantResult&&) {
            CHECK(budget.used() == bytes);
            ++results;
          }));
      CHECK(when_begun == bytes);
      CHECK(results == 3);
      CHECK(budget.used() == 0);
    }
  }
}

TEST_CASE("cluster directly: too small a budget is waited for beside others, and refused alone") {
  for (const bool verify : {false, true}) {
    Scene scene;
    const std::uint64_t bytes = scene.job.index->direct_bytes({scene.job.group.minpts}) +
                                (verify ? scene.data.size() * clustering::kVerifyBytesPerPoint : 0);
    MemoryBudget budget(bytes - 1);
    const ClusterDirectly cluster{budget, {}, verify, scene.data.view()};
    int calls = 0;
    const auto begun = [&] { ++calls; };
    const auto emit = [&](VariantResult&&) { ++calls; };
    CHECK_FALSE(cluster(scene.job, false, begun, emit));
    test::check_mentions(test::error_of<ResourceError>([&] { (void)cluster(scene.job, true, begun, emit); }),
                         {"clustering without a table", "needs", "EngineOptions::memory"});
    CHECK(calls == 0);
    CHECK(budget.used() == 0);
    // The next try still has everything.
    CHECK(scene.job.group.minpts == Minpts{9, 4, 2});
    CHECK(scene.job.index != nullptr);
  }
}

TEST_CASE("cluster directly: variants that were handed over leave the group") {
  Scene scene;
  MemoryBudget budget(1 << 26);
  const ClusterDirectly cluster{budget};
  std::vector<Minpts> left;
  CHECK_THROWS_AS(cluster(scene.job, false, nothing,
                          [&](VariantResult&& r) {
                            left.push_back(scene.job.group.minpts);
                            if (r.variant.minpts == 4) throw std::domain_error("no more");
                          }),
                  std::domain_error);
  CHECK(left == std::vector<Minpts>{{9, 4, 2}, {4, 2}});
  CHECK(scene.job.group.minpts == Minpts{4, 2});
  CHECK(budget.used() == 0);
  // A second try makes only the missing variants.
  Minpts seen;
  CHECK(cluster(scene.job, true, nothing, [&](VariantResult&& r) { seen.push_back(r.variant.minpts); }));
  CHECK(seen == Minpts{4, 2});
}

TEST_CASE("cluster directly: what emit throws comes out, a lack of memory included") {
  for (const bool alone : {false, true}) {
    Scene scene;
    MemoryBudget budget(1 << 26);
    const ClusterDirectly cluster{budget};
    int calls = 0;
    const auto full_disk = [&](VariantResult&&) {
      if (++calls == 2) throw ResourceError("the disk is full");
    };
    CHECK(test::error_of<ResourceError>([&] { (void)cluster(scene.job, alone, nothing, full_disk); }) ==
          "the disk is full");
    CHECK(calls == 2);
    CHECK(scene.job.group.minpts == Minpts{4, 2});
    CHECK(budget.used() == 0);
  }
}

TEST_CASE("cluster directly: a device that runs out of memory between variants is waited for beside others") {
  for (const bool alone : {false, true}) {
    EpsJob job{EpsGroup{1, {9, 4, 2}}};
    job.index = std::make_unique<ScriptedIndex>(0, [](std::uint32_t minpts) -> test::OracleLabels {
      if (minpts == 9) return {};
      throw ResourceError("the device is full");
    });
    MemoryBudget budget(1000);
    const ClusterDirectly cluster{budget};
    Minpts seen;
    const auto emit = [&](VariantResult&& r) { seen.push_back(r.variant.minpts); };
    if (alone) {
      CHECK(test::error_of<ResourceError>([&] { (void)cluster(job, true, nothing, emit); }) == "the device is full");
    } else {
      CHECK_FALSE(cluster(job, false, nothing, emit));
    }
    CHECK(seen == Minpts{9});
    CHECK(job.group.minpts == Minpts{4, 2});
    CHECK(budget.used() == 0);
  }
}

TEST_CASE("cluster directly: other errors are never taken for a lack of memory") {
  EpsJob job{EpsGroup{1, {9}}};
  job.index = std::make_unique<ScriptedIndex>(0, [](std::uint32_t) -> test::OracleLabels { throw Cancelled(); });
  MemoryBudget budget(1000);
  for (const bool alone : {false, true}) {
    CHECK_THROWS_AS(ClusterDirectly{budget}(job, alone, nothing, [](VariantResult&&) {}), Cancelled);
    CHECK(budget.used() == 0);
  }
}

TEST_CASE("cluster directly: verification finds wrong labels, which are not handed over, and asks for a report") {
  const DataSet data = test::make_data("clustered", 300, 2, Precision::float64, 12);
  const test::OracleTable rows = data.oracle(0.3);
  EpsJob job{EpsGroup{0.3, {9, 4, 2}}};
  job.index = std::make_unique<ScriptedIndex>(data.size(), [&](std::uint32_t minpts) {
    test::OracleLabels made = test::oracle_labels(rows, minpts);
    // Only at minpts 4, one point of a cluster is labelled noise.
    if (minpts == 4) *std::find(made.labels.begin(), made.labels.end(), 0) = kNoise;
    return made;
  });
  for (const bool alone : {false, true}) {
    job.group.minpts = {9, 4, 2};
    MemoryBudget budget(1 << 26);
    Minpts seen;
    const auto emit = [&](VariantResult&& r) { seen.push_back(r.variant.minpts); };
    const ClusterDirectly verifying{budget, {}, true, data.view()};
    test::check_mentions(test::error_of<Error>([&] { (void)verifying(job, alone, nothing, emit); }),
                         {"eps 0.3", "minpts 4", "report", "point"});
    CHECK(seen == Minpts{9});
    CHECK(budget.used() == 0);
    // Without verification the error is not found.
    CHECK(ClusterDirectly{budget}(job, alone, nothing, emit));
    CHECK(seen == Minpts{9, 4, 2});
  }
}

}  // namespace
}  // namespace epsflow::stages
