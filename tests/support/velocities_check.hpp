#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "support/random_points.hpp"

#include <epsflow/pipeline/sweep.hpp>
#include <epsflow/pipeline/velocities.hpp>

namespace epsflow::test {

struct MovingData {
  std::vector<double> points = {};
  std::vector<double> times = {};
  std::vector<double> velocities = {};
  std::size_t dims = 1;

  [[nodiscard]] MovingPoints view() const { return {{std::span<const double>(points), dims}, times, velocities}; }
};

/// Returns points and velocities with small integers, so that many distances are exactly eps, or with fractions.
inline MovingData random_moving(Random& random, std::uint64_t most_points, std::uint64_t most_velocities) {
  MovingData made;
  made.dims = 1 + random.below(4);
  const bool whole = random.below(2) == 0;
  const auto number = [&](std::uint64_t range) {
    const auto value = static_cast<double>(random.below(range)) - static_cast<double>(range / 2);
    return whole ? value : value + 0.1 * static_cast<double>(random.below(10));
  };
  for (std::uint64_t n = random.below(most_points + 1); n > 0; --n) {
    for (std::size_t k = 0; k < made.dims; ++k) made.points.push_back(number(12));
    made.times.push_back(number(5));
  }
  for (std::uint64_t v = 1 + random.below(most_velocities); v > 0; --v) {
    for (std::size_t k = 0; k < made.dims; ++k) made.velocities.push_back(number(7));
  }
  return made;
}

/// Checks that a run over all velocities gives the results of a run under each.
inline void check_velocities(const Engine& engine, const MovingData& data, const Sweep& sweep, std::uint32_t least) {
  const MovingPoints moving = data.view();
  using Found = std::map<std::pair<std::uint32_t, std::uint32_t>, std::pair<std::uint32_t, std::uint32_t>>;
  using Key = std::pair<double, std::uint32_t>;
  const auto key = [](const Variant& variant) { return Key(variant.eps, variant.minpts); };
  std::map<Key, std::pair<std::vector<LabelSummary>, Found>> together;
  sweep_velocities(
      engine, moving, sweep,
      [&](const VelocityClusters& found) {
        auto& [counts, clusters] = together[key(found.variant)];
        REQUIRE(found.first == counts.size());
        counts.insert(counts.end(), found.counts.begin(), found.counts.end());
        for (std::size_t c = 0; c < found.size.size(); ++c) {
          clusters[{found.velocity[c], found.first_core[c]}] = {found.core[c], found.size[c]};
        }
      },
      least);
  std::map<Key, Found> alone;
  for (std::size_t v = 0; v < moving.count(); ++v) {
    std::vector<double> moved(data.points.size());
    for (std::size_t i = 0; i < moved.size(); ++i) {
      const double way = data.times[i / data.dims] * data.velocities[v * data.dims + i % data.dims];
      moved[i] = data.points[i] - way;
    }
    const Dataset one = engine.load({std::span<const double>(moved), data.dims});
    for (const VariantResult& r : run(one, sweep, {.clusters = true})) {
      INFO("velocity " << v << ", " << data.times.size() << " points, eps " << r.variant.eps << ", minpts "
                       << r.variant.minpts);
      REQUIRE(together.at(key(r.variant)).first.at(v) == r.summary);
      for (std::size_t c = 0; c < r.clusters.count(); ++c) {
        if (r.clusters.size[c] < least) continue;
        alone[key(r.variant)][{static_cast<std::uint32_t>(v), r.clusters.first_core[c]}] = {r.clusters.core[c],
                                                                                            r.clusters.size[c]};
      }
    }
  }
  for (const auto& [variant, both] : together) REQUIRE(both.second == alone[variant]);
}

inline void check_random_velocities(const Engine& engine, int trials) {
  Random random(23);
  for (int trial = 0; trial < trials; ++trial) {
    check_velocities(engine, random_moving(random, 60, 12), grid({1, 2.5}, {2, 4}),
                     static_cast<std::uint32_t>(random.below(6)));
  }
}

}  // namespace epsflow::test
