#include <epsflow/io/generate.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <random>
#include <span>
#include <string>

#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>

namespace epsflow::io {
namespace {

using Rng = std::mt19937_64;

double uniform(Rng& rng, double lo, double hi) { return std::uniform_real_distribution<double>(lo, hi)(rng); }
double normal(Rng& rng, double mean, double sigma) { return std::normal_distribution<double>(mean, sigma)(rng); }
double on_grid(double x, double step) { return std::round(x / step) * step; }

FilePoints make(std::size_t n, std::vector<std::string> names) {
  FilePoints points(n, names.size(), Precision::float64);
  points.column_names = std::move(names);
  return points;
}

std::vector<std::string> numbered_names(std::size_t dims) {
  std::vector<std::string> names(dims);
  for (std::size_t k = 0; k < dims; ++k) names[k] = fmt::format("x{}", k);
  return names;
}

FilePoints tec(std::size_t n, Rng& rng) {
  struct Network {
    double lon, lat, lon_sigma, lat_sigma, share;
  };
  // The regions with most receivers of the world. The others are spread over the globe.
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
  FilePoints points = make(n, {"lon", "lat", "vtec"});
  const auto out = points.values<double>();
  std::size_t i = 0;
  while (i < n) {
    // One pass of a satellite over a receiver is an arc of pierce points, with a sample every half minute.
    const std::size_t r = rng() % kReceivers;
    const double heading = uniform(rng, 0, 2 * std::numbers::pi);
    const double miss = uniform(rng, -4, 4);
    const double length = uniform(rng, 3, 8);
    const std::size_t samples = 60 + rng() % 200;
    for (std::size_t s = 0; s < samples && i < n; ++s, ++i) {
      const double along = length * (static_cast<double>(s) / static_cast<double>(samples) - 0.5) * 2;
      const double x = on_grid(lon[r] + along * std::cos(heading) - miss * std::sin(heading), 0.01);
      const double y = on_grid(lat[r] + along * std::sin(heading) + miss * std::cos(heading), 0.01);
      // The content follows daylight and the anomaly on both sides of the equator, with a few per cent of noise.
      const double day = std::max(0.1, std::cos((x - 20) * std::numbers::pi / 180));
      const double anomaly = std::exp(-std::pow((std::abs(y) - 15) / 12, 2));
      out[3 * i] = x;
      out[3 * i + 1] = y;
      out[3 * i + 2] = on_grid((8 + 40 * day * (0.3 + anomaly)) * normal(rng, 1, 0.03), 0.1);
    }
  }
  return points;
}

FilePoints galaxies(std::size_t n, Rng& rng) {
  FilePoints points = make(n, {"ra", "dec", "z"});
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
    // The sizes of groups follow a power law, from pairs to rich clusters. Velocities stretch a group in redshift.
    const auto members = static_cast<std::size_t>(2 * std::pow(1 - uniform(rng, 0, 0.9999), -0.7));
    const double degrees = 0.06 * std::cbrt(static_cast<double>(members)) * 0.06 / z;
    for (std::size_t m = 0; m < members; ++m) {
      const double d = dec + normal(rng, 0, degrees);
      put(ra + normal(rng, 0, degrees) / std::cos(dec * std::numbers::pi / 180), d, z + normal(rng, 0, 0.001));
    }
  }
  return points;
}

FilePoints uniform_square(std::size_t n, Rng& rng) {
  FilePoints points = make(n, {"x", "y"});
  for (double& value : points.values<double>()) value = uniform(rng, 0, 1);
  return points;
}

FilePoints blobs(std::size_t n, Rng& rng) {
  constexpr std::size_t kBlobs = 20;
  double x[kBlobs], y[kBlobs], sigma[kBlobs];
  for (std::size_t b = 0; b < kBlobs; ++b) {
    x[b] = uniform(rng, 0.05, 0.95);
    y[b] = uniform(rng, 0.05, 0.95);
    sigma[b] = uniform(rng, 0.005, 0.02);
  }
  FilePoints points = make(n, {"x", "y"});
  const auto out = points.values<double>();
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t b = rng() % kBlobs;
    const bool noise = uniform(rng, 0, 1) < 0.1;
    out[2 * i] = noise ? uniform(rng, 0, 1) : normal(rng, x[b], sigma[b]);
    out[2 * i + 1] = noise ? uniform(rng, 0, 1) : normal(rng, y[b], sigma[b]);
  }
  return points;
}

FilePoints exponential(std::size_t n, std::size_t dims, double rate, std::uint64_t seed) {
  if (seed > std::numeric_limits<std::uint32_t>::max()) {
    throw UsageError("GeneratorOptions::seed is " + std::to_string(seed) + "; for 'exponential' 0 to " +
                     format_count(std::numeric_limits<std::uint32_t>::max()) + " are possible");
  }
  // The benchmark uses this engine, distribution and limit. Any other would make other points.
  std::mt19937 rng(static_cast<std::mt19937::result_type>(seed));
  std::exponential_distribution<double> draw(rate);
  FilePoints points = make(n, numbered_names(dims));
  for (double& value : points.values<double>()) {
    do {
      value = draw(rng);
    } while (value > 10);
  }
  return points;
}

/// All scales are lengths of whole vectors, so that they mean the same for any number of dimensions.
FilePoints embeddings(std::size_t n, std::size_t dims, Rng& rng) {
  constexpr std::size_t kSheetDims = 8;
  constexpr double kFewest = 100, kMost = 5'000;  // members of a cluster
  constexpr double kSpread = 0.145;               // along one dimension of the sheet, in a cluster of a thousand points
  constexpr double kDensities = 0.05;             // variation of the spread between clusters; in density, eightfold
  constexpr double kBend = 0.2;                   // relative to the spread
  constexpr double kThickness = 0.1;
  constexpr double kNoiseThickness = 0.5;

  FilePoints points = make(n, numbered_names(dims));
  const auto out = points.values<double>();
  std::vector<std::uint32_t> rows(n);  // shuffled, as real collections are not sorted
  std::iota(rows.begin(), rows.end(), 0U);
  std::shuffle(rows.begin(), rows.end(), rng);
  const auto row = [&](std::size_t i) { return out.subspan(rows[i] * dims, dims); };

  std::normal_distribution<double> unit;
  const double per_axis = 1 / std::sqrt(static_cast<double>(dims));
  const auto add_noise = [&](std::span<double> x, double length) {
    const double scale = length * per_axis;
    for (double& value : x) value += scale * unit(rng);
  };
  const auto random_vector = [&](double length) {
    std::vector<double> v(dims);
    add_noise(v, length);
    return v;
  };
  const auto add = [](std::span<double> x, double factor, std::span<const double> v) {
    for (std::size_t k = 0; k < x.size(); ++k) x[k] += factor * v[k];
  };
  const auto normalise = [](std::span<double> x) {
    const double length = std::sqrt(std::inner_product(x.begin(), x.end(), x.begin(), 0.0));
    for (double& value : x) value /= length;
  };
  std::vector<std::vector<double>> centres;
  const std::size_t clustered = n - n / 10;
  for (std::size_t first = 0; first < clustered;) {
    // A size m has a probability proportional to m^-2.
    const double size = kFewest / (1 - uniform(rng, 0, 1 - kFewest / kMost));
    const std::size_t last = std::min(clustered, first + static_cast<std::size_t>(size));
    std::vector<double>& centre = centres.emplace_back(random_vector(1));
    normalise(centre);
    // Large clusters are wider and hardly denser than small ones, so that one eps fits most.
    const double spread = kSpread * std::pow(size / 1000, 1.0 / kSheetDims) * std::exp(normal(rng, 0, kDensities));
    std::vector<std::vector<double>> straight, bent;
    for (std::size_t k = 0; k < kSheetDims; ++k) {
      straight.push_back(random_vector(spread));
      bent.push_back(random_vector(kBend * spread));
    }
    for (; first < last; ++first) {
      const auto x = row(first);
      std::ranges::copy(centre, x.begin());
      for (std::size_t k = 0; k < kSheetDims; ++k) {
        const double along = unit(rng);
        add(x, along, straight[k]);
        add(x, along * along - 1, bent[k]);
      }
      add_noise(x, kThickness);
      normalise(x);
    }
  }
  for (std::size_t i = clustered; i < n; ++i) {
    const auto x = row(i);
    std::ranges::fill(x, 0.0);
    const double share = uniform(rng, 0, 1);
    add(x, share, centres[rng() % centres.size()]);
    add(x, 1 - share, centres[rng() % centres.size()]);
    add_noise(x, kNoiseThickness);
    normalise(x);
  }
  return points;
}

/// Throws UsageError if `option` is given and the kind does not have it.
template <class T>
void require_fit(const GeneratorKind& kind, const char* option, const std::optional<T>& given,
                 std::optional<T> GeneratorKind::*own) {
  if (!given || kind.*own) return;
  std::string fitting;
  for (const GeneratorKind& k : generator_kinds()) {
    if (k.*own) fitting += (fitting.empty() ? "" : " or ") + std::string(k.name);
  }
  throw UsageError("GeneratorOptions::" + std::string(option) + " is not for '" + std::string(kind.name) +
                   "'; leave it out, or generate " + fitting);
}

}  // namespace

const std::vector<GeneratorKind>& generator_kinds() {
  static const std::vector<GeneratorKind> kinds{
      {.name = "tec", .about = "lon, lat, vtec: pierce points of GNSS signals over dense receiver networks"},
      {.name = "galaxies", .about = "ra, dec, z: groups of galaxies over a uniform field"},
      {.name = "uniform", .about = "x, y in the unit square"},
      {.name = "blobs", .about = "x, y: 20 Gaussian blobs and noise"},
      {.name = "exponential",
       .about = "x0, x1, …: exponential coordinates, by default the points of a published benchmark",
       .seed = 2137834274,
       .dims = 64,
       .rate = 40},
      {.name = "embeddings",
       .about = "x0, x1, …: clusters of embeddings on the unit sphere; about 100 neighbours within 0.4",
       .dims = 384},
  };
  return kinds;
}

const GeneratorKind& generator_kind(std::string_view name) {
  std::string known;
  for (const GeneratorKind& kind : generator_kinds()) {
    if (kind.name == name) return kind;
    known += (known.empty() ? "" : ", ") + std::string(kind.name);
  }
  throw UsageError("there is no generator '" + std::string(name) + "'; choose one of " + known);
}

FilePoints generate(std::string_view name, std::size_t n, const GeneratorOptions& options) {
  const GeneratorKind& kind = generator_kind(name);
  require_fit(kind, "dims", options.dims, &GeneratorKind::dims);
  require_fit(kind, "rate", options.rate, &GeneratorKind::rate);
  const std::uint64_t seed = options.seed.value_or(kind.seed);
  const std::size_t dims = options.dims.value_or(kind.dims.value_or(0));
  const double rate = options.rate.value_or(kind.rate.value_or(0));
  if (kind.dims && (dims == 0 || dims > kMaxDims)) {
    throw UsageError("GeneratorOptions::dims is " + std::to_string(dims) + "; 1 to " + format_count(kMaxDims) +
                     " are possible");
  }
  if (kind.rate && !(rate >= kLeastRate && std::isfinite(rate))) {
    throw UsageError("GeneratorOptions::rate is " + format_number(rate) + "; finite numbers from " +
                     format_number(kLeastRate) + " on are possible");
  }
  if (name == "exponential") return exponential(n, dims, rate, seed);
  Rng rng(seed);
  if (name == "tec") return tec(n, rng);
  if (name == "galaxies") return galaxies(n, rng);
  if (name == "uniform") return uniform_square(n, rng);
  if (name == "blobs") return blobs(n, rng);
  return embeddings(n, dims, rng);
}

}  // namespace epsflow::io
