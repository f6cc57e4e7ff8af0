// DBSCAN by its definition, in plain O(n²) loops, as a reference for every fast path. Shares no code with the library.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include <epsflow/core/labels.hpp>

// These loops take most of the tests' time, and ten times as long if sanitizers instrument them. They are not code of
// epsflow, so sanitizers skip them. A function that they call must have this attribute too, or it is not inlined.
#define EPSFLOW_PLAIN_LOOP __attribute__((no_sanitize("address", "undefined", "thread")))

namespace epsflow::test {

/// Holds every point's eps-neighbourhood, ascending, including the point itself.
struct OracleTable {
  std::vector<std::vector<std::uint32_t>> rows;

  [[nodiscard]] std::uint64_t pairs() const {
    std::uint64_t sum = 0;
    for (const auto& row : rows) sum += row.size();
    return sum;
  }
};

/// Returns the table of an order of the points, in which position p is point order[p]. Rows ascend.
inline OracleTable by_position(const OracleTable& table, std::span<const std::uint32_t> order) {
  std::vector<std::uint32_t> position(order.size());
  for (std::uint32_t p = 0; p < order.size(); ++p) position[order[p]] = p;
  OracleTable moved;
  for (const std::uint32_t id : order) {
    std::vector<std::uint32_t>& row = moved.rows.emplace_back();
    for (const std::uint32_t neighbor : table.rows[id]) row.push_back(position[neighbor]);
    std::sort(row.begin(), row.end());
  }
  return moved;
}

struct OracleLabels {
  std::vector<std::int32_t> labels;
  LabelSummary summary;
};

/// Returns the smallest id among the core points of each cluster. core: [n], not 0 for core points.
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

/// Returns the squared distance in float64. Each operation is rounded once, in the order of the dimensions.
template <class T>
EPSFLOW_PLAIN_LOOP double oracle_squared_distance(const T* p, const T* q, std::size_t dims) {
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

/// Writes the points within sqrt(limit) of point i, ascending; returns their number.
template <class T>
EPSFLOW_PLAIN_LOOP std::size_t oracle_row(const T* values, std::size_t n, std::size_t dims, std::size_t i, double limit,
                                          std::uint32_t* row) {
  std::size_t size = 0;
  const T* const p = values + i * dims;
  const T* q = values;
  for (std::size_t j = 0; j < n; ++j, q += dims) {
    row[size] = static_cast<std::uint32_t>(j);
    size += oracle_squared_distance(p, q, dims) <= limit ? 1 : 0;
  }
  return size;
}

/// values: [n × dims], row-major.
template <class T>
OracleTable oracle_table(const std::vector<T>& values, std::size_t dims, double eps) {
  const std::size_t n = values.size() / dims;
  OracleTable table;
  table.rows.resize(n);
  std::vector<std::uint32_t> row(n + 1);
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t size = oracle_row(values.data(), n, dims, i, eps * eps, row.data());
    table.rows[i].assign(row.data(), row.data() + size);
  }
  return table;
}

/// Returns which points are core by weight. The sums of the weights must be exact.
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

/// Labels of a core point that no cluster has reached yet, and of a point that is not core.
inline constexpr std::int32_t kUnreached = -2, kNoCore = -1;

/// Gives the cluster to the unreached core points of a row and writes them to `open`; returns their number.
EPSFLOW_PLAIN_LOOP inline std::size_t grow(const std::uint32_t* row, std::size_t size, std::int32_t cluster,
                                           std::int32_t* labels, std::uint32_t* open) {
  std::size_t grown = 0;
  for (std::size_t i = 0; i < size; ++i) {
    if (labels[row[i]] != kUnreached) continue;
    labels[row[i]] = cluster;
    open[grown++] = row[i];
  }
  return grown;
}

/// Returns the lowest cluster among the core points of a row, or kNoCore.
EPSFLOW_PLAIN_LOOP inline std::int32_t lowest_cluster(const std::uint32_t* row, std::size_t size,
                                                      const std::int32_t* labels, const std::uint8_t* is_core) {
  std::int32_t lowest = kNoCore;
  for (std::size_t i = 0; i < size; ++i) {
    const std::uint32_t y = row[i];
    if (is_core[y] != 0 && (lowest < 0 || labels[y] < lowest)) lowest = labels[y];
  }
  return lowest;
}

/// Clusters grow from core points in the order of the ids, which gives their numbers. is_core: [n], not 0 if core.
inline OracleLabels oracle_labels(const OracleTable& table, const std::vector<std::uint8_t>& is_core) {
  const std::size_t n = table.rows.size();
  OracleLabels result;
  std::vector<std::int32_t>& labels = result.labels;
  const auto core = [&](std::size_t i) { return is_core[i] != 0; };
  for (std::size_t i = 0; i < n; ++i) labels.push_back(core(i) ? kUnreached : kNoCore);
  std::int32_t clusters = 0;
  std::vector<std::uint32_t> open(n);  // each core point enters once
  for (std::size_t i = 0; i < n; ++i) {
    if (labels[i] != kUnreached) continue;
    labels[i] = clusters;
    open[0] = static_cast<std::uint32_t>(i);
    for (std::size_t size = 1; size > 0;) {
      const std::vector<std::uint32_t>& row = table.rows[open[--size]];
      size += grow(row.data(), row.size(), clusters, labels.data(), open.data() + size);
    }
    ++clusters;
  }
  for (std::size_t i = 0; i < n; ++i) {
    if (core(i)) continue;
    labels[i] = lowest_cluster(table.rows[i].data(), table.rows[i].size(), labels.data(), is_core.data());
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
