#include <epsflow/pipeline/explore.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "support/blobs.hpp"
#include "support/cancelling.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/random_points.hpp"
#include "support/watchdog.hpp"

#include <epsflow/clustering/agreement.hpp>
#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/core/sweep.hpp>
#include <epsflow/pipeline/neighbors.hpp>
#include <epsflow/pipeline/sweep.hpp>

namespace epsflow::test {
namespace {

std::vector<std::int32_t> list(const Labels& labels) { return {labels.begin(), labels.end()}; }

double adjusted_rand(const Labels& a, const Labels& b) { return agreement(Contingency(a, b)).adjusted_rand; }

/// Returns the adjusted Rand index on the points that are border points in neither offer.
double agreement_of(const Offer& a, const Offer& b) {
  std::vector<std::int32_t> of_a, of_b;
  for (std::size_t i = 0; i < a.labels.size(); ++i) {
    if ((a.labels[i] >= 0 && a.core[i] == 0) || (b.labels[i] >= 0 && b.core[i] == 0)) continue;
    of_a.push_back(a.labels[i]);
    of_b.push_back(b.labels[i]);
  }
  return adjusted_rand(of_a, of_b);
}

bool has(const Exploration& made, Doubt doubt) {
  return std::count(made.doubts.begin(), made.doubts.end(), doubt) == 1;
}

std::vector<const Offer*> offers_of(const Exploration& made) {
  std::vector<const Offer*> offers;
  if (made.recommended) offers.push_back(&*made.recommended);
  for (const Offer& offer : made.alternatives) offers.push_back(&offer);
  return offers;
}

/// Checks an offer that is a cell of the grid.
void check_cell(const Dataset& data, const Exploration& made, const Offer& offer) {
  const VariantResult alone = std::move(run(data, Sweep({offer.variant}), {.core_mask = true}).front());
  CHECK(list(offer.labels) == list(alone.labels));
  CHECK(offer.core == alone.core);
  CHECK(offer.summary == alone.summary);
  CHECK(offer.eps_of_clusters.empty());
  REQUIRE(offer.cell);
  CHECK(made.map.cell(*offer.cell).variant == offer.variant);
  CHECK(made.map.cell(*offer.cell).summary == offer.summary);
  CHECK(offer.plateau.eps_from <= offer.variant.eps);
  CHECK(offer.plateau.eps_to >= offer.variant.eps);
  CHECK(offer.plateau.minpts_from <= offer.variant.minpts);
  CHECK(offer.plateau.minpts_to >= offer.variant.minpts);
}

/// Checks an offer whose clusters have an eps each: the core points of a cluster are the core points of one cluster of
/// a run at this eps; other points within the eps of a cluster are in one of these clusters; all others are noise.
void check_clusters_of_eps(const Dataset& data, const Offer& offer) {
  const std::size_t n = offer.labels.size();
  REQUIRE(offer.eps_of_clusters.size() == offer.summary.clusters);
  std::vector<std::map<std::int32_t, double>> within(n);  // the distance of each point to clusters within their eps
  std::uint32_t first_before = 0;
  std::set<double> all_eps;
  LabelSummary counts{.clusters = offer.eps_of_clusters.size()};
  for (std::size_t k = 0; k < offer.eps_of_clusters.size(); ++k) {
    const auto cluster = static_cast<std::int32_t>(k);
    const double eps = offer.eps_of_clusters[k];
    all_eps.insert(eps);
    CHECK((eps >= offer.plateau.eps_from && eps <= offer.plateau.eps_to));
    const VariantResult alone = run(data, Sweep({{eps, offer.variant.minpts}}), {.core_mask = true}).front();
    std::vector<std::uint32_t> members;  // its core points
    for (std::uint32_t i = 0; i < n; ++i) {
      if (offer.core[i] != 0 && offer.labels[i] == cluster) members.push_back(i);
    }
    REQUIRE_FALSE(members.empty());
    CHECK((k == 0 || members.front() > first_before));
    first_before = members.front();
    std::vector<std::uint32_t> of_run;
    for (std::uint32_t i = 0; i < n; ++i) {
      if (alone.core[i] != 0 && alone.labels[i] == alone.labels[first_before]) of_run.push_back(i);
    }
    REQUIRE(of_run == members);
    const Neighbors near = neighbors(data, eps, Distances::include);
    for (const std::uint32_t p : members) {
      for (std::uint64_t j = near.offsets[p]; j < near.offsets[p + 1]; ++j) {
        const auto [at, is_new] = within[near.ids[j]].emplace(cluster, near.distances[j]);
        if (!is_new) at->second = std::min(at->second, near.distances[j]);
      }
    }
  }
  std::vector<std::uint64_t> sizes(offer.eps_of_clusters.size());
  for (std::size_t i = 0; i < n; ++i) {
    if (offer.labels[i] == kNoise) {
      ++counts.noise;
      REQUIRE(within[i].empty());
      continue;
    }
    REQUIRE(within[i].contains(offer.labels[i]));
    if (offer.core[i] == 0) {
      for (const auto& [cluster, distance] : within[i]) REQUIRE(within[i].at(offer.labels[i]) <= distance);
    }
    ++(offer.core[i] != 0 ? counts.core : counts.border);
    counts.largest = std::max(counts.largest, ++sizes[static_cast<std::size_t>(offer.labels[i])]);
  }
  CHECK(offer.summary == counts);
  CHECK(offer.variant.eps == (all_eps.size() == 1 ? *all_eps.begin() : 0));
}

/// Checks that the fields of an exploration are consistent.
void check_consistent(const Dataset& data, const Exploration& made) {
  REQUIRE(made.scores.size() == made.eps.size() * made.minpts.size());
  REQUIRE(made.map.cells().size() == made.scores.size());
  CHECK(std::is_sorted(made.eps.begin(), made.eps.end()));
  CHECK(std::is_sorted(made.minpts.begin(), made.minpts.end()));
  CHECK(made.alternatives.size() <= 2);
  CHECK((made.recommended || made.alternatives.empty()));
  CHECK(made.recommended.has_value() == made.one_eps.has_value());
  if (made.one_eps) check_cell(data, made, *made.one_eps);
  const std::vector<const Offer*> offers = offers_of(made);
  for (std::size_t a = 0; a < offers.size(); ++a) {
    const Offer& offer = *offers[a];
    if (offer.cell) {
      check_cell(data, made, offer);
    } else {
      check_clusters_of_eps(data, offer);
    }
    CHECK(offer.confidence >= 0.1);
    CHECK(offer.confidence <= 0.97);
    CHECK(offer.score > 0);
    CHECK_FALSE(offer.reason.empty());
    for (std::size_t b = 0; b < a; ++b) {
      if (b == 0 || offers[b]->cell) CHECK(agreement_of(offer, *offers[b]) < (offer.cell ? 0.8 : 0.95));
    }
  }
}

/// Returns the result of explore() after a check that it is consistent.
Exploration consistent(const Dataset& data, const Sweep& sweep = {}) {
  Exploration made = sweep.size() > 0 ? explore(data, sweep) : explore(data);
  check_consistent(data, made);
  return made;
}

/// Checks besides that this number of clusters is recommended.
Exploration check_clusters(const Dataset& data, std::uint64_t clusters) {
  Exploration made = consistent(data);
  REQUIRE(made.recommended);
  CHECK(made.recommended->summary.clusters == clusters);
  return made;
}

/// Compares what depends only on the set of points: all except labels of border points and numbers of clusters.
void check_same_answer(const Exploration& a, const Exploration& b) {
  CHECK(a.eps == b.eps);
  CHECK(a.minpts == b.minpts);
  CHECK(a.doubts == b.doubts);
  REQUIRE(a.scores.size() == b.scores.size());
  for (std::size_t i = 0; i < a.scores.size(); ++i) REQUIRE(a.scores[i].score == b.scores[i].score);
  const std::vector<const Offer*> of_a = offers_of(a), of_b = offers_of(b);
  REQUIRE(of_a.size() == of_b.size());
  for (std::size_t i = 0; i < of_a.size(); ++i) {
    CHECK(of_a[i]->variant == of_b[i]->variant);
    CHECK(std::ranges::is_permutation(of_a[i]->eps_of_clusters, of_b[i]->eps_of_clusters));
    CHECK(of_a[i]->reason == of_b[i]->reason);
    CHECK(of_a[i]->confidence == of_b[i]->confidence);
    CHECK(of_a[i]->summary.clusters == of_b[i]->summary.clusters);
    CHECK(of_a[i]->summary.noise == of_b[i]->summary.noise);
    CHECK(of_a[i]->summary.core == of_b[i]->summary.core);
  }
}

/// Compares all cells and labels.
void check_same(const Exploration& a, const Exploration& b) {
  check_same_answer(a, b);
  const std::vector<const Offer*> of_a = offers_of(a), of_b = offers_of(b);
  for (std::size_t i = 0; i < of_a.size(); ++i) CHECK(list(of_a[i]->labels) == list(of_b[i]->labels));
}

Dataset load(const DataSet& data, const Metric& metric = {}, const EngineOptions& engine = {}) {
  return Engine(engine).load(data.view(), metric);
}
Dataset load(DataSet&& data, const Metric& metric = {}, const EngineOptions& engine = {}) = delete;  // must outlive it

/// Returns the blob of each point. Each blob has `each` points.
Labels truth(std::size_t n, std::size_t each) {
  Labels labels(n);
  for (std::size_t i = 0; i < n; ++i) labels[i] = static_cast<std::int32_t>(i / each);
  return labels;
}

/// Returns blobs on a grid, far from each other.
DataSet blobs_apart(std::size_t count, std::size_t dims, std::uint64_t seed) {
  std::vector<Blob> blobs;
  for (std::size_t k = 0; k < count; ++k) {
    Blob blob{std::vector<double>(dims), 0.5 + 0.1 * static_cast<double>(k % 3), 150};
    std::size_t rest = k;
    for (double& x : blob.centre) {
      x = 10 * static_cast<double>(rest % 3);
      rest /= 3;
    }
    blobs.push_back(blob);
  }
  return make_blobs(blobs, seed);
}

TEST_CASE("explore: blobs are recommended, with the labels of a run") {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const std::size_t count = 2 + seed % 6;
    const std::size_t dims = 2 + seed % 4;
    INFO("seed " << seed << ", blobs " << count << ", dims " << dims);
    const DataSet data = blobs_apart(count, dims, seed);
    const Exploration made = check_clusters(load(data), count);
    CHECK(adjusted_rand(made.recommended->labels, truth(data.size(), 150)) > 0.99);
    CHECK(made.recommended->confidence > 0.7);
    CHECK(made.recommended->reason.find(std::to_string(count) + " big clusters, unchanged from eps ") == 0);
  }
}

TEST_CASE("explore: in noise without clusters nothing is recommended") {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const DataSet data = uniform_points(300 + 100 * (seed % 5), 2 + seed % 3, seed);
    INFO("seed " << seed << ", dims " << data.dims << ", points " << data.size());
    const Exploration made = consistent(load(data));
    CHECK_FALSE(made.recommended);
    CHECK(has(made, Doubt::no_clusters));
  }
  const DataSet bell = make_blobs({{{0, 0}, 1, 600}}, 3);
  CHECK_FALSE(explore(load(bell)).recommended);
}

/// Returns a random set of points. It may have clusters that touch or overlap or no clusters, and may lie on a lattice.
DataSet some_set(std::uint64_t seed) {
  Random random(seed);
  DataSet data{.dims = 1 + random.below(3)};
  const std::size_t blobs = random.below(5);
  std::vector<Blob> made;
  for (std::size_t b = 0; b < blobs; ++b) {
    std::vector<double> centre(data.dims);
    for (double& x : centre) x = random.uniform(0, 12);
    made.push_back({centre, random.uniform(0.2, 1.5), 20 + random.below(60)});
  }
  if (!made.empty()) data = make_blobs(made, seed);
  data.dims = made.empty() ? data.dims : made.front().centre.size();
  add_uniform(data, 20 + random.below(60), 0, 12, seed + 1);
  if (random.below(3) == 0) {
    for (double& x : data.doubles) x = std::round(4 * x) / 4;
  }
  return data;
}

/// Returns close pairs of dense blobs, far from one wide blob: no single eps shows all.
DataSet of_two_densities(std::uint64_t seed) {
  std::vector<Blob> blobs;
  for (const double x : {0.0, 100.0}) {
    for (const double dx : {0.0, 1.0}) blobs.push_back({{x + dx, 0}, 0.1, 150});
  }
  blobs.push_back({{50, 80}, 10, 150});
  return make_blobs(blobs, seed);
}

/// Returns weights from 0.5 to 2, and a tenth of 0.
std::vector<double> some_weights(std::size_t n) {
  Random random(1);
  std::vector<double> weights(n);
  for (double& w : weights) w = random.chance(0.1) ? 0 : random.uniform(0.5, 2);
  return weights;
}

TEST_CASE("explore: groups of different density get an eps each") {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    INFO("seed " << seed);
    const DataSet data = of_two_densities(seed);
    const Exploration made = check_clusters(load(data), 5);
    CHECK(adjusted_rand(made.recommended->labels, truth(data.size(), 150)) > 0.95);
    CHECK(made.recommended->variant.eps == 0);
    CHECK(made.recommended->plateau.eps_to > 5 * made.recommended->plateau.eps_from);
    CHECK(adjusted_rand(made.one_eps->labels, truth(data.size(), 150)) < 0.95);
    // Gaussians of standard deviations 0.1 and 10, in the plane.
    check_mentions(made.recommended->reason, {"5 clusters", "4 of them are about ", "times denser than the other, at"});
  }
}

TEST_CASE("explore: clusters have an eps each with weights, in periodic boxes and on the sphere") {
  const DataSet data = of_two_densities(3);
  const auto check = [&](const Dataset& loaded) {
    const Exploration made = consistent(loaded);
    REQUIRE(made.recommended);
    CHECK(made.recommended->variant.eps == 0);
    CHECK(adjusted_rand(made.recommended->labels, truth(data.size(), 150)) > 0.95);
    return made;
  };
  SECTION("weights of 2 are two points") {
    const Exploration made = check(load(data).weighted(std::vector<double>(data.size(), 2)));
    const Exploration alone = explore(load(data));
    CHECK(made.recommended->eps_of_clusters == alone.recommended->eps_of_clusters);
    CHECK(list(made.recommended->labels) == list(alone.recommended->labels));
  }
  SECTION("weights from 0 to 2") { check(load(data).weighted(some_weights(data.size()))); }
  SECTION("in a periodic box, with blobs across its ends") {
    DataSet moved = data;
    for (double& x : moved.doubles) x -= 300 * std::floor(x / 300);
    check(load(moved, {.box = {{0, 300}, {0, 300}}}));
  }
  SECTION("on the sphere, across the date line") {
    DataSet degrees = data;
    for (std::size_t i = 0; i < degrees.size(); ++i) {
      double& longitude = degrees.doubles[2 * i];
      longitude = longitude / 10 + 179.95;
      if (longitude > 180) longitude -= 360;
      degrees.doubles[2 * i + 1] /= 10;
    }
    check(load(degrees, {.kind = MetricKind::greatcircle}));
  }
}

TEST_CASE("explore: in random sets offers are consistent, and eps are round numbers in even ratios") {
  std::size_t several = 0;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    INFO("set " << seed);
    const DataSet data = some_set(seed);
    const Exploration made = consistent(load(data));
    for (const double eps : made.eps) {
      CHECK(eps == three_digits(eps));
      CHECK(format_number(eps).size() <= 8);
    }
    if (!made.eps.empty()) CHECK_NOTHROW(require_even_grid(grid(made.eps, made.minpts).variants()));
    several += made.recommended && made.recommended->variant.eps == 0 ? 1 : 0;
  }
  CHECK(several > 20);
}

TEST_CASE("explore: clusters in clusters are offered at both scales") {
  std::vector<Blob> blobs;
  for (const double x : {0.0, 100.0, 200.0}) {
    for (const double dx : {0.0, 12.0}) {
      for (const double dy : {0.0, 12.0}) blobs.push_back({{x + dx, dy}, 1, 100});
    }
  }
  const DataSet data = make_blobs(blobs, 1);
  const Exploration made = consistent(load(data));
  std::vector<std::uint64_t> counts;
  for (const Offer* offer : offers_of(made)) counts.push_back(offer->summary.clusters);
  CHECK(std::count(counts.begin(), counts.end(), 12) == 1);
  CHECK(std::count(counts.begin(), counts.end(), 3) == 1);
}

TEST_CASE("explore: how it is computed changes nothing") {
  DataSet data = blobs_apart(4, 2, 5);
  add_uniform(data, 100, -5, 25, 6);
  const Exploration made = explore(load(data));
  REQUIRE(made.recommended);
  check_same(explore(load(data)), made);
  const EngineOptions one{.threads = 1, .backend = BackendChoice::cpu};
  check_same(explore(load(data, {}, one)), made);
  for (const StrategyChoice strategy : {StrategyChoice::direct, StrategyChoice::table}) {
    check_same(explore(load(data), RunOptions{.strategy = strategy}), made);
  }
  for (const IndexChoice index : {IndexChoice::grid, IndexChoice::tree, IndexChoice::all}) {
    check_same(explore(load(data, {}, one), RunOptions{.search = {.index = index}}), made);
  }
  // Options that select the outputs of a run do not change it either.
  check_same(explore(load(data), RunOptions{.keep = Keep::summary}), made);
  check_same(explore(load(data), RunOptions{.verify = true, .core_mask = true, .clusters = true}), made);
  check_same(explore(load(data), suggest(load(data))), made);
}

/// Compares the answers for a hundred sets, from number `first` on, in three orders each.
void check_orders(std::uint64_t first) {
  std::size_t recommended = 0;
  for (std::uint64_t seed = first; seed < first + 100; ++seed) {
    INFO("set " << seed);
    const DataSet data = some_set(seed);
    const Exploration made = explore(load(data));
    recommended += made.recommended ? 1 : 0;
    const DataSet mixed = data.reordered(Random(seed).order(data.size()));
    check_same_answer(explore(load(mixed)), made);
    DataSet other = data;
    std::rotate(other.doubles.begin(), other.doubles.begin() + static_cast<std::ptrdiff_t>(data.size() / 3 * data.dims),
                other.doubles.end());
    check_same_answer(explore(load(other)), made);
  }
  CHECK(recommended > 30);
  CHECK(recommended < 100);
}

// Five tests, as one would take minutes under the address sanitizer.
TEST_CASE("explore: the order of the rows is of no account, in sets 1 to 100") { check_orders(1); }
TEST_CASE("explore: the order of the rows is of no account, in sets 101 to 200") { check_orders(101); }
TEST_CASE("explore: the order of the rows is of no account, in sets 201 to 300") { check_orders(201); }
TEST_CASE("explore: the order of the rows is of no account, in sets 301 to 400") { check_orders(301); }
TEST_CASE("explore: the order of the rows is of no account, in sets 401 to 500") { check_orders(401); }

TEST_CASE("explore: where the origin lies is of no account, as far as coordinates tell") {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    INFO("set " << seed);
    DataSet data = some_set(seed);
    for (double& x : data.doubles) x = std::round(x * 0x1p20) * 0x1p-20;  // the shift by 2^20 then loses no digits
    const Exploration made = explore(load(data));
    DataSet moved = data;
    for (double& x : moved.doubles) x += 0x1p20;
    check_same_answer(explore(load(moved)), made);
  }
}

TEST_CASE("explore: the labels of an offer are those of the same points in another order") {
  const DataSet data = blobs_apart(5, 2, 7);
  const Exploration made = explore(load(data));
  REQUIRE(made.recommended);
  const std::vector<std::size_t> order = Random(3).order(data.size());
  const DataSet mixed = data.reordered(order);
  const Exploration other = explore(load(mixed));
  REQUIRE(other.recommended);
  Labels back(data.size());
  for (std::size_t i = 0; i < order.size(); ++i) back[order[i]] = other.recommended->labels[i];
  CHECK(adjusted_rand(back, made.recommended->labels) == 1);
}

TEST_CASE("explore: eps goes with the scale of the coordinates, and nothing else does") {
  const DataSet data = blobs_apart(4, 3, 8);
  const Exploration made = explore(load(data));
  REQUIRE(made.recommended);
  // Eps have three decimal digits: a factor that is not a power of ten moves each by less than a step of the grid.
  for (const double factor : {1e3, 1e-6, 1e-9, 0x1p10, 0x1p-40, 37.3}) {
    INFO("factor " << factor);
    const bool decimal = factor == 1e3 || factor == 1e-6 || factor == 1e-9;
    DataSet scaled = data;
    for (double& x : scaled.doubles) x *= factor;
    const Exploration other = explore(load(scaled));
    REQUIRE(other.recommended);
    CHECK(other.one_eps->variant.eps == Approx(made.one_eps->variant.eps * factor).epsilon(decimal ? 1e-9 : 0.2));
    CHECK(other.one_eps->variant.minpts == made.one_eps->variant.minpts);
    CHECK(adjusted_rand(other.recommended->labels, made.recommended->labels) > 0.99);
    CHECK(other.doubts == made.doubts);
    if (!decimal) continue;
    const auto scaled_by_it = [&](double a, double b) { return a == Approx(b * factor).epsilon(1e-9).margin(0); };
    CHECK(list(other.recommended->labels) == list(made.recommended->labels));
    CHECK(list(other.one_eps->labels) == list(made.one_eps->labels));
    CHECK(scaled_by_it(other.one_eps->plateau.eps_from, made.one_eps->plateau.eps_from));
    CHECK(scaled_by_it(other.one_eps->plateau.eps_to, made.one_eps->plateau.eps_to));
    CHECK(std::ranges::equal(other.recommended->eps_of_clusters, made.recommended->eps_of_clusters, scaled_by_it));
  }
}

TEST_CASE("explore: float32 points are as float64 points of the same values") {
  DataSet narrow = blobs_apart(3, 2, 9);
  narrow.floats.assign(narrow.doubles.begin(), narrow.doubles.end());
  DataSet wide = narrow;
  wide.doubles.assign(narrow.floats.begin(), narrow.floats.end());
  narrow.precision = Precision::float32;
  narrow.doubles.clear();
  check_same(explore(load(narrow)), explore(load(wide)));
}

TEST_CASE("explore: too few points, and points that are all equal, are said to show nothing") {
  const DataSet blobs = three_blobs();
  for (const std::size_t n : {0, 1, 9}) {
    INFO("points " << n);
    const Dataset few = Engine().load({std::span(blobs.doubles).first(2 * n), 2});
    CHECK(suggest(few).size() == 0);
    const Exploration made = explore(few);
    CHECK_FALSE(made.recommended);
    CHECK(made.alternatives.empty());
    CHECK(made.scores.empty());
    CHECK(made.doubts == std::vector<Doubt>{Doubt::no_clusters, Doubt::few_points});
    const Exploration of_grid = explore(few, grid({1, 2, 4}, {2, 3}));
    CHECK_FALSE(of_grid.recommended);
    CHECK(of_grid.scores.size() == 6);
  }
  const std::vector<double> lattice{0, 0, 0, 1, 1, 0, 1, 1};  // no eps, and so none below four steps
  CHECK(explore(Engine().load({std::span(lattice), 2})).doubts ==
        std::vector<Doubt>{Doubt::no_clusters, Doubt::few_points});
  const std::vector<double> same(400, 7.5);
  const Dataset equal = Engine().load({std::span<const double>(same), 2});
  CHECK(suggest(equal).size() == 0);
  CHECK(explore(equal).doubts == std::vector<Doubt>{Doubt::no_clusters, Doubt::duplicates});
  CHECK(explore(Engine().load({std::span<const double>(same).first(40), 2})).doubts ==
        std::vector<Doubt>{Doubt::no_clusters, Doubt::few_points, Doubt::duplicates});
  CHECK_FALSE(explore(equal, grid({1, 2, 4}, {2, 3})).recommended);
  const DataSet ten = make_blobs({{{0, 0}, 0.01, 5}, {{1, 1}, 0.01, 5}}, 1);
  CHECK(suggest(load(ten)).size() > 0);
  (void)consistent(load(ten));
}

TEST_CASE("explore: coordinates beyond squares of float64 are an error that says what to do") {
  DataSet data = three_blobs();
  for (double& x : data.doubles) x *= 1e200;
  check_error<UsageError>({"too large for float64", "so far apart", "divide"}, [&] { (void)suggest(load(data)); });
  data = three_blobs();
  for (double& x : data.doubles) x *= 1e-162;
  check_error<UsageError>({"too small for float64", "close together", "multiply"}, [&] { (void)suggest(load(data)); });
  check_error<UsageError>({"too small for float64"}, [&] { (void)explore(load(data)); });
  // Norms without squares do not have these limits.
  for (const double factor : {1e-300, 1e-162, 1e160, 1e290}) {
    INFO("times " << factor);
    data = three_blobs();
    for (double& x : data.doubles) x *= factor;
    const Exploration made = explore(Engine().load(data.view(), {.kind = MetricKind::manhattan}));
    REQUIRE(made.recommended);
    CHECK(made.recommended->summary.clusters == 3);
    CHECK(made.one_eps->variant.eps == Approx(factor).epsilon(0.9).margin(0));
  }
  // One far point is not an error.
  DataSet far = three_blobs();
  far.doubles[0] = 1e12;
  check_clusters(load(far), 3);
}

TEST_CASE("explore: the suggested grid begins where points become core and ends where all are one cluster") {
  for (const std::size_t n : {300, 900}) {
    INFO("points " << n);
    const DataSet data = make_blobs({{{0, 0}, 1, n / 3}, {{9, 0}, 1, n / 3}, {{0, 9}, 1, n / 3}}, 2);
    const Dataset loaded = load(data);
    const Sweep sweep = suggest(loaded);
    const Exploration made = explore(loaded);
    REQUIRE(sweep.size() == made.eps.size() * made.minpts.size());
    CHECK(made.eps.size() == 40);
    CHECK(made.minpts.front() == 3);
    CHECK(made.minpts.back() == n / 20);
    CHECK(made.minpts.size() <= 10);
    const auto core = [&](double eps) {
      return static_cast<double>(run(loaded, Sweep({{eps, 3}})).front().summary.core) / static_cast<double>(n);
    };
    CHECK(core(made.eps.front() * (1 + 1e-9)) == Approx(0.02).margin(0.01));
    const VariantResult last = std::move(run(loaded, Sweep({{made.eps.back(), made.minpts.back()}})).front());
    CHECK(100 * last.summary.largest >= 98 * n);
    const VariantResult before = std::move(run(loaded, Sweep({{made.eps.back() / 1.1, made.minpts.back()}})).front());
    CHECK(100 * before.summary.largest < 98 * n);
  }
}

TEST_CASE("explore: of a grid that one has") {
  const DataSet data = three_blobs();
  const Dataset loaded = load(data);
  const Sweep own = grid(parse_eps_list("0.1:8:20:log"), {4, 8, 16, 32});
  const Exploration made = consistent(loaded, own);
  REQUIRE(made.recommended);
  CHECK(made.recommended->summary.clusters == 3);
  // Cells are found in any order of the variants.
  std::vector<Variant> mixed = own.variants();
  std::reverse(mixed.begin(), mixed.end());
  std::swap(mixed[3], mixed[50]);
  check_same(consistent(loaded, Sweep(mixed)), made);
  (void)consistent(loaded, grid(parse_eps_list("0.1:8:20:log"), {8}));
}

TEST_CASE("explore: a grid that cannot be scored is refused before anything is computed") {
  const DataSet data = three_blobs();
  const Dataset loaded = load(data);
  Observer observer;
  observer.before_stage = [](Stage) { FAIL("something was computed"); };
  check_error<UsageError>({"one eps", "lo:hi:n:log"}, [&] {
    (void)explore(loaded, grid({0.5}, {3, 4}), {}, observer);
  });
}

TEST_CASE("explore: by metrics") {
  const DataSet data = three_blobs(4);
  for (const MetricKind kind : {MetricKind::manhattan, MetricKind::chebyshev}) {
    CHECK(check_clusters(load(data, {.kind = kind}), 3).doubts.empty());
  }
  SECTION("the blob that lies across the end of a periodic box is one") {
    DataSet across = make_blobs({{{0, 5}, 0.4, 300}, {{5, 5}, 0.4, 300}}, 1);
    for (double& x : across.doubles) x = x < 0 ? x + 10 : x;
    check_clusters(load(across, {.box = {{0, 10}, {0, 10}}}), 2);
    check_clusters(load(across), 3);
  }
  SECTION("on a sphere, across the date line and at opposite points") {
    DataSet degrees = make_blobs({{{180, 0}, 1, 300}, {{0, 0}, 1, 300}, {{90, 0}, 1, 300}}, 2);
    for (std::size_t i = 0; i < degrees.size(); ++i) {
      if (degrees.doubles[2 * i] > 180) degrees.doubles[2 * i] -= 360;
    }
    const Metric sphere{.kind = MetricKind::greatcircle};
    CHECK(check_clusters(load(degrees, sphere), 3).doubts.empty());
    // Each point occurs twice, which gives the doubt about duplicates on a sphere too.
    const std::size_t n = degrees.doubles.size();
    for (std::size_t i = 0; i < n / 2; ++i) degrees.doubles.push_back(degrees.doubles[i]);
    CHECK(has(explore(load(degrees, sphere)), Doubt::duplicates));
  }
  SECTION("directions have no lattice and no axis that rules") {
    Random random(3);
    DataSet directions{.dims = 2};
    for (std::size_t i = 0; i < 600; ++i) {
      const double angle = (i % 2 == 0 ? 0.2 : 1.2) + 0.03 * random.bell();
      const double length = 1 + static_cast<double>(random.below(4));
      directions.doubles.insert(directions.doubles.end(), {1000 * length * std::cos(angle), length * std::sin(angle)});
    }
    const Exploration made = explore(load(directions, {.kind = MetricKind::cosine}));
    CHECK_FALSE(has(made, Doubt::one_axis_rules));
    CHECK_FALSE(has(made, Doubt::quantised));
  }
}

TEST_CASE("explore: minpts of points with weights is in units of their mean") {
  const DataSet data = three_blobs(6);
  const Dataset loaded = load(data);
  const Exploration made = explore(loaded);
  REQUIRE(made.recommended);
  check_same(explore(loaded.weighted(std::vector<double>(data.size(), 1))), made);
  for (const double weight : {4.0, 1000.0}) {
    const Dataset heavy = loaded.weighted(std::vector<double>(data.size(), weight));
    const Exploration other = consistent(heavy);
    REQUIRE(other.recommended);
    CHECK(other.eps == made.eps);
    CHECK(other.recommended->variant.minpts == weight * made.recommended->variant.minpts);
    CHECK(list(other.recommended->labels) == list(made.recommended->labels));
    CHECK(other.recommended->confidence == made.recommended->confidence);
  }
  check_clusters(loaded.weighted(some_weights(data.size())), 3);

  const auto error = [&](double weight, double first) {
    std::vector<double> weights(data.size(), weight);
    weights.front() = first;
    const Dataset weighted = loaded.weighted(weights);
    const std::string text = error_of<UsageError>([&] { (void)suggest(weighted); });
    CHECK(text == error_of<UsageError>([&] { (void)explore(weighted); }));
    return text;
  };
  check_mentions(error(1, -0.5), {"weights are below 0", "use weights of 0 and more"});
  check_mentions(error(0.001, 0.001), {"mean weight of a point is 0.001", "multiply the weights", "give a grid"});
  check_mentions(error(0, 0), {"mean weight of a point is 0,", "multiply the weights"});
  check_mentions(error(4e8, 4e8), {"mean weight of a point is 4e+08"});
  // A user's grid accepts any weights that are not below 0.
  const Sweep own = grid(parse_eps_list("0.1:8:20:log"), {1, 2});
  CHECK_NOTHROW(explore(loaded.weighted(std::vector<double>(data.size(), 0.1)), own));
  std::vector<double> negative(data.size(), 1);
  negative.back() = -1;
  check_error<UsageError>({"weights are below 0"}, [&] { (void)explore(loaded.weighted(negative), own); });
}

TEST_CASE("explore: it is cancelled soon, at every moment") {
  const Watchdog watchdog("cancelled");
  const DataSet data = uniform_points(3000, 2, 1);
  const Dataset loaded = load(data);
  CHECK_THROWS_AS(explore(loaded, {}, cancelled()), Cancelled);
  CHECK_THROWS_AS(suggest(loaded, {}, cancelled()), Cancelled);
  std::size_t thrown = 0;
  for (int call = 1; call < 200; call += 7) {
    CancelToken token;
    std::atomic<int> calls = 0;
    Observer observer{.cancel = &token};
    observer.before_stage = [&](Stage) {
      if (++calls == call) token.cancel();
    };
    if (throws<Cancelled>([&] { (void)explore(loaded, {}, observer); })) {
      ++thrown;
      CHECK(calls < call + 50);
    } else {
      CHECK(calls < call);
    }
  }
  CHECK(thrown > 5);
}

TEST_CASE("explore: a bound on time that is never reached changes nothing") {
  const Watchdog watchdog("bounded");
  const DataSet data = three_blobs(2);
  const Dataset loaded = load(data);
  const Sweep own = grid(parse_eps_list("0.05:8:23:log"), {3, 5, 8});
  for (const double seconds : {1e5, 1e300, std::numeric_limits<double>::infinity()}) {
    const Exploration made = explore(loaded, {}, {}, seconds);
    check_consistent(loaded, made);
    check_same(made, explore(loaded));
    check_same(explore(loaded, own, {}, {}, seconds), explore(loaded, own));
  }
  const DataSet few = uniform_points(5, 2, 1);
  CHECK(explore(load(few), {}, {}, 1e5).doubts == std::vector{Doubt::no_clusters, Doubt::few_points});
}

TEST_CASE("explore: when time is over it tells what the eps swept so far show") {
  using Clock = std::chrono::steady_clock;
  const Watchdog watchdog("out of time");
  const DataSet data = three_blobs(4);
  const Dataset loaded = load(data);
  constexpr double kSeconds = 0.4;
  const std::vector<double> eps = parse_eps_list("0.05:8:40:log");
  const std::vector<std::uint32_t> minpts{3, 5, 9, 15};
  for (const int last : {3, 7, 15, 30}) {
    INFO("eps " << last << " takes all of the time");
    std::atomic<int> begun{0};
    Observer observer;
    const auto end = Clock::now() + std::chrono::duration<double>(kSeconds);
    observer.before_stage = [&](Stage stage) {
      if (stage == Stage::build_index && ++begun == last)
        std::this_thread::sleep_until(end + std::chrono::milliseconds(20));
    };
    Exploration made;
    try {
      made = explore(loaded, grid(eps, minpts), {}, observer, kSeconds);
    } catch (const UsageError& error) {  // this error is correct if ten eps are not finished in time
      check_mentions(error.what(), {"0.4 seconds", "before a coarse grid is swept", "allow more time"});
      continue;
    }
    check_consistent(loaded, made);
    CHECK(made.eps.size() < eps.size());
    CHECK(made.eps.back() == eps.back());
    for (const double e : made.eps) CHECK(std::count(eps.begin(), eps.end(), e) == 1);
    CHECK(made.minpts == minpts);
    CHECK(has(made, Doubt::coarse));
    CHECK(has(made, Doubt::unfinished));
    const Exploration same = explore(loaded, grid(made.eps, minpts));
    for (std::size_t i = 0; i < same.scores.size(); ++i) REQUIRE(made.scores[i].score == same.scores[i].score);
    REQUIRE(made.recommended.has_value() == same.recommended.has_value());
    if (!made.recommended) continue;
    CHECK(made.one_eps->variant == same.one_eps->variant);
    CHECK(list(made.one_eps->labels) == list(same.one_eps->labels));
  }
}

TEST_CASE("explore: bounds on time that are none, and far too small ones") {
  const DataSet data = three_blobs(2);
  const Dataset loaded = load(data);
  for (const double seconds : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN()}) {
    check_error<UsageError>({"give a number above 0"}, [&] { (void)explore(loaded, {}, {}, seconds); });
  }
  check_error<UsageError>({"1e-09 seconds", "allow more time"}, [&] { (void)explore(loaded, {}, {}, 1e-9); });
  // If the run is cancelled, the error does not mention the time limit.
  CHECK_THROWS_AS(explore(loaded, {}, cancelled(), 1e-9), Cancelled);
}

TEST_CASE("explore: progress does not go beyond what there is") {
  const DataSet data = three_blobs();
  const Dataset loaded = load(data);
  std::vector<Progress> seen;  // calls do not overlap
  Observer observer;
  observer.on_progress = [&](const Progress& p) { seen.push_back(p); };
  const Exploration observed = explore(loaded, {}, observer);
  REQUIRE(seen.size() > 6);
  bool foretold = false;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    const Progress& p = seen[i];
    CHECK(p.variants == observed.scores.size());
    CHECK(p.variants_done <= p.variants);
    CHECK(p.variants_done >= (i > 0 ? seen[i - 1].variants_done : 0));
    CHECK(p.seconds >= (i > 0 ? seen[i - 1].seconds : 0));
    CHECK((p.seconds_left.has_value() || !foretold));  // after the first estimate there is always one
    foretold = p.seconds_left.has_value();
    if (foretold) CHECK(*p.seconds_left >= 0);
  }
  CHECK(foretold);
  CHECK(seen.back().variants_done == seen.back().variants);
  // The order of the eps and the observer do not change the result.
  const Exploration alone = explore(loaded);
  REQUIRE(observed.recommended);
  check_same(observed, alone);
  for (std::size_t i = 0; i < alone.map.cells().size(); ++i) {
    CHECK(observed.map.cell(i).first_core == alone.map.cell(i).first_core);
    CHECK(observed.map.cell(i).parent_eps == alone.map.cell(i).parent_eps);
    CHECK(observed.map.cell(i).parent_minpts == alone.map.cell(i).parent_minpts);
  }
}

TEST_CASE("explore: progress of grids of any number of eps") {
  const DataSet data = three_blobs();
  const Dataset loaded = load(data);
  for (std::size_t count = 15; count <= 42; ++count) {
    INFO(count << " eps");
    const Sweep own = grid(parse_eps_list("0.05:8:" + std::to_string(count) + ":log"), {3, 9});
    std::size_t seen = 0;
    Observer observer;
    observer.on_progress = [&](const Progress& p) { seen = std::max(seen, p.variants_done); };
    const Exploration made = explore(loaded, own, {}, observer);
    CHECK(seen == own.size());
    REQUIRE(made.eps.size() == count);
    check_same(made, explore(loaded, own));
  }
}

}  // namespace
}  // namespace epsflow::test
