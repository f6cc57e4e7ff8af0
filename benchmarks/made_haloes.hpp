// Points that resemble the data set h10 (benchmarks/results/README.md), the same on host and device: 2,000 haloes for
// each million points, of power-law sizes, over a uniform background.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include <epsflow/core/host_device.hpp>

namespace epsflow::bench {

/// Returns number i of SplitMix64 (Steele, Lea & Flood, OOPSLA 2014), which mixes the bits of a counter, in [0, 1).
EPSFLOW_HOST_DEVICE inline double random_number(std::uint64_t i) {
  std::uint64_t z = (i + 1) * 0x9E3779B97F4A7C15ULL;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  z ^= z >> 31;
  return static_cast<double>(z >> 11) * 0x1p-53;
}

inline constexpr std::uint64_t kFirst = std::uint64_t{1} << 40;  // first number for points; smaller ones are for haloes

struct Halo {
  double centre[3];
  double radius;  ///< the largest distance of a point from the centre
  double share;   ///< sum of the masses of this halo and those before it
};

/// Returns the side of the periodic box for this many points, with the density of h10.
inline double side_of_haloes(std::uint64_t points) { return 250 * std::cbrt(static_cast<double>(points) / 1e7); }

/// Writes the coordinates x, y, z of point i to `to`. haloes: from make_haloes(), at least one.
EPSFLOW_HOST_DEVICE inline void point_of_haloes(std::uint64_t i, double side, const Halo* haloes,
                                                std::uint64_t halo_count, float* to) {
  const std::uint64_t first = kFirst + 8 * i;
  if (random_number(first) < 0.4) {
    for (unsigned k = 0; k < 3; ++k) to[k] = static_cast<float>(side * random_number(first + 1 + k));
    return;
  }
  const double sought = random_number(first + 1) * haloes[halo_count - 1].share;
  std::uint64_t h = 0;
  for (std::uint64_t end = halo_count - 1; h < end;) {
    const std::uint64_t middle = h + (end - h) / 2;
    if (haloes[middle].share < sought) {
      h = middle + 1;
    } else {
      end = middle;
    }
  }
  const double r = haloes[h].radius * random_number(first + 2);  // density falls as 1/r²
  const double z = 2 * random_number(first + 3) - 1;
  const double angle = 6.283185307179586 * random_number(first + 4);
  const double flat = sqrt(1 - z * z);
  const double direction[] = {flat * cos(angle), flat * sin(angle), z};
  for (unsigned k = 0; k < 3; ++k) {
    const double x = haloes[h].centre[k] + r * direction[k];
    to[k] = static_cast<float>(x - side * floor(x / side));
  }
}

/// Returns the haloes for this many points.
inline std::vector<Halo> make_haloes(std::uint64_t points, double side) {
  std::vector<Halo> haloes(points < 500 ? 1 : points / 500);
  double sum = 0;
  for (std::uint64_t h = 0; h < haloes.size(); ++h) {
    for (unsigned k = 0; k < 3; ++k) haloes[h].centre[k] = side * random_number(4 * h + k);
    // Masses from 1 to 10⁴, dN/dM ~ M^-1.9.
    const double mass = std::pow(1 - random_number(4 * h + 3) * (1 - std::pow(1e-4, 0.9)), -1 / 0.9);
    haloes[h].radius = 0.2 * std::cbrt(mass);
    haloes[h].share = sum += mass;
  }
  return haloes;
}

}  // namespace epsflow::bench
