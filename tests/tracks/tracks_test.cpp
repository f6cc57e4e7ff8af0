#include <epsflow/tracks/tracks.hpp>

#include <tbb/task_arena.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/random_points.hpp"
#include "tracks/slices.hpp"

#include <epsflow/core/error.hpp>
#include <epsflow/core/labels.hpp>

namespace epsflow {
namespace {

using test::check_error;
using test::Random;
using test::random_storm;
using test::SliceList;

constexpr TrackOptions kByIds{.match = TrackMatch::ids};
TrackOptions by_cores(double eps, double least_share = 0) { return {TrackMatch::cores, eps, least_share}; }

auto key(const TrackEvent& e) {
  const bool by_after = e.kind == TrackEventKind::birth || e.kind == TrackEventKind::merge;
  return std::tuple(e.slice, e.kind, by_after ? e.after : e.before);
}

void sort_events(std::vector<TrackEvent>& events) {
  std::sort(events.begin(), events.end(), [](const TrackEvent& a, const TrackEvent& b) { return key(a) < key(b); });
}

/// Computes links, features and events by their definitions, from all pairs of points and of features.
struct Oracle {
  std::vector<FeatureLink> links;
  std::vector<Feature> features;
  std::vector<TrackEvent> events;
  std::vector<double> transformed;  ///< the points, as the metric transforms them

  Oracle(const SliceList& slices, const TrackOptions& options)
      : transformed(slices.labels.size() * transformed_dims(slices.metric, slices.dims)) {
    transform_points(slices.metric, slices.points(), 0, slices.labels.size(), transformed.data());
    std::map<std::pair<std::uint32_t, std::int32_t>, std::vector<std::size_t>> rows;
    for (std::size_t s = 0; s < slices.count(); ++s) {
      for (std::size_t i = slices.starts[s]; i < slices.starts[s + 1]; ++i) {
        if (slices.labels[i] != kNoise) rows[{static_cast<std::uint32_t>(s), slices.labels[i]}].push_back(i);
      }
    }
    std::vector<std::vector<std::size_t>> members;
    for (const auto& entry : rows) {
      Feature f{.slice = entry.first.first, .label = entry.first.second};
      if (!features.empty() && features.back().slice == f.slice) f.index = features.back().index + 1;
      f.points = static_cast<std::uint32_t>(entry.second.size());
      for (const std::size_t i : entry.second) f.core += slices.core[i];
      features.push_back(f);
      members.push_back(entry.second);
    }
    for (std::uint32_t a = 0; a < features.size(); ++a) {
      for (std::uint32_t b = 0; b < features.size(); ++b) {
        if (features[b].slice != features[a].slice + 1) continue;
        FeatureLink link{a, b};
        link.from_points = near(slices, options, members[a], members[b]);
        link.to_points = near(slices, options, members[b], members[a]);
        if (link.from_points == 0 && link.to_points == 0) continue;
        const auto size = [&](const Feature& f) {
          return static_cast<double>(options.match == TrackMatch::ids ? f.points : f.core);
        };
        if (std::max(link.from_points / size(features[a]), link.to_points / size(features[b])) < options.least_share)
          continue;
        links.push_back(link);
      }
    }
    number();
    tell(slices.count());
  }

 private:
  /// Returns the number of the points in `of` that share an id with a point in `to`, or by core points, are near one.
  [[nodiscard]] std::uint32_t near(const SliceList& slices, const TrackOptions& options,
                                   const std::vector<std::size_t>& of, const std::vector<std::size_t>& to) const {
    const std::size_t width = transformed_dims(slices.metric, slices.dims);
    const Space space = transformed_space(canonical(slices.metric));
    const bool by_ids = options.match == TrackMatch::ids;
    const double limit = by_ids ? 0 : space.limit(transformed_radius(slices.metric, options.eps));
    const auto match = [&](std::size_t i, std::size_t j) {
      if (by_ids) return slices.ids[i] == slices.ids[j];
      if (slices.core[i] == 0 || slices.core[j] == 0) return false;
      double sum = 0;
      for (std::size_t k = 0; k < width; ++k) {
        double t = std::fabs(transformed[i * width + k] - transformed[j * width + k]);
        if (space.period(k) > 0) t = std::min(t, space.period(k) - t);
        switch (space.norm) {
          case Norm::euclidean:
            sum += t * t;
            break;
          case Norm::manhattan:
            sum += t;
            break;
          case Norm::chebyshev:
            sum = std::max(sum, t);
            break;
          case Norm::minkowski:
            sum += std::pow(t, space.power);
            break;
        }
      }
      return sum <= limit;
    };
    return static_cast<std::uint32_t>(std::count_if(of.begin(), of.end(), [&](std::size_t i) {
      return std::any_of(to.begin(), to.end(), [&](std::size_t j) { return match(i, j); });
    }));
  }

  void number() {
    // The links are sorted by from and then by to. Of each earlier feature the best one may continue its cell.
    std::map<std::uint32_t, FeatureLink*> best;
    const auto shared = [](const FeatureLink& l) { return std::uint64_t{l.from_points} + l.to_points; };
    for (FeatureLink& link : links) {
      FeatureLink*& of_feature = best[link.from];
      if (of_feature == nullptr || shared(link) > shared(*of_feature)) of_feature = &link;
    }
    std::map<std::uint32_t, std::vector<FeatureLink*>> claims;
    for (const auto& [from, link] : best) claims[link->to].push_back(link);
    std::uint32_t cells = 0;
    for (std::uint32_t f = 0; f < features.size(); ++f) {
      const auto claim = claims.find(f);
      if (claim == claims.end()) {
        features[f].cell = ++cells;
        continue;
      }
      FeatureLink* chosen = *std::ranges::min_element(claim->second, {}, [&](const FeatureLink* link) {
        return std::tuple(-static_cast<std::int64_t>(shared(*link)), features[link->from].cell);
      });
      chosen->same_cell = true;
      features[f].cell = features[chosen->from].cell;
    }
    for (std::uint32_t f = 0; f < features.size(); ++f) features[f].track = f;
    for (const FeatureLink& link : links) {
      const auto [first, second] = std::minmax({features[link.from].track, features[link.to].track});
      for (Feature& f : features) f.track = f.track == second ? first : f.track;
    }
    std::map<std::uint32_t, std::uint32_t> tracks;
    for (Feature& f : features) {
      f.track = tracks.try_emplace(f.track, static_cast<std::uint32_t>(tracks.size()) + 1).first->second;
    }
  }

  void tell(std::size_t slices) {
    for (std::uint32_t f = 0; f < features.size(); ++f) {
      std::vector<std::uint32_t> before;
      std::vector<std::uint32_t> after;
      for (const FeatureLink& link : links) {
        if (link.to == f) before.push_back(link.from);
        if (link.from == f) after.push_back(link.to);
      }
      const std::uint32_t s = features[f].slice;
      if (s > 0 && before.empty()) events.push_back({TrackEventKind::birth, s, {}, {f}});
      if (before.size() > 1) events.push_back({TrackEventKind::merge, s, before, {f}});
      if (s + 1 < slices && after.empty()) events.push_back({TrackEventKind::death, s + 1, {f}, {}});
      if (after.size() > 1) events.push_back({TrackEventKind::split, s + 1, {f}, after});
      if (after.size() == 1 &&
          std::count_if(links.begin(), links.end(), [&](const FeatureLink& l) { return l.to == after[0]; }) == 1) {
        events.push_back({TrackEventKind::continuation, s + 1, {f}, after});
      }
    }
    sort_events(events);
  }
};

void check_by_oracle(const SliceList& slices, const TrackOptions& options) {
  const Tracks found = find_tracks(slices.view(), options);
  const Oracle want(slices, options);
  CHECK(found.features == want.features);
  CHECK(found.links == want.links);
  CHECK(found.events == want.events);
  CHECK(found.slices == slices.count());
  REQUIRE(found.feature_of.size() == slices.labels.size());
  for (std::size_t i = 0; i < found.feature_of.size(); ++i) {
    if (slices.labels[i] == kNoise) {
      REQUIRE(found.feature_of[i] == Tracks::kNoFeature);
    } else {
      const Feature& f = found.features.at(found.feature_of[i]);
      REQUIRE(f.label == slices.labels[i]);
      REQUIRE((slices.starts[f.slice] <= i && i < slices.starts[f.slice + 1]));
    }
  }
}

/// Returns random points with independent random labels.
SliceList random_slices(Random& random, std::size_t count, std::size_t most, const Metric& metric, std::size_t dims,
                        double lo, double hi) {
  SliceList slices;
  slices.dims = dims;
  slices.metric = metric;
  const std::int32_t labels = 1 + static_cast<std::int32_t>(random.below(6));
  const std::int32_t step = random.chance(0.2) ? 100000 : 1;
  for (std::size_t s = 0; s < count; ++s) {
    const std::size_t n = random.chance(0.1) ? 0 : random.below(most + 1);
    std::vector<std::int64_t> ids(n * 2 + 1);
    for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<std::int64_t>(i) - 3;
    random.shuffle(ids);
    for (std::size_t i = 0; i < n; ++i) {
      std::vector<double> point;
      for (std::size_t k = 0; k < dims; ++k) {
        const double x = random.uniform(lo, hi);
        point.push_back(random.chance(0.5) ? x : std::clamp(std::round(x), lo, hi));
      }
      const std::int32_t label = static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(labels) + 1)) - 1;
      slices.add(label < 0 ? label : label * step, label >= 0 && random.chance(0.7), point, ids[i]);
    }
    slices.end_slice();
  }
  return slices;
}

}  // namespace

TEST_CASE("tracks: every birth, merge, split and death of a storm is found", "[tracks]") {
  for (std::uint64_t seed = 1; seed <= test::sets_of(30); ++seed) {
    INFO("seed " << seed);
    const SliceList slices = random_storm(seed, 25, 2);
    for (const TrackOptions& options : {kByIds, by_cores(1)}) check_by_oracle(slices, options);
  }
}

TEST_CASE("tracks: a storm that is told in full", "[tracks]") {
  // Each row of pixels is a slice; letters are labels.
  const std::vector<std::string> pictures = {
      "aaaa....bbbb........",  // features 0 and 1
      ".aaaaaa..bbb....cccc",  // 2, 3; 4 is born
      ".aaaaaaaaaa....bbccc",  // 5 merges; 6 and 7 split
      "..aaaa..bb......cccc",  // 8, 9 split; 10 merges
      "....................",  // all die
      "..aaaa..............",  // 11 is born
  };
  SliceList slices;
  slices.dims = 1;
  for (const std::string& picture : pictures) {
    for (std::size_t x = 0; x < picture.size(); ++x) {
      const bool noise = picture[x] == '.';
      slices.add(noise ? kNoise : picture[x] - 'a', !noise, {static_cast<double>(x)}, static_cast<std::int64_t>(x));
    }
    slices.end_slice();
  }
  const Tracks found = find_tracks(slices.view(), kByIds);
  std::vector<std::uint32_t> cells;
  std::vector<std::uint32_t> tracks;
  for (const Feature& f : found.features) {
    cells.push_back(f.cell);
    tracks.push_back(f.track);
  }
  //                 0  1  2  3  4  5  6  7  8  9 10 11
  CHECK(cells == std::vector<std::uint32_t>{1, 2, 1, 2, 3, 1, 4, 3, 1, 5, 3, 6});
  CHECK(tracks == std::vector<std::uint32_t>{1, 1, 1, 1, 2, 1, 2, 2, 1, 1, 2, 3});
  CHECK(found.cells == 6);
  CHECK(found.tracks == 3);
  using K = TrackEventKind;
  const std::vector<TrackEvent> want = {
      {K::birth, 1, {}, {4}},     {K::continuation, 1, {0}, {2}}, {K::continuation, 1, {1}, {3}},
      {K::merge, 2, {2, 3}, {5}}, {K::split, 2, {4}, {6, 7}},     {K::merge, 3, {6, 7}, {10}},
      {K::split, 3, {5}, {8, 9}}, {K::death, 4, {8}, {}},         {K::death, 4, {9}, {}},
      {K::death, 4, {10}, {}},    {K::birth, 5, {}, {11}},
  };
  CHECK(found.events == want);
  const FeatureLink merged{2, 5, 6, 6, true};
  CHECK(std::count(found.links.begin(), found.links.end(), merged) == 1);
}

TEST_CASE("tracks: by ids, as by all pairs", "[tracks]") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    INFO("seed " << seed);
    Random random(seed);
    const SliceList slices = random_slices(random, 2 + random.below(20), 30, {}, 2, 0, 10);
    check_by_oracle(slices, {.match = TrackMatch::ids, .least_share = random.chance(0.5) ? 0 : random.unit() / 2});
  }
}

TEST_CASE("tracks: by core points, as by all pairs, for every metric", "[tracks]") {
  struct Case {
    Metric metric;
    std::size_t dims;
    double lo;
    double hi;
    double eps;
  };
  const std::vector<Case> cases = {
      {{}, 1, 0, 30, 1},
      {{}, 2, 0, 8, 1},
      {{}, 3, 0, 5, 1},
      {{}, 4, 0, 3, 1},
      {{}, 8, 0, 1.5, 1},
      {{}, 2, -1e300, 1e300, 1e150},
      {{.scale = {2, 0.5}}, 2, 0, 8, 1},
      {{.kind = MetricKind::manhattan}, 2, 0, 8, 1},
      {{.kind = MetricKind::chebyshev}, 3, 0, 5, 1},
      {{.kind = MetricKind::minkowski, .power = 3}, 2, 0, 8, 1},
      {{.box = {{0, 6}, {0, 6}}}, 2, 0, 6, 1},
      {{.box = {{0, 6}, {}}}, 2, 0, 6, 1},
      {{.kind = MetricKind::manhattan, .box = {{-1, 5}, {-1, 5}, {-1, 5}}}, 3, -1, 5, 1},
      {{.kind = MetricKind::greatcircle}, 2, -90, 90, 15},
      {{.kind = MetricKind::greatcircle, .unit = ArcUnit::kilometre, .latitude_first = true}, 2, -90, 90, 2000},
      {{.kind = MetricKind::haversine}, 2, -1.5, 1.5, 0.2},
      {{.kind = MetricKind::cosine}, 3, 0.5, 5, 0.02},
  };
  for (std::size_t c = 0; c < cases.size(); ++c) {
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
      INFO("case " << c << ", seed " << seed);
      Random random(seed * 100 + c);
      const Case& with = cases[c];
      const SliceList slices =
          random_slices(random, 2 + random.below(12), 40, with.metric, with.dims, with.lo, with.hi);
      check_by_oracle(slices, by_cores(with.eps * random.uniform(0.5, 1.5), random.chance(0.5) ? 0 : random.unit()));
    }
  }
}

TEST_CASE("tracks: large slices are searched in blocks, by any number of threads", "[tracks]") {
  Random random(5);
  SliceList slices;
  std::vector<std::int32_t> shift{0, 1, -2};
  for (const std::int32_t by : shift) {
    // 40 clusters of 1500 points each form columns of a picture, at random positions.
    for (std::int32_t i = 0; i < 60000; ++i) {
      const std::int32_t label = static_cast<std::int32_t>(random.below(40));
      slices.add(label, random.chance(0.9), {label * 5 + by + random.uniform(0, 2), random.uniform(0, 100)}, i);
    }
    slices.end_slice();
  }
  std::vector<Tracks> found;
  for (const int threads : {1, 2}) {
    tbb::task_arena arena(threads);
    found.push_back(arena.execute([&] { return find_tracks(slices.view(), by_cores(0.5)); }));
  }
  CHECK(found[0].features == found[1].features);
  CHECK(found[0].links == found[1].links);
  CHECK(found[0].events == found[1].events);
  CHECK(found[0].links.size() == 40 + 39);
  CHECK(std::all_of(found[0].links.begin(), found[0].links.begin() + 40,
                    [](const FeatureLink& l) { return l.from + 40 == l.to; }));
}

TEST_CASE("tracks: float32 and float64 of the same values give the same", "[tracks]") {
  Random random(9);
  SliceList slices = random_slices(random, 12, 60, {}, 2, 0, 8);
  std::vector<float> floats;
  for (double& x : slices.coordinates) {
    floats.push_back(static_cast<float>(x));
    x = floats.back();
  }
  SlicedLabels single = slices.view();
  single.points = PointsView(std::span<const float>(floats), 2);
  CHECK(find_tracks(single, by_cores(1)).links == find_tracks(slices.view(), by_cores(1)).links);
}

TEST_CASE("tracks: a link with exactly the least share is kept", "[tracks]") {
  // Half of each cluster goes to each of two.
  SliceList halves;
  halves.dims = 1;
  for (std::int64_t i = 0; i < 20; ++i) halves.add(i < 10 ? 0 : 1, true, {0.0}, i);
  halves.end_slice();
  for (std::int64_t i = 0; i < 20; ++i) halves.add(i % 10 < 5 ? 0 : 1, true, {0.0}, i);
  halves.end_slice();
  CHECK(find_tracks(halves.view(), {.match = TrackMatch::ids, .least_share = 0.5}).links.size() == 4);
  CHECK(find_tracks(halves.view(), {.match = TrackMatch::ids, .least_share = 0.51}).links.empty());
}

TEST_CASE("tracks: of nothing, of one point and of empty slices", "[tracks]") {
  SliceList slices;
  for (const TrackOptions& options : {kByIds, by_cores(1)}) {
    CHECK(find_tracks(slices.view(), options).features.empty());
  }
  slices.end_slice();
  slices.end_slice();
  CHECK(find_tracks(slices.view(), kByIds).slices == 2);
  CHECK(find_tracks(slices.view(), by_cores(1)).events.empty());
  slices.add(0, true, {0.0, 0.0}, 5);
  slices.end_slice();
  for (const TrackOptions& options : {kByIds, by_cores(1)}) {
    const Tracks found = find_tracks(slices.view(), options);
    REQUIRE(found.features.size() == 1);
    CHECK(found.features[0] == Feature{2, 0, 0, 1, 1, 1, 1});
    CHECK(found.events == std::vector<TrackEvent>{{TrackEventKind::birth, 2, {}, {0}}});
  }
  slices.end_slice();
  slices.add(0, true, {0.0, 0.0}, 5);
  slices.end_slice();
  for (const TrackOptions& options : {kByIds, by_cores(1)}) {
    const Tracks found = find_tracks(slices.view(), options);
    CHECK(found.links.empty());  // slices are not skipped
    CHECK(found.tracks == 2);
  }
}

TEST_CASE("tracks: what cannot be is refused by its name", "[tracks]") {
  SliceList slices;
  for (std::int64_t i = 0; i < 6; ++i) {
    slices.add(0, true, {static_cast<double>(i), 0.0}, i);
    if (i % 3 == 2) slices.end_slice();
  }
  using Parts = std::initializer_list<std::string_view>;
  const auto usage = [&](const TrackOptions& options, Parts parts, auto change) {
    SlicedLabels view = slices.view();
    change(view);
    check_error<UsageError>(parts, [&] { (void)find_tracks(view, options); });
  };
  const std::vector<std::uint64_t> overlap{0, 4, 3, 6}, short_one{0, 3};
  const auto nothing = [](SlicedLabels&) {};
  usage(kByIds, {"slice 2", "row 3", "row 4", "overlap", "sort"}, [&](auto& view) { view.starts = overlap; });
  usage(kByIds, {"from 0 to 3", "6 labels"}, [&](auto& view) { view.starts = short_one; });
  usage(kByIds, {"missing", "6"}, [](auto& view) { view.starts = {}; });
  usage(kByIds, {"6 labels", "5 ids"}, [](auto& view) { view.ids = view.ids.first(5); });
  usage(by_cores(1), {"6 labels", "4 values of the core mask"}, [](auto& view) { view.core = view.core.first(4); });
  usage(by_cores(1), {"6 labels", "5 points"}, [](auto& view) { view.points = view.points.rows(0, 5); });
  usage(kByIds, {"no ids"}, [](auto& view) { view.ids = {}; });
  usage(by_cores(1), {"no marks of core points", "ids"}, [](auto& view) { view.core = {}; });
  usage(by_cores(1), {"no points"}, [](auto& view) { view.points = {}; });
  for (const double eps : {0.0, -1.0, std::nan(""), HUGE_VAL}) usage(by_cores(eps), {"eps"}, nothing);
  for (const double share : {-0.1, 1.1, std::nan("")}) usage(by_cores(1, share), {"least share", "0 to 1"}, nothing);
  usage(by_cores(1), {"greatcircle"}, [&](auto& view) {
    view.metric = {.kind = MetricKind::greatcircle};
    view.points = PointsView(std::span<const double>(slices.coordinates), 1).rows(0, 6);
  });

  const auto input = [&](const TrackOptions& options, Parts parts, auto change) {
    SliceList bad = slices;
    change(bad);
    check_error<InputError>(parts, [&] { (void)find_tracks(bad.view(), options); });
  };
  SliceList negative = slices;
  negative.labels[4] = -2;
  check_error<UsageError>({"row 4", "-2"}, [&] { (void)find_tracks(negative.view(), kByIds); });
  input(by_cores(1), {"row 4", "core", "noise"}, [](SliceList& bad) { bad.labels[4] = kNoise; });
  input(kByIds, {"rows 3 and 5", "slice 1", "same id, 3"}, [](SliceList& bad) { bad.ids[5] = bad.ids[3]; });
  input(kByIds, {"rows 3 and 5", "slice 0"}, [](SliceList& bad) {
    bad.ids[5] = bad.ids[3];
    bad.starts = {0, 6};
  });
  input(by_cores(1), {"row 3", "column 1", "nan"}, [](SliceList& bad) { bad.coordinates[7] = std::nan(""); });
  input(by_cores(1), {"row 5", "latitude"}, [](SliceList& bad) {
    bad.metric = {.kind = MetricKind::greatcircle};
    bad.labels[5] = kNoise;
    bad.core[5] = 0;
    bad.coordinates[11] = 95;
  });
  input(by_cores(1), {"row 5", "box"}, [](SliceList& bad) { bad.metric = {.box = {{0, 4}, {0, 4}}}; });
}

TEST_CASE("tracks: can be cancelled", "[tracks]") {
  CancelToken cancel;
  cancel.cancel();
  CHECK_THROWS_AS(find_tracks(random_storm(1, 10, 3).view(), kByIds, cancel), Cancelled);
}

}  // namespace epsflow
