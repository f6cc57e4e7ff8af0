#include <epsflow/clustering/label_clusters.hpp>

#include <cstdint>
#include <vector>

#include "support/catch.hpp"
#include "support/oracle.hpp"
#include "support/table_maker.hpp"

#include <epsflow/clustering/table_source.hpp>
#include <epsflow/clustering/union_find.hpp>
#include <epsflow/core/buffer.hpp>
#include <epsflow/core/cancel.hpp>

namespace epsflow::clustering {
namespace {

using test::OracleTable;
using test::TableMaker;

struct Labelled {
  std::vector<std::int32_t> labels;
  LabelSummary summary;
};

Labelled label(const NeighborTable& table, const std::vector<std::uint32_t>& order,
               const std::vector<std::uint32_t>& parents) {
  const CancelToken never;
  Buffer<std::uint32_t> parent = test::filled(parents);
  Buffer<std::uint32_t> number(parent.size());
  Labelled result;
  result.labels.assign(parent.size(), 12345);
  const TableSource source(table, order);
  const std::uint32_t minpts = 1;
  LevelLabels level{number_clusters(source, parent.span(), number.span(), never), result.labels, {}};
  label_clusters(source, {{&minpts, 1}, number.data()}, {&level, 1}, never);
  result.summary = level.summary;
  return result;
}

TEST_CASE("label clusters: numbers follow the smallest core id, not the position") {
  // Positions 0-1, 2-3 and 4-5 are pairs. The order of their ids reverses the numbering.
  OracleTable rows;
  rows.rows = {{0, 1}, {0, 1}, {2, 3}, {2, 3}, {4, 5}, {4, 5}};
  TableMaker maker;
  // order[p] is the id of position p: positions 0 and 1 hold ids 4 and 5, and so on.
  const std::vector<std::uint32_t> order{4, 5, 2, 3, 0, 1};
  const NeighborTable& table = maker.csr(rows, order);
  const Labelled got = label(table, order, {0, 0, 2, 2, 4, 4});
  CHECK(got.labels == std::vector<std::int32_t>{0, 0, 1, 1, 2, 2});
  CHECK(got.summary == LabelSummary{3, 0, 6, 0, 2});
}

TEST_CASE("label clusters: a cluster is not numbered by a border point of smaller id") {
  // Id 0 is a border point of the second cluster; the first cluster's core points are 1 and 2.
  OracleTable rows;
  rows.rows = {{0, 4}, {1, 2}, {1, 2}, {3, 4}, {0, 3, 4}};
  TableMaker maker;
  const auto order = test::make_order(5);
  const NeighborTable& table = maker.csr(rows, order);
  const Labelled got = label(table, order, {kNotCore, 1, 1, 3, 3});
  CHECK(got.labels == std::vector<std::int32_t>{1, 0, 0, 1, 1});
  CHECK(got.summary == LabelSummary{2, 0, 4, 1, 3});
}

TEST_CASE("label clusters: noise, border points and long paths") {
  // Parents form a path 3 -> 2 -> 1 -> 0; 4 touches a core point, 5 touches only 4.
  OracleTable rows;
  rows.rows = {{0, 1}, {0, 1, 2}, {1, 2, 3}, {2, 3, 4}, {3, 4, 5}, {4, 5}};
  TableMaker maker;
  for (const bool packed : {false, true}) {
    const auto order = test::make_order(6);
    const NeighborTable& table = packed ? maker.packed(rows, order, 2) : maker.csr(rows, order, 3);
    const Labelled got = label(table, order, {0, 0, 1, 2, kNotCore, kNotCore});
    CHECK(got.labels == std::vector<std::int32_t>{0, 0, 0, 0, 0, -1});
    CHECK(got.summary == LabelSummary{1, 1, 4, 1, 5});
  }
}

TEST_CASE("label clusters: parents are flat on return") {
  OracleTable rows;
  rows.rows = {{0, 1}, {0, 1, 2}, {1, 2, 3}, {2, 3}};
  TableMaker maker;
  const auto order = test::make_order(4);
  const NeighborTable& table = maker.csr(rows, order);
  Buffer<std::uint32_t> parent = test::filled<std::uint32_t>({0, 0, 1, 2});
  std::vector<std::uint32_t> number(4);
  CHECK(number_clusters(TableSource(table, order), parent.span(), number, CancelToken()) == 1);
  CHECK(number == std::vector<std::uint32_t>(4));
  CHECK(std::vector<std::uint32_t>(parent.begin(), parent.end()) == std::vector<std::uint32_t>{0, 0, 0, 0});
}

TEST_CASE("label clusters: hundreds of thousands of clusters keep the order of their ids") {
  // Every point is a cluster, which is enough for many blocks of the parallel loops.
  constexpr std::uint32_t n = 200'000;
  OracleTable rows;
  for (std::uint32_t x = 0; x < n; ++x) rows.rows.push_back({x});
  TableMaker maker;
  const auto order = test::make_order(n, 4);
  const NeighborTable& table = maker.csr(rows, order);
  const Labelled got = label(table, order, test::make_order(n));
  bool right = true;
  for (std::uint32_t id = 0; id < n; ++id) right &= got.labels[id] == static_cast<std::int32_t>(id);
  CHECK(right);
  CHECK(got.summary == LabelSummary{n, 0, n, 0, 1});
}

TEST_CASE("label clusters: a cancelled token stops it") {
  OracleTable rows;
  rows.rows = {{0}};
  TableMaker maker;
  const auto order = test::make_order(1);
  const NeighborTable& table = maker.csr(rows, order);
  Buffer<std::uint32_t> parent = test::filled<std::uint32_t>({0});
  std::vector<std::uint32_t> number(1);
  std::vector<std::int32_t> labels(1);
  CancelToken token;
  token.cancel();
  CHECK_THROWS_AS(number_clusters(TableSource(table, order), parent.span(), number, token), Cancelled);
  const std::uint32_t minpts = 1;
  LevelLabels level{1, labels, {}};
  CHECK_THROWS_AS(label_clusters(TableSource(table, order), {{&minpts, 1}, number.data()}, {&level, 1}, token),
                  Cancelled);
}

}  // namespace
}  // namespace epsflow::clustering
