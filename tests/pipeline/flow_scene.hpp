// The tests of the flow share a sweep with its right answer, a collector of results and all shapes of a flow.
#pragma once

#include <algorithm>
#include <atomic>
#include <set>
#include <vector>

#include "support/oracle.hpp"
#include "support/random_points.hpp"
#include "support/settings.hpp"

#include <epsflow/pipeline/sweep.hpp>

namespace epsflow::test {

/// A sweep of three eps and three minpts over clustered points, with its right answer.
struct Scene {
  DataSet data = make_data("clustered", 700, 2, Precision::float64, 42);
  Sweep sweep = grid({0.3, 0.5, 0.2}, {4, 2, 12});
  std::vector<OracleLabels> expected;

  Scene() {
    for (const Variant& v : sweep.variants()) expected.push_back(oracle_labels(data.oracle(v.eps), v.minpts));
  }
};

inline const Scene& scene() {
  static const Scene only;
  return only;
}

/// Collects results and records errors in them. Catch2's assertions are not thread-safe, so they are made later.
class Collector {
 public:
  void take(const VariantResult& result) {
    if (++inside_ > 1) overlapped_ = true;
    const auto& all = scene().sweep.variants();
    const auto at = static_cast<std::size_t>(std::find(all.begin(), all.end(), result.variant) - all.begin());
    if (at == scene().expected.size() || !seen_.insert(at).second || result.labels != scene().expected[at].labels ||
        !(result.summary == scene().expected[at].summary)) {
      wrong_ = true;
    }
    --inside_;
  }
  /// Returns true if every result was right, came once and did not overlap with another.
  [[nodiscard]] bool right() const { return !wrong_ && !overlapped_; }
  /// Returns true if there is a result for every variant.
  [[nodiscard]] bool complete() const { return seen_.size() == scene().sweep.size(); }

 private:
  std::atomic<int> inside_{0};
  std::atomic<bool> overlapped_{false};
  std::atomic<bool> wrong_{false};
  std::set<std::size_t> seen_;
};

inline std::vector<Settings> flows() {
  const std::vector<RunOptions> ways{
      {.search = {.format = FormatChoice::packed}},
      {.search = {.format = FormatChoice::csr, .lane_pairs = 500}, .method = VariantMethod::each},
      {.search = {.kernel = Kernel::global, .format = FormatChoice::csr, .lane_pairs = 500}},
      {.strategy = StrategyChoice::direct},
      {}};  // the last runs have no table by request, or may have none by the automatic choice
  std::vector<Settings> all;
  for (const unsigned threads : {1U, 4U}) {
    for (const unsigned tables : {1U, 3U}) {
      for (const RunOptions& way : ways) {
        all.push_back({.engine = {.threads = threads}, .run = way});
        all.back().run.tables = tables;
      }
    }
  }
  return all;
}

inline std::vector<VariantResult> run_scene(const Settings& options = {}, const Observer& observer = {}) {
  return run(scene().data.view(), scene().sweep, options, observer);
}

/// Runs the scene's sweep and hands its results to the collector.
inline void collect(Collector& results, const Settings& options, const Observer& observer = {}) {
  run_each(
      scene().data.view(), scene().sweep, options, [&](VariantResult&& r) { results.take(r); }, observer);
}

}  // namespace epsflow::test
