// Generated look-alikes of real data: for demonstrations, examples and tests that must run anywhere.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <epsflow/core/points.hpp>

namespace epsflow::io {

/// The kinds that generate() knows, with a line about each.
struct GeneratorKind {
  std::string_view name;
  std::string_view about;
};
[[nodiscard]] const std::vector<GeneratorKind>& generator_kinds();

/// n points, float64, with column names; the same for the same kind, n and seed.
///   tec       lon, lat in degrees and vtec in TECU: pierce points that drift past dense networks of GNSS receivers and
///   a few
///             sparse ones; coordinates on a 0.01 degree grid, so that many pairs lie at exactly eps
///   galaxies  ra, dec in degrees and z: groups of galaxies with power-law sizes on a third of the sky, over a uniform
///   field uniform   x, y in [0, 1)² blobs     x, y: 20 Gaussian blobs in [0, 1)² and a tenth of uniform noise
/// Throws UsageError listing the kinds for an unknown one. O(n).
[[nodiscard]] Points generate(std::string_view kind, std::size_t n, std::uint64_t seed);

}  // namespace epsflow::io
