// Compares nested clustering from any source with the oracle.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "support/catch.hpp"
#include "support/oracle.hpp"
#include "support/random_points.hpp"

#include <epsflow/clustering/dbscan.hpp>
#include <epsflow/clustering/source_clustering.hpp>

namespace epsflow::test {

using Minpts = std::vector<std::uint32_t>;

/// Returns up to five different minpts between 1 and `most`, descending.
inline Minpts descending_minpts(Random& random, std::uint64_t most) {
  Minpts minpts{static_cast<std::uint32_t>(1 + random.below(most))};
  while (minpts.back() > 1 && minpts.size() < 5) {
    minpts.push_back(static_cast<std::uint32_t>(1 + random.below(minpts.back() - 1)));
  }
  return minpts;
}

/// Checks the cluster objects and where each cluster goes at the next minpts, by the oracle's labels and core points.
inline void check_clusters(const OracleTable& rows, clustering::ClusterSource& source, const Minpts& minpts,
                           Keep keep) {
  INFO("keep " << word_of(keep));
  const std::size_t n = rows.rows.size();
  std::vector<std::int32_t> core_since(n, Clusters::kNeverCore);
  std::vector<std::uint32_t> first_before;
  std::uint32_t all_before = 0;
  std::size_t level = 0;
  clustering::cluster_nested({source, 1, false, keep, true}, minpts, CancelToken(), [&](VariantResult&& r) {
    INFO("minpts " << r.variant.minpts);
    const OracleLabels expected = oracle_labels(rows, r.variant.minpts);
    std::vector<std::uint8_t> core(n);
    std::vector<std::uint32_t> cores(expected.summary.clusters), sizes(expected.summary.clusters);
    for (std::size_t i = 0; i < n; ++i) {
      core[i] = rows.rows[i].size() >= r.variant.minpts ? 1 : 0;
      if (expected.labels[i] == kNoise) continue;
      const auto cluster = static_cast<std::uint32_t>(expected.labels[i]);
      ++sizes[cluster];
      cores[cluster] += core[i];
      if (core[i] != 0 && core_since[i] == Clusters::kNeverCore)
        core_since[i] = static_cast<std::int32_t>(all_before + cluster);
    }
    LabelSummary summary = expected.summary;
    if (keep == Keep::core) summary = {.clusters = summary.clusters, .core = summary.core, .borders_told = false};
    REQUIRE(r.summary == summary);
    REQUIRE(r.labels.size() == (keep == Keep::labels ? n : 0));
    REQUIRE(r.clusters.first_core == first_cores(expected.labels, core));
    REQUIRE(r.clusters.core == cores);
    REQUIRE(r.clusters.size == (keep == Keep::core ? std::vector<std::uint32_t>() : sizes));
    REQUIRE(r.clusters.joined.size() == first_before.size());
    for (std::size_t k = 0; k < first_before.size(); ++k) {
      REQUIRE(r.clusters.joined[k] == static_cast<std::uint32_t>(expected.labels[first_before[k]]));
    }
    REQUIRE(r.clusters.core_since == (++level == minpts.size() ? core_since : std::vector<std::int32_t>()));
    first_before = r.clusters.first_core;
    all_before += static_cast<std::uint32_t>(expected.summary.clusters);
  });
  REQUIRE(level == minpts.size());
}

/// Checks labels, summary, core mask and first core points of each descending minpts, which may be given in any order.
/// Returns the clusters of all.
inline std::size_t check_nested(const DataSet& data, double eps, clustering::ClusterSource& source,
                                const Minpts& minpts) {
  INFO(describe(data) << ", eps " << eps);
  const OracleTable rows = data.oracle(eps);
  Minpts handed_out;
  std::size_t clusters = 0;
  const Minpts ascending(minpts.rbegin(), minpts.rend());
  clustering::cluster_nested({source, eps, true}, ascending, CancelToken(), [&](VariantResult&& r) {
    INFO("minpts " << r.variant.minpts);
    const OracleLabels expected = oracle_labels(rows, r.variant.minpts);
    REQUIRE(r.variant.eps == eps);
    REQUIRE(r.labels == expected.labels);
    REQUIRE(r.summary == expected.summary);
    REQUIRE(r.core.size() == data.size());
    for (std::size_t i = 0; i < data.size(); ++i) {
      REQUIRE(r.core[i] == (rows.rows[i].size() >= r.variant.minpts ? 1 : 0));
    }
    handed_out.push_back(r.variant.minpts);
    clusters += r.summary.clusters;
  });
  REQUIRE(handed_out == minpts);

  // The phases run one by one, and each level is labelled separately.
  const CancelToken never;
  clustering::SourceClustering counted(source, {.minpts = minpts}, never);
  for (const std::uint32_t m : minpts) {
    INFO("minpts " << m);
    const OracleLabels expected = oracle_labels(rows, m);
    Labels labels(data.size());
    std::vector<std::uint8_t> core(data.size());
    const LabelTarget target{labels.data(), core.data()};
    United& united = counted.unite(m);
    const std::vector<std::uint32_t> first = united.first_cores();
    REQUIRE(united.label({&target, 1}).front().summary == expected.summary);
    REQUIRE(labels == expected.labels);
    REQUIRE(first == first_cores(labels, core));
  }
  for (const Keep keep : {Keep::labels, Keep::summary, Keep::core}) check_clusters(rows, source, minpts, keep);
  return clusters;
}

}  // namespace epsflow::test
