// Holds a SliceList with its storage, for tests of tracks.
#pragma once

#include <algorithm>
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
  std::vector<double> coordinates;
  std::size_t dims = 2;
  Metric metric{};

  void add(std::int32_t label, bool is_core, const std::vector<double>& point, std::int64_t id) {
    labels.push_back(label);
    core.push_back(is_core ? 1 : 0);
    coordinates.insert(coordinates.end(), point.begin(), point.end());
    ids.push_back(id);
  }
  void end_slice() { starts.push_back(labels.size()); }
  [[nodiscard]] std::size_t count() const { return starts.size() - 1; }
  [[nodiscard]] PointsView points() const { return {std::span<const double>(coordinates), dims}; }
  [[nodiscard]] SlicedLabels view() const {
    return {.starts = starts, .labels = labels, .core = core, .points = points(), .metric = metric, .ids = ids};
  }
};

/// Returns slices with noise and with blobs on a grid of pixels, of which neighbours have a distance of 1. The blobs
/// continue, merge, split, begin and end at random, and do not touch each other. A point has the id of its pixel.
inline SliceList random_storm(std::uint64_t seed, std::size_t count, std::size_t lanes) {
  Random random(seed);
  struct Blob {
    std::int64_t left;
    std::int64_t right;
    std::int64_t lane;
  };
  SliceList slices;
  std::vector<std::vector<Blob>> now(lanes);
  for (std::size_t s = 0; s < count; ++s) {
    std::vector<Blob> all;  // in random order, because features are numbered by label
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const std::vector<Blob> before = std::exchange(now[lane], {});
      auto& blobs = now[lane];
      const auto add = [&](std::int64_t left, std::int64_t right) {
        blobs.push_back({left, right, static_cast<std::int64_t>(lane)});
      };
      for (std::size_t i = 0; i < before.size(); ++i) {
        const std::int64_t left = before[i].left;
        const std::int64_t right = before[i].right;
        const double dice = random.unit();
        if (dice < 0.1) {  // the blob dies
        } else if (dice < 0.25 && i + 1 < before.size()) {
          add(left, before[++i].right);
        } else if (dice < 0.4 && right - left > 12) {
          const std::int64_t middle =
              left + 5 + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(right - left - 10)));
          add(left, middle - 2);
          add(middle + 2, right);
        } else {
          // The ends may shrink by a pixel, so the blob touches no other.
          const std::int64_t in = right - left > 8 ? static_cast<std::int64_t>(random.below(2)) : 0;
          add(left + in, right - in);
        }
      }
      if (blobs.size() < 5 && random.chance(0.3)) {
        const std::int64_t end =
            std::max<std::int64_t>(blobs.empty() ? 0 : blobs.back().right, before.empty() ? 0 : before.back().right);
        const std::int64_t left = end + 6 + static_cast<std::int64_t>(random.below(9));
        add(left, left + 3 + static_cast<std::int64_t>(random.below(30)));
      }
      all.insert(all.end(), blobs.begin(), blobs.end());
    }
    random.shuffle(all);
    for (std::size_t label = 0; label < all.size(); ++label) {
      for (std::int64_t x = all[label].left; x <= all[label].right; ++x) {
        for (const std::int64_t y : {all[label].lane * 10, all[label].lane * 10 + 1}) {
          slices.add(static_cast<std::int32_t>(label), true, {static_cast<double>(x), static_cast<double>(y)},
                     y * 100000 + x);
        }
      }
      slices.add(-1, false, {-50.0 - static_cast<double>(label), 0.0}, -1);  // noise, whose ids do not count
    }
    slices.end_slice();
  }
  return slices;
}

}  // namespace epsflow::test
