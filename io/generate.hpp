// Generated points that resemble real data, for demonstrations, examples and tests that must run anywhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <epsflow/io/file_points.hpp>

namespace epsflow::io {

/// A kind of generated points, with the default values of its options.
struct GeneratorKind {
  std::string_view name;
  std::string_view about;
  std::uint64_t seed = 1;
  std::optional<std::size_t> dims = {};  ///< nullopt: the kind has a fixed number of columns
  std::optional<double> rate = {};       ///< nullopt: the kind has no rate
};
[[nodiscard]] const std::vector<GeneratorKind>& generator_kinds();
/// Throws UsageError, which lists the kinds, if `name` is not one of them.
[[nodiscard]] const GeneratorKind& generator_kind(std::string_view name);

/// Options of generate(). If an option is not set, the default of the kind is used.
struct GeneratorOptions {
  std::optional<std::uint64_t> seed = {};  ///< below 2^32 for `exponential`
  std::optional<std::size_t> dims = {};    ///< coordinates per point, 1 to kMaxDims: `exponential`, `embeddings`
  std::optional<double> rate = {};         ///< at least kLeastRate and finite: `exponential`
};
/// The smallest rate. Below it, more than nine in ten draws of `exponential` would be over 10 and thrown away.
inline constexpr double kLeastRate = 0.01;

/// Returns n points, float64, with column names. They depend only on kind, n and options.
///
/// `tec`          lon, lat in degrees and vtec in TECU: points where signals of navigation satellites (GNSS) pass
///                through the ionosphere, with its electron content there. They drift past receivers, most of which
///                stand in three dense networks. lon and lat are multiples of 0.01 degrees, so that many pairs lie at
///                exactly eps
/// `galaxies`     ra, dec in degrees and z: groups of galaxies with power-law sizes on 18 % of the sky, over a uniform
///                field
/// `uniform`      x, y in [0, 1)²
/// `blobs`        x, y: 20 Gaussian blobs with centres in [0.05, 0.95)², and about a tenth of noise, uniform in [0, 1)²
/// `exponential`  x0, x1, …: each exponentially distributed with `rate`, none over 10. With the kind's own seed, rate
///                and dims they are the points of the benchmark of FaSTED (Curless & Gowanlock 2025). Of these, 100,000
///                points have 6,526,336 pairs within 0.1754, self-pairs included
/// `embeddings`   x0, x1, … on the unit sphere, like embeddings of texts and images. Nine tenths are clusters of
///                power-law sizes, each along a bent sheet of 8 dimensions. A tenth is noise between the clusters. The
///                points are shuffled. More points make more clusters, but no denser ones. From tens of thousands of
///                points and 64 dims on, a point has on average about 100 neighbours within 0.4, less than half as many
///                within 0.35, and twice as many within 0.45
///
/// Throws UsageError for an unknown kind, for more than kMaxPoints points, and for an option that is out of range or
/// not for this kind, ResourceError without the memory. O(n·d).
[[nodiscard]] FilePoints generate(std::string_view kind, std::size_t n, const GeneratorOptions& options = {});

}  // namespace epsflow::io
