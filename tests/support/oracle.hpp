// DBSCAN by its definition, in plain O(n²) loops: what every fast path is compared with. Shares no code with the
// library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include <epsflow/core/labels.hpp>

namespace epsflow::test {

/// Every point's eps-neighbourhood, ascending, the point itself included.
struct OracleTable {
  std::vector<std::vector<std::uint32_t>> rows;

  [[nodiscard]] std::uint64_t pairs() const {
    std::uint64_t sum = 0;
    for (const auto& row : rows) sum += row.size();
    return sum;
  }
};

struct OracleLabels {
  std::vector<std::int32_t> labels;
  LabelSummary summary;
};

/// The smallest id among the core points of each cluster. core: [n] not 0 for core points.
inline std::vector<std::uint32_t> first_cores(std::span<const std::int32_t> labels,
                                              std::span<const std::uint8_t> core) {
  std::map<std::int32_t, std::uint32_t> first;
  for (std::uint32_t id = 0; id < labels.size(); ++id) {
    if (core[id] != 0) first.emplace(labels[id], id);
  }
  std::vector<std::uint32_t> ids;
  for (const auto& [cluster, id] : first) ids.push_back(id);
  return ids;
}

/// Squared distance: float64, each operation rounded once, in the order of the dimensions.
template <class T>
double oracle_squared_distance(const T* p, const T* q, std::size_t dims) {
  double sum = 0;
  for (std::size_t k = 0; k < dims; ++k) {
    const double pk = p[k];
    const double qk = q[k];
    const double diff = pk - qk;
    const double square = diff * diff;
    sum = sum + square;
  }
  return sum;
}

/// values: [n × dims], row-major.
template <class T>
OracleTable oracle_table(const std::vector<T>& values, std::size_t dims, double eps) {
  const std::size_t n = values.size() / dims;
  const double limit = eps * eps;
  OracleTable table;
  table.rows.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      if (oracle_squared_distance(&values[i * dims], &values[j * dims], dims) <= limit) {
        table.rows[i].push_back(static_cast<std::uint32_t>(j));
      }
    }
  }
  return table;
}

/// Which points are core by weights whose sums are exact.
inline std::vector<std::uint8_t> core_by_weight(const OracleTable& table, const std::vector<double>& weights,
                                                std::uint32_t minpts) {
  std::vector<std::uint8_t> core(table.rows.size());
  for (std::size_t i = 0; i < core.size(); ++i) {
    double sum = 0;
    for (const std::uint32_t y : table.rows[i]) sum += weights[y];
    core[i] = sum >= minpts ? 1 : 0;
  }
  return core;
}

/// Clusters grow from core points in the order of the ids, so their numbers follow their smallest core point.
/// is_core: [n] not 0 for core points.
inline OracleLabels oracle_labels(const OracleTable& table, const std::vector<std::uint8_t>& is_core) {
  const std::size_t n = table.rows.size();
  OracleLabels result;
  std::vector<std::int32_t>& labels = result.labels;
  labels.assign(n, -1);
  const auto core = [&](std::size_t i) { return is_core[i] != 0; };
  std::int32_t clusters = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (!core(i) || labels[i] >= 0) continue;
    std::vector<std::size_t> open{i};
    labels[i] = clusters;
    while (!open.empty()) {
      const std::size_t x = open.back();
      open.pop_back();
      for (const std::uint32_t y : table.rows[x]) {
        if (!core(y) || labels[y] >= 0) continue;
        labels[y] = clusters;
        open.push_back(y);
      }
    }
    ++clusters;
  }
  for (std::size_t i = 0; i < n; ++i) {
    if (core(i)) continue;
    for (const std::uint32_t y : table.rows[i]) {
      if (core(y) && (labels[i] < 0 || labels[y] < labels[i])) labels[i] = labels[y];
    }
  }
  LabelSummary& summary = result.summary;
  std::vector<std::uint64_t> sizes(static_cast<std::size_t>(clusters));
  summary.clusters = static_cast<std::uint64_t>(clusters);
  for (std::size_t i = 0; i < n; ++i) {
    if (core(i)) ++summary.core;
    if (labels[i] < 0) {
      ++summary.noise;
      continue;
    }
    if (!core(i)) ++summary.border;
    const std::uint64_t size = ++sizes[static_cast<std::size_t>(labels[i])];
    if (size > summary.largest) summary.largest = size;
  }
  return result;
}
inline OracleLabels oracle_labels(const OracleTable& table, std::uint32_t minpts) {
  std::vector<std::uint8_t> core;
  for (const auto& row : table.rows) core.push_back(row.size() >= minpts ? 1 : 0);
  return oracle_labels(table, core);
}

}  // namespace epsflow::test
