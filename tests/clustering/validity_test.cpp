#include <epsflow/clustering/validity.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/random_points.hpp"

#include <epsflow/core/error.hpp>
#include <epsflow/core/labels.hpp>

namespace epsflow {
namespace {

using test::check_mentions;
using test::DataSet;
using test::Random;

using LabelList = std::vector<std::int32_t>;

/// Computes the index from all distances, as the package hdbscan does for rows sorted by core distance.
class Oracle {
 public:
  Oracle(const DataSet& data, const LabelList& labels) : data_(data) {
    const std::int32_t clusters = labels.empty() ? 0 : *std::max_element(labels.begin(), labels.end()) + 1;
    for (std::int32_t c = 0; c < clusters; ++c) {
      if (std::count(labels.begin(), labels.end(), c) == 0) continue;
      clusters_of.push_back(c);
      add(labels, c);
    }
    for (std::size_t a = 0; a < inner_.size(); ++a) {
      double separation = std::numeric_limits<double>::infinity();
      for (std::size_t b = 0; b < inner_.size(); ++b) {
        if (a == b) continue;
        for (const std::size_t i : inner_[a]) {
          for (const std::size_t j : inner_[b]) separation = std::min(separation, reach(i, j));
        }
      }
      scores.push_back(inner_[a].empty() ? std::nan("")
                                         : (separation - sparseness_[a]) / std::max(separation, sparseness_[a]));
      if (!inner_[a].empty()) {
        score += scores[a] * static_cast<double>(sizes_[a]) / static_cast<double>(labels.size());
      }
    }
  }

  double score = 0;
  std::vector<std::int32_t> clusters_of;  ///< labels that occur
  std::vector<double> scores;

 private:
  [[nodiscard]] double distance(std::size_t i, std::size_t j) const { return std::sqrt(data_.squared_distance(i, j)); }
  [[nodiscard]] double reach(std::size_t i, std::size_t j) const {
    return std::max({distance(i, j), core_[i], core_[j]});
  }

  /// Returns true if i is denser than j, or equally dense and first by coordinates.
  [[nodiscard]] bool comes_before(std::size_t i, std::size_t j) const {
    if (core_[i] != core_[j]) return core_[i] < core_[j];
    for (std::size_t k = 0; k < data_.dims; ++k) {
      if (data_.view().at(i, k) != data_.view().at(j, k)) return data_.view().at(i, k) < data_.view().at(j, k);
    }
    return false;
  }

  void add(const LabelList& labels, std::int32_t cluster) {
    std::vector<std::size_t> ids;
    for (std::size_t i = 0; i < labels.size(); ++i) {
      if (labels[i] == cluster) ids.push_back(i);
    }
    core_.resize(labels.size());
    sizes_.push_back(ids.size());
    inner_.emplace_back();
    sparseness_.push_back(0);
    if (ids.size() < 2) return;
    const auto d = static_cast<double>(data_.dims);
    for (const std::size_t i : ids) {
      double sum = 0;
      for (const std::size_t j : ids) sum += distance(i, j) > 0 ? std::pow(1 / distance(i, j), d) : 0;
      core_[i] = sum == 0 ? 0 : std::pow(sum / static_cast<double>(ids.size() - 1), -1 / d);
    }
    std::sort(ids.begin(), ids.end(), [&](std::size_t i, std::size_t j) { return comes_before(i, j); });
    // Repeatedly adds the point that is nearest to the tree. Its parent is the first point at that distance.
    std::vector<std::size_t> tree{ids[0]};
    std::vector<double> reached(labels.size(), std::numeric_limits<double>::infinity());
    std::vector<bool> in_tree(labels.size());
    std::vector<std::size_t> degree(labels.size());
    std::vector<double> weights;
    std::vector<std::pair<std::size_t, std::size_t>> edges;
    in_tree[ids[0]] = true;
    while (tree.size() < ids.size()) {
      std::size_t next = labels.size();
      for (const std::size_t j : ids) {
        if (in_tree[j]) continue;
        reached[j] = std::min(reached[j], reach(tree.back(), j));
        if (next == labels.size() || reached[j] < reached[next]) next = j;
      }
      const std::size_t parent = *std::find_if(
          ids.begin(), ids.end(), [&](std::size_t i) { return in_tree[i] && reach(i, next) == reached[next]; });
      ++degree[parent];
      ++degree[next];
      edges.emplace_back(parent, next);
      weights.push_back(reached[next]);
      tree.push_back(next);
      in_tree[next] = true;
    }
    double widest = -1;
    for (std::size_t e = 0; e < edges.size(); ++e) {
      if (degree[edges[e].first] > 1 && degree[edges[e].second] > 1) widest = std::max(widest, weights[e]);
    }
    sparseness_.back() = widest < 0 ? *std::max_element(weights.begin(), weights.end()) : widest;
    for (const std::size_t i : ids) {
      if (degree[i] > 1) inner_.back().push_back(i);
    }
    if (inner_.back().empty()) inner_.back().push_back(ids[0]);
  }

  const DataSet& data_;
  std::vector<double> core_;
  std::vector<std::vector<std::size_t>> inner_;
  std::vector<double> sparseness_;
  std::vector<std::size_t> sizes_;
};

void check_same(double found, double expected) {
  if (std::isnan(expected)) {
    CHECK(std::isnan(found));
  } else {
    CHECK(found == Approx(expected).epsilon(1e-9).margin(1e-12));
  }
}

/// Returns clusters around centres, with some noise.
DataSet blobs(Random& random, std::size_t n, std::size_t dims, std::size_t clusters, LabelList& labels) {
  DataSet data{.dims = dims};
  labels.clear();
  std::vector<double> centres(clusters * dims);
  for (double& c : centres) c = random.uniform(-6, 6);
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t c = random.below(clusters + 1);
    labels.push_back(c == clusters ? kNoise : static_cast<std::int32_t>(c));
    for (std::size_t k = 0; k < dims; ++k) {
      data.doubles.push_back(c == clusters ? random.uniform(-8, 8) : centres[c * dims + k] + 0.7 * random.bell());
    }
  }
  return data;
}

TEST_CASE("validity: scores are those of all pairs of points") {
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    INFO("seed " << seed);
    Random random(seed);
    LabelList labels;
    const std::size_t dims = 1 + random.below(random.chance(0.2) ? 20 : 5);
    const DataSet data = blobs(random, 2 + random.below(150), dims, 1 + random.below(6), labels);
    const Validity found = validity(data.view(), labels);
    const Oracle oracle(data, labels);
    check_same(found.score, oracle.score);
    REQUIRE(found.clusters.size() == oracle.scores.size());
    for (std::size_t c = 0; c < oracle.scores.size(); ++c) {
      check_same(found.clusters[c].score, oracle.scores[c]);
      CHECK(found.clusters[c].error == 0);
      CHECK(found.clusters[c].cluster == oracle.clusters_of[c]);
      CHECK(found.clusters[c].points ==
            static_cast<std::uint64_t>(std::count(labels.begin(), labels.end(), oracle.clusters_of[c])));
    }
    CHECK(found.error == 0);
  }
}

TEST_CASE("validity: a cluster so large that several threads share it") {
  Random random(4);
  LabelList labels;
  const DataSet data = blobs(random, 4500, 2, 1, labels);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (i >= 4300) labels[i] = i < 4400 ? 1 : kNoise;
    if (i < 4300) labels[i] = 0;
  }
  const Oracle oracle(data, labels);
  const Validity found = validity(data.view(), labels);
  check_same(found.score, oracle.score);
  check_same(found.clusters[0].score, oracle.scores[0]);
}

TEST_CASE("validity: samples are the same each time, and their scores near that of all points") {
  Random random(5);
  LabelList labels;
  const DataSet data = blobs(random, 9000, 2, 3, labels);
  const Validity whole = validity(data.view(), labels);
  const ValidityOptions sampled{.sample = 300, .samples = 4};
  const Validity some = validity(data.view(), labels, sampled);
  CHECK(whole.error == 0);
  CHECK(some.error > 0);
  CHECK(some.clusters[0].error > 0);
  CHECK(std::abs(some.score - whole.score) < 0.1);
  CHECK(validity(data.view(), labels, sampled).score == some.score);
  CHECK(validity(data.view(), labels, {.sample = 3000, .samples = 4}).score == whole.score);
}

TEST_CASE("validity: duplicates, clusters of one point, of two, alone, and none") {
  DataSet data;
  data.doubles = {0, 0, 0, 5, 5.5, 9, 20, 21, 22, 23.5};
  const LabelList labels{0, 0, 0, 1, 1, 2, 4, 4, 4, 4};
  const Validity found = validity(data.view(), labels);
  const Oracle oracle(data, labels);
  REQUIRE(found.clusters.size() == 4);
  CHECK(found.clusters[3].cluster == 4);
  for (std::size_t c = 0; c < 4; ++c) check_same(found.clusters[c].score, oracle.scores[c]);
  check_same(found.score, oracle.score);
  CHECK(found.clusters[0].score == 1);  // all points are equal
  CHECK(std::isnan(found.clusters[2].score));
  CHECK(found.clusters[2].points == 1);
  CHECK(std::isnan(validity(data.view(), LabelList(10, 0)).score));
  const Validity noise = validity(data.view(), LabelList(10, kNoise));
  CHECK(noise.score == 0);
  CHECK(noise.clusters.empty());
  CHECK(validity(PointsView(std::span<const double>(), 2), {}).score == 0);
}

/// Returns all numbers of the result as bits. All NaN are equal.
std::vector<std::uint64_t> bits_of(const Validity& found) {
  std::vector<std::uint64_t> bits;
  const auto add = [&](double x) {
    bits.push_back(std::isnan(x) ? ~std::uint64_t{0} : std::bit_cast<std::uint64_t>(x));
  };
  add(found.score);
  add(found.error);
  for (const ClusterValidity& c : found.clusters) {
    bits.push_back(static_cast<std::uint64_t>(c.cluster));
    bits.push_back(c.points);
    for (const double x : {c.score, c.error, c.sparseness, c.separation}) add(x);
  }
  return bits;
}

/// Returns points of a lattice, some of them repeated. The clusters are boxes of the lattice or random.
DataSet lattice(Random& random, std::size_t dims, LabelList& labels) {
  DataSet data{.dims = dims};
  labels.clear();
  const std::uint64_t steps = 2 + random.below(6);
  const double step = random.pick<double>({1, 0.1, 1.0 / 3});
  const bool at_random = random.chance(0.3);
  const std::size_t n = 4 + random.below(120);
  for (std::size_t i = 0; i < n; ++i) {
    const auto cluster = static_cast<std::int32_t>(random.below(3));
    labels.push_back(at_random && random.chance(0.5) ? static_cast<std::int32_t>(random.below(4)) - 1 : cluster);
    for (std::size_t k = 0; k < dims; ++k) {
      const auto position = static_cast<double>(random.below(steps) + (k == 0 ? 2 * steps * cluster : 0));
      data.doubles.push_back(position * step);
    }
  }
  return data;
}

TEST_CASE("validity: the order of rows changes no bit, where points and distances are equal") {
  std::size_t scored = 0;
  for (std::uint64_t seed = 0; seed < test::sets_of(400); ++seed) {
    INFO("seed " << seed);
    Random random(seed);
    LabelList labels;
    DataSet data = lattice(random, 1 + random.below(3), labels);
    if (random.chance(0.3)) {
      data =
          test::make_data(random.pick<std::string>({"duplicates", "quantised", "clustered", "all equal", "collinear"}),
                          4 + random.below(120), 1 + random.below(4),
                          random.pick<Precision>({Precision::float32, Precision::float64}), seed);
      labels.resize(data.size());
      for (std::int32_t& label : labels) label = static_cast<std::int32_t>(random.below(4)) - 1;
    }
    const ValidityOptions options = random.chance(0.3) ? ValidityOptions{.sample = 5, .samples = 3} : ValidityOptions{};
    const Validity found = validity(data.view(), labels, options);
    scored += std::isfinite(found.score) && found.score != 0 ? 1 : 0;
    for (std::uint64_t again = 1; again <= 3; ++again) {
      const std::vector<std::size_t> order = Random(1000 * seed + again).order(data.size());
      const DataSet other = data.reordered(order);
      LabelList moved;
      for (const std::size_t row : order) moved.push_back(labels[row]);
      REQUIRE(bits_of(validity(other.view(), moved, options)) == bits_of(found));
    }
  }
  CHECK(scored > test::sets_of(200));
}

TEST_CASE("validity: the unit of the points changes no more than rounding does") {
  for (std::uint64_t seed = 0; seed < test::sets_of(100); ++seed) {
    Random random(seed);
    LabelList labels;
    const DataSet data = random.chance(0.5) ? lattice(random, 2, labels) : blobs(random, 120, 2, 3, labels);
    const Validity plain = validity(data.view(), labels);
    for (const double factor : {0x1p-900, 0x1p900, 1e-150, 1e-162, 1e-300, 1e-6, 3.0, 1e154, 1e160, 1e305}) {
      INFO("seed " << seed << ", times " << factor);
      DataSet other = data;
      for (double& x : other.doubles) x *= factor;
      const Validity found = validity(other.view(), labels);
      for (std::size_t c = 0; c < found.clusters.size(); ++c) {
        check_same(found.clusters[c].sparseness / factor, plain.clusters[c].sparseness);
        check_same(found.clusters[c].separation / factor, plain.clusters[c].separation);
        check_same(found.clusters[c].score, plain.clusters[c].score);
      }
      check_same(found.score, plain.score);
    }
  }
}

TEST_CASE("validity: sizes whose squares float64 does not hold together") {
  DataSet data;
  data.doubles = {1e-200, 3e-200, 7e-200, 1e200, 2e200, 4e200, 1e-100};
  const Validity found = validity(data.view(), LabelList{0, 0, 0, 1, 1, 1, kNoise});
  CHECK(found.clusters[0].sparseness == Approx(4.8e-200).margin(0));
  CHECK(found.clusters[0].separation == Approx(2e200));
  CHECK((found.clusters[1].sparseness > 1e200 && found.clusters[1].sparseness < 4e200));
  CHECK(found.clusters[0].score == 1);
  // One cluster has an outlier, and two clusters are almost at the same position.
  data.doubles = {1, 1.5, 1.75, 1e300, 5, 6, 7};
  CHECK(validity(data.view(), LabelList{0, 0, 0, 0, 1, 1, 1}).clusters[1].sparseness == Approx(1.3333333333333333));
  data.doubles = {0, 0, 1e-300, 1e-300, 1, 1, 5};
  const Validity near = validity(data.view(), LabelList{0, 0, 1, 1, 2, 2, kNoise});
  CHECK(near.clusters[0].separation == Approx(1e-300).margin(0));
  CHECK(near.clusters[0].score == 1);
  CHECK(near.clusters[2].separation == 1);
}

TEST_CASE("validity: in many dimensions powers of distances neither overflow nor vanish") {
  // The powers that hdbscan computes overflow or underflow here.
  Random random(3);
  LabelList labels;
  DataSet data = blobs(random, 120, 700, 3, labels);
  const double score = validity(data.view(), labels).score;
  CHECK(score > 0);
  CHECK(score < 1);
  for (double& x : data.doubles) x *= 1024;
  CHECK(validity(data.view(), labels).score == Approx(score).epsilon(1e-6));
}

TEST_CASE("validity: every kind of points has scores that may be") {
  for (const std::string& kind : test::data_kinds()) {
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
      INFO(kind << ", seed " << seed);
      Random random(seed);
      const DataSet data = test::make_data(kind, 100, 1 + random.below(4), Precision::float64, seed);
      LabelList labels(data.size());
      for (std::int32_t& label : labels) label = static_cast<std::int32_t>(random.below(4)) - 1;
      for (const ClusterValidity& cluster : validity(data.view(), labels).clusters) {
        if (!std::isnan(cluster.score)) CHECK(std::abs(cluster.score) <= 1);
      }
    }
  }
}

TEST_CASE("validity: float32 is widened") {
  Random random(6);
  LabelList labels;
  DataSet data = blobs(random, 200, 3, 3, labels);
  DataSet single = data;
  single.precision = Precision::float32;
  single.floats.assign(data.doubles.begin(), data.doubles.end());
  data.doubles.assign(single.floats.begin(), single.floats.end());
  CHECK(validity(single.view(), labels).score == validity(data.view(), labels).score);
}

TEST_CASE("validity: errors and cancellation") {
  DataSet data;
  data.doubles = {0, 1, 2, 3};
  CHECK_THROWS_AS(validity(data.view(), LabelList{0, 0, 0}), UsageError);
  CHECK_THROWS_AS(validity(data.view(), LabelList{0, 0, 0, -2}), UsageError);
  CHECK_THROWS_AS(validity(data.view(), LabelList(4), {.samples = 1}), UsageError);
  CHECK_THROWS_AS(validity(data.view(), LabelList(4), {.sample = 1}), UsageError);
  CancelToken token;
  token.cancel();
  CHECK_THROWS_AS(validity(data.view(), LabelList(4), {}, token), Cancelled);
  data.doubles[2] = std::nan("");
  CHECK_THROWS_AS(validity(data.view(), LabelList(4)), InputError);
}

}  // namespace
}  // namespace epsflow
