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
  [[nodiscard]] std::size_t index_of(const Variant& v) const {
    const auto& all = sweep.variants();
    return static_cast<std::size_t>(std::find(all.begin(), all.end(), v) - all.begin());
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
    const std::size_t at = scene().index_of(result.variant);
    if (at == scene().expected.size() || !seen_.insert(at).second || result.labels != scene().expected[at].labels ||
        !(result.summary == scene().expected[at].summary)) {
      wrong_ = true;
    }
    --inside_;
  }
  [[nodiscard]] std::size_t count() const { return seen_.size(); }
  /// Returns true if every result was right, came once and did not overlap with another.
  [[nodiscard]] bool right() const { return !wrong_ && !overlapped_; }

 private:
  std::atomic<int> inside_{0};
  std::atomic<bool> overlapped_{false};
  std::atomic<bool> wrong_{false};
  std::set<std::size_t> seen_;
};

inline std::vector<Settings> flows() {
  std::vector<Settings> all;
  for (const unsigned threads : {1U, 4U}) {
    for (const unsigned tables : {1U, 3U}) {
      Settings options;
      options.engine.threads = threads;
      options.run.tables = tables;
      options.run.search.format = FormatChoice::packed;
      all.push_back(options);
      options.run.method = VariantMethod::each;
      options.run.search.format = FormatChoice::csr;
      options.run.search.lane_pairs = 500;
      all.push_back(options);
      options.run.method = VariantMethod::nested;
      options.run.search.kernel = Kernel::global;
      all.push_back(options);
      // These runs have no table by request, or may have none by the automatic choice.
      all.push_back({.engine = {.threads = threads}, .run = {.strategy = StrategyChoice::direct, .tables = tables}});
      all.push_back({.engine = {.threads = threads}, .run = {.tables = tables}});
    }
  }
  return all;
}

}  // namespace epsflow::test
