// Compares the results of runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/oracle.hpp"
#include "support/random_points.hpp"

#include <epsflow/core/format.hpp>
#include <epsflow/pipeline/engine.hpp>
#include <epsflow/pipeline/sweep.hpp>

namespace epsflow::test {

/// Returns the first difference between the results of a sweep and the oracle, or an empty text.
inline std::string wrong(const std::vector<VariantResult>& results, const Sweep& sweep, const DataSet& data) {
  if (results.size() != sweep.size()) return "count of results";
  OracleTable table;
  for (std::size_t v = 0; v < results.size(); ++v) {
    const Variant& variant = sweep.variants()[v];
    if (v == 0 || variant.eps != sweep.variants()[v - 1].eps) table = data.oracle(variant.eps);
    const OracleLabels expected = oracle_labels(table, variant.minpts);
    const std::string of_variant =
        " of eps " + format_number(variant.eps) + ", minpts " + std::to_string(variant.minpts);
    if (!(results[v].variant == variant)) return "variant" + of_variant;
    if (!(results[v].labels == expected.labels)) return "labels" + of_variant;
    if (!(results[v].summary == expected.summary)) return "summary" + of_variant;
    if (!(results[v].seconds >= 0)) return "seconds" + of_variant;
  }
  return "";
}

inline void check_same(const std::vector<VariantResult>& found, const std::vector<VariantResult>& expected) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t v = 0; v < found.size(); ++v) {
    INFO("eps " << found[v].variant.eps << ", minpts " << found[v].variant.minpts);
    CHECK(found[v].variant == expected[v].variant);
    CHECK(found[v].labels == expected[v].labels);
    CHECK(found[v].core == expected[v].core);
    CHECK(found[v].summary == expected[v].summary);
  }
}

/// Checks that clusters, core points, merges and core_since equal the values of a summary run on `of`, and that
/// border points, noise and sizes are absent; also without RunOptions::clusters. Returns the clusters of all variants.
inline std::uint64_t check_core(const Dataset& data, const Dataset& of, const Sweep& sweep, RunOptions options = {}) {
  std::uint64_t clusters = 0;
  for (const bool objects : {true, false}) {
    options.clusters = objects;
    options.keep = Keep::summary;
    const std::vector<VariantResult> expected = run(of, sweep, options);
    options.keep = Keep::core;
    const std::vector<VariantResult> found = run(data, sweep, options);
    REQUIRE(found.size() == expected.size());
    for (std::size_t v = 0; v < found.size(); ++v) {
      const VariantResult &a = found[v], &b = expected[v];
      INFO("eps " << b.variant.eps << ", minpts " << b.variant.minpts << (objects ? "" : ", counts alone"));
      REQUIRE(a.variant == b.variant);
      REQUIRE(b.summary.borders_told);
      REQUIRE(a.summary == LabelSummary{.clusters = b.summary.clusters, .core = b.summary.core, .borders_told = false});
      REQUIRE(a.labels.empty());
      REQUIRE(a.clusters.first_core == b.clusters.first_core);
      REQUIRE(a.clusters.core == b.clusters.core);
      REQUIRE(a.clusters.size.empty());
      REQUIRE(a.clusters.joined == b.clusters.joined);
      REQUIRE(a.clusters.core_since == b.clusters.core_since);
      clusters += a.summary.clusters;
    }
  }
  return clusters / 2;
}

}  // namespace epsflow::test
