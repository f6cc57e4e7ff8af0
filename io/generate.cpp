#include <epsflow/io/generate.hpp>

#include <cmath>
#include <numbers>
#include <random>

#include <epsflow/core/error.hpp>

namespace epsflow::io {
namespace {

using Rng = std::mt19937_64;

double uniform(Rng& rng, double lo, double hi) { return std::uniform_real_distribution<double>(lo, hi)(rng); }
double normal(Rng& rng, double mean, double sigma) { return std::normal_distribution<double>(mean, sigma)(rng); }
double on_grid(double x, double step) { return std::round(x / step) * step; }

Points make(std::size_t n, std::vector<std::string> names) {
  Points points(n, names.size(), Precision::float64);
  points.column_names = std::move(names);
  return points;
}

Points tec(std::size_t n, Rng& rng) {
  struct Network {
    double lon, lat, lon_sigma, lat_sigma, share;
  };
  // Where most receivers of the world stand; what is left over is spread over the globe.
  constexpr Network kNetworks[] = {{-100, 39, 14, 6, 0.35}, {137, 36, 3, 3, 0.2}, {10, 48, 9, 6, 0.2}};
  constexpr std::size_t kReceivers = 900;
  std::vector<double> lon(kReceivers), lat(kReceivers);
  for (std::size_t r = 0; r < kReceivers; ++r) {
    double draw = uniform(rng, 0, 1);
    lon[r] = uniform(rng, -180, 180);
    lat[r] = uniform(rng, -70, 70);
    for (const Network& net : kNetworks) {
      if (draw < net.share) {
        lon[r] = normal(rng, net.lon, net.lon_sigma);
        lat[r] = normal(rng, net.lat, net.lat_sigma);
        break;
      }
      draw -= net.share;
    }
  }
  Points points = make(n, {"lon", "lat", "vtec"});
  const auto out = points.values<double>();
  std::size_t i = 0;
  while (i < n) {
    // One pass of a satellite over a receiver: an arc of pierce points, a sample every half minute.
    const std::size_t r = rng() % kReceivers;
    const double heading = uniform(rng, 0, 2 * std::numbers::pi);
    const double miss = uniform(rng, -4, 4);
    const double length = uniform(rng, 3, 8);
    const std::size_t samples = 60 + rng() % 200;
    for (std::size_t s = 0; s < samples && i < n; ++s, ++i) {
      const double along = length * (static_cast<double>(s) / static_cast<double>(samples) - 0.5) * 2;
      const double x = on_grid(lon[r] + along * std::cos(heading) - miss * std::sin(heading), 0.01);
      const double y = on_grid(lat[r] + along * std::sin(heading) + miss * std::cos(heading), 0.01);
      // Daylight and the anomaly on both sides of the equator, with a few per cent of noise.
      const double day = std::max(0.1, std::cos((x - 20) * std::numbers::pi / 180));
      const double anomaly = std::exp(-std::pow((std::abs(y) - 15) / 12, 2));
      out[3 * i] = x;
      out[3 * i + 1] = y;
      out[3 * i + 2] = on_grid((8 + 40 * day * (0.3 + anomaly)) * normal(rng, 1, 0.03), 0.1);
    }
  }
  return points;
}

Points galaxies(std::size_t n, Rng& rng) {
  Points points = make(n, {"ra", "dec", "z"});
  const auto out = points.values<double>();
  std::size_t i = 0;
  const auto put = [&](double ra, double dec, double z) {
    if (i == n) return;
    out[3 * i] = ra;
    out[3 * i + 1] = dec;
    out[3 * i + 2] = std::max(0.001, z);
    ++i;
  };
  const double sin_high = std::sin(60 * std::numbers::pi / 180);
  while (i < n) {
    const double ra = uniform(rng, 110, 260);
    const double dec = std::asin(uniform(rng, 0, sin_high)) * 180 / std::numbers::pi;
    const double z = 0.02 + 0.1 * std::sqrt(uniform(rng, 0, 1));
    if (uniform(rng, 0, 1) < 0.5) {
      put(ra, dec, z);
      continue;
    }
    // A group: sizes fall as a power law, from pairs to rich clusters; the velocity spread stretches it in redshift.
    const auto members = static_cast<std::size_t>(2 * std::pow(1 - uniform(rng, 0, 0.9999), -0.7));
    const double degrees = 0.06 * std::cbrt(static_cast<double>(members)) * 0.06 / z;
    for (std::size_t m = 0; m < members; ++m) {
      const double d = dec + normal(rng, 0, degrees);
      put(ra + normal(rng, 0, degrees) / std::cos(dec * std::numbers::pi / 180), d, z + normal(rng, 0, 0.001));
    }
  }
  return points;
}

Points uniform_square(std::size_t n, Rng& rng) {
  Points points = make(n, {"x", "y"});
  for (double& value : points.values<double>()) value = uniform(rng, 0, 1);
  return points;
}

Points blobs(std::size_t n, Rng& rng) {
  constexpr std::size_t kBlobs = 20;
  double x[kBlobs], y[kBlobs], sigma[kBlobs];
  for (std::size_t b = 0; b < kBlobs; ++b) {
    x[b] = uniform(rng, 0.05, 0.95);
    y[b] = uniform(rng, 0.05, 0.95);
    sigma[b] = uniform(rng, 0.005, 0.02);
  }
  Points points = make(n, {"x", "y"});
  const auto out = points.values<double>();
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t b = rng() % kBlobs;
    const bool noise = uniform(rng, 0, 1) < 0.1;
    out[2 * i] = noise ? uniform(rng, 0, 1) : normal(rng, x[b], sigma[b]);
    out[2 * i + 1] = noise ? uniform(rng, 0, 1) : normal(rng, y[b], sigma[b]);
  }
  return points;
}

}  // namespace

const std::vector<GeneratorKind>& generator_kinds() {
  static const std::vector<GeneratorKind> kinds{
      {"tec", "lon, lat, vtec: pierce points of GNSS signals over dense receiver networks"},
      {"galaxies", "ra, dec, z: groups of galaxies over a uniform field"},
      {"uniform", "x, y in the unit square"},
      {"blobs", "x, y: 20 Gaussian blobs and noise"},
  };
  return kinds;
}

Points generate(std::string_view kind, std::size_t n, std::uint64_t seed) {
  Rng rng(seed);
  if (kind == "tec") return tec(n, rng);
  if (kind == "galaxies") return galaxies(n, rng);
  if (kind == "uniform") return uniform_square(n, rng);
  if (kind == "blobs") return blobs(n, rng);
  std::string known;
  for (const GeneratorKind& k : generator_kinds()) known += (known.empty() ? "" : ", ") + std::string(k.name);
  throw UsageError("there is no generator '" + std::string(kind) + "'; choose one of " + known);
}

}  // namespace epsflow::io
