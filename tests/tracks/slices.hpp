// Holds a SliceList with its storage, for tests of tracks.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "support/random_points.hpp"

#include <epsflow/tracks/tracks.hpp>

namespace epsflow::test {

struct SliceList {
  std::vector<std::uint64_t> starts{0};
  std::vector<std::int32_t> labels;
  std::vector<std::uint8_t> core;
  std::vector<std::int64_t> ids;
  std::vector<double> places;
  std::size_t dims = 2;
  Metric metric{};

  void add(std::int32_t label, bool is_core, const std::vector<double>& place, std::int64_t id) {
    labels.push_back(label);
    core.push_back(is_core ? 1 : 0);
    places.insert(places.end(), place.begin(), place.end());
    ids.push_back(id);
  }
  void end_slice() { starts.push_back(labels.size()); }
  [[nodiscard]] std::size_t count() const { return starts.size() - 1; }
  [[nodiscard]] PointsView points() const { return {std::span<const double>(places), dims}; }
  [[nodiscard]] SlicedLabels view() const {
    return {.starts = starts, .labels = labels, .core = core, .points = points(), .metric = metric, .ids = ids};
  }
};

/// Blobs on a grid of pixels that continue, merge, split, begin and end at random, and the expected links and events.
struct Storm {
  SliceList slices;
  std::vector<FeatureLink> links;  ///< only from and to are set
  std::vector<TrackEvent> events;  ///< in any order

  static constexpr double kEps = 1;  ///< neighbouring pixels touch

  Storm(std::uint64_t seed, std::size_t count, std::size_t lanes) {
    Random random(seed);
    struct Blob {
      std::int64_t left;
      std::int64_t right;
      std::vector<std::uint32_t> from;  ///< features of the previous slice
      std::uint32_t feature;
    };
    std::vector<std::vector<Blob>> now(lanes);
    std::uint32_t features = 0;
    for (std::size_t s = 0; s < count; ++s) {
      std::vector<std::vector<Blob>> next(lanes);
      std::vector<std::pair<std::uint32_t, std::vector<std::uint32_t>>> went;  // features and their successors
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        auto& blobs = next[lane];
        for (std::size_t i = 0; i < now[lane].size(); ++i) {
          const Blob& blob = now[lane][i];
          const bool has_other = i + 1 < now[lane].size();
          const double dice = random.unit();
          if (dice < 0.1) {  // the blob dies
          } else if (dice < 0.25 && has_other) {
            const Blob& other = now[lane][++i];
            blobs.push_back({blob.left, other.right, {blob.feature, other.feature}, 0});
          } else if (dice < 0.4 && blob.right - blob.left > 12) {
            const std::int64_t middle =
                blob.left + 5 +
                static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(blob.right - blob.left - 10)));
            blobs.push_back({blob.left, middle - 2, {blob.feature}, 0});
            blobs.push_back({middle + 2, blob.right, {blob.feature}, 0});
          } else {
            // The ends may shrink by a pixel, so the blob touches no other.
            const std::int64_t in = blob.right - blob.left > 8 ? static_cast<std::int64_t>(random.below(2)) : 0;
            blobs.push_back({blob.left + in, blob.right - in, {blob.feature}, 0});
          }
        }
        if (blobs.size() < 5 && random.chance(0.3)) {
          const std::int64_t end = std::max<std::int64_t>(blobs.empty() ? 0 : blobs.back().right,
                                                          now[lane].empty() ? 0 : now[lane].back().right);
          const std::int64_t left = end + 6 + static_cast<std::int64_t>(random.below(9));
          blobs.push_back({left, left + 3 + static_cast<std::int64_t>(random.below(30)), {}, 0});
        }
      }
      // Labels come in random order, because features are numbered by label.
      std::vector<std::pair<std::size_t, std::size_t>> order;
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        for (std::size_t i = 0; i < next[lane].size(); ++i) order.emplace_back(lane, i);
      }
      random.shuffle(order);
      const auto slice = static_cast<std::uint32_t>(s);
      for (std::size_t label = 0; label < order.size(); ++label) {
        const std::size_t lane = order[label].first;
        Blob& blob = next[lane][order[label].second];
        blob.feature = features++;
        for (std::int64_t x = blob.left; x <= blob.right; ++x) {
          for (std::int64_t y = 0; y < 2; ++y) {
            const std::int64_t row = static_cast<std::int64_t>(lane) * 10 + y;
            slices.add(static_cast<std::int32_t>(label), true, {static_cast<double>(x), static_cast<double>(row)},
                       row * 100000 + x);
          }
        }
        slices.add(-1, false, {-50.0 - static_cast<double>(label), 0.0}, -1);  // noise, whose ids do not count
      }
      slices.end_slice();
      if (s > 0) tell(now, next, slice);
      now = std::move(next);
    }
  }

 private:
  template <class Lanes>
  void tell(const Lanes& before, const Lanes& after, std::uint32_t slice) {
    std::vector<std::pair<std::uint32_t, std::vector<std::uint32_t>>> became;
    for (const auto& lane : before) {
      for (const auto& blob : lane) became.push_back({blob.feature, {}});
    }
    for (const auto& lane : after) {
      for (const auto& blob : lane) {
        for (const std::uint32_t from : blob.from) {
          links.push_back({from, blob.feature});
          for (auto& [feature, list] : became) {
            if (feature == from) list.push_back(blob.feature);
          }
        }
      }
    }
    for (auto& [feature, list] : became) std::sort(list.begin(), list.end());
    for (const auto& lane : after) {
      for (const auto& blob : lane) {
        std::vector<std::uint32_t> from = blob.from;
        std::sort(from.begin(), from.end());
        if (from.empty()) events.push_back({TrackEventKind::birth, slice, {}, {blob.feature}});
        if (from.size() > 1) events.push_back({TrackEventKind::merge, slice, from, {blob.feature}});
      }
    }
    for (const auto& [feature, list] : became) {
      if (list.empty()) events.push_back({TrackEventKind::death, slice, {feature}, {}});
      if (list.size() > 1) events.push_back({TrackEventKind::split, slice, {feature}, list});
      // In this test no feature merges and splits at the same time.
      const bool merges = std::any_of(events.begin(), events.end(), [&, f = feature](const TrackEvent& e) {
        return e.kind == TrackEventKind::merge && e.slice == slice &&
               std::count(e.before.begin(), e.before.end(), f) > 0;
      });
      if (list.size() == 1 && !merges) events.push_back({TrackEventKind::continuation, slice, {feature}, list});
    }
  }
};

}  // namespace epsflow::test
