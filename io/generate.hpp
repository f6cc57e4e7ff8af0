// Generated look-alikes of real data: for demonstrations, examples and tests that must run anywhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <epsflow/io/file_points.hpp>

namespace epsflow::io {

/// One kind of points, with what generate() takes where the options leave it open.
struct GeneratorKind {
  std::string_view name;
  std::string_view about;
  std::uint64_t seed = 1;
  std::optional<std::size_t> dims = {};  ///< nothing: its columns are its own
  std::optional<double> rate = {};       ///< nothing: it has none
};
[[nodiscard]] const std::vector<GeneratorKind>& generator_kinds();
/// Throws UsageError listing the kinds for an unknown one.
[[nodiscard]] const GeneratorKind& generator_kind(std::string_view name);

/// What is left open is the kind's own.
struct GeneratorOptions {
  std::optional<std::uint64_t> seed = {};
  std::optional<std::size_t> dims = {};  ///< coordinates per point, 1 to kMaxDims: `exponential`, `embeddings`
  std::optional<double> rate = {};       ///< at least kLeastRate: `exponential`
};
/// Below it more than nine in ten draws of `exponential` are over 10, and in vain.
inline constexpr double kLeastRate = 0.01;

/// n points, float64, with column names; the same for the same kind, n and options.
///
/// `tec`          lon, lat in degrees and vtec in TECU: pierce points that drift past dense networks of GNSS receivers
///                and a few sparse ones; coordinates on a 0.01 degree grid, so that many pairs lie at exactly eps
/// `galaxies`     ra, dec in degrees and z: groups of galaxies with power-law sizes on a third of the sky, over a
///                uniform field
/// `uniform`      x, y in [0, 1)²
/// `blobs`        x, y: 20 Gaussian blobs in [0, 1)² and a tenth of uniform noise
/// `exponential`  x0, x1, …: each exponential with `rate`, none over 10. With the kind's own seed, rate and dims they
///                are the points of a published benchmark: 100,000 have 6,526,336 pairs within 0.1754, those of a point
///                with itself included
/// `embeddings`   x0, x1, … on the unit sphere, as embeddings of texts and images lie: clusters of power-law sizes
///                along bent sheets of 8 dimensions, a tenth of noise between them, in no order. More points make more
///                clusters and no denser ones: from tens of thousands of points and 64 dims on, a point has on average
///                about 100 neighbours within 0.4, less than half as many within 0.35, twice as many within 0.45
///
/// Throws UsageError for an unknown kind and for an option that is out of range or not for this kind, ResourceError
/// without the memory. O(n·d).
[[nodiscard]] FilePoints generate(std::string_view kind, std::size_t n, const GeneratorOptions& options = {});

}  // namespace epsflow::io
