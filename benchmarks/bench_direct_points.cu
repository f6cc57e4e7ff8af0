#include <cmath>
#include <span>
#include <vector>

#include <epsflow/gpu/base/error.hpp>

#include "bench_direct_points.hpp"

namespace epsflow::bench {
namespace {

constexpr unsigned kThreads = 256;

/// SplitMix64 (Steele, Lea & Flood, OOPSLA 2014): a counter whose bits are mixed, as a number in [0, 1).
__host__ __device__ double random_number(std::uint64_t i) {
  std::uint64_t z = (i + 1) * 0x9E3779B97F4A7C15ULL;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  z ^= z >> 31;
  return static_cast<double>(z >> 11) * 0x1p-53;
}

constexpr std::uint64_t kFirst = std::uint64_t{1} << 40;  // where a sequence begins that nothing else takes from

template <class T>
__global__ void uniform_kernel(T* values, std::uint64_t count) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < count) values[i] = static_cast<T>(random_number(kFirst + i));
}

__global__ void lattice_kernel(float* values, std::uint64_t count, std::uint64_t side) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= count) return;
  const std::uint64_t steps[] = {i / side / side, i / side % side, i % side};
  for (unsigned k = 0; k < 3; ++k) values[3 * i + k] = static_cast<float>(steps[k] + steps[k] / 100);
}

struct Halo {
  double centre[3];
  double radius;
  double share;  ///< of it and those before
};

__global__ void haloes_kernel(float* values, std::uint64_t count, double side, const Halo* haloes,
                              std::uint64_t halo_count) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= count) return;
  const std::uint64_t first = kFirst + 8 * i;
  if (random_number(first) < 0.4) {
    for (unsigned k = 0; k < 3; ++k) values[3 * i + k] = static_cast<float>(side * random_number(first + 1 + k));
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
    values[3 * i + k] = static_cast<float>(x - side * floor(x / side));
  }
}

std::vector<Halo> make_haloes(std::uint64_t count, double side) {
  std::vector<Halo> haloes(count);
  double sum = 0;
  for (std::uint64_t h = 0; h < count; ++h) {
    for (unsigned k = 0; k < 3; ++k) haloes[h].centre[k] = side * random_number(4 * h + k);
    // Masses from 1 to 10⁴, dN/dM ~ M^-1.9.
    const double mass = std::pow(1 - random_number(4 * h + 3) * (1 - std::pow(1e-4, 0.9)), -1 / 0.9);
    haloes[h].radius = 0.2 * std::cbrt(mass);
    haloes[h].share = sum += mass;
  }
  return haloes;
}

unsigned blocks_of(std::uint64_t count) { return static_cast<unsigned>((count + kThreads - 1) / kThreads); }

}  // namespace

std::optional<Shape> shape_of(std::string_view option) {
  if (option == "--uniform") return Shape::uniform;
  if (option == "--uniform32") return Shape::uniform32;
  if (option == "--lattice") return Shape::lattice;
  if (option == "--haloes") return Shape::haloes;
  return std::nullopt;
}

std::uint64_t bytes_of(const MadePoints& points) {
  return points.size * (points.shape == Shape::uniform ? 16 : points.shape == Shape::uniform32 ? 8 : 12);
}

DevicePointsView make_points(const MadePoints& points, std::byte* to, gpu::DeviceMemory& memory,
                             const gpu::Stream& stream) {
  const std::uint64_t n = points.size;
  auto* const singles = reinterpret_cast<float*>(to);
  auto* const doubles = reinterpret_cast<double*>(to);
  gpu::DeviceBuffer<Halo> haloes;
  switch (points.shape) {
    case Shape::uniform:
      uniform_kernel<<<blocks_of(2 * n), kThreads, 0, stream.get()>>>(doubles, 2 * n);
      break;
    case Shape::uniform32:
      uniform_kernel<<<blocks_of(2 * n), kThreads, 0, stream.get()>>>(singles, 2 * n);
      break;
    case Shape::lattice: {
      const auto side = static_cast<std::uint64_t>(std::llround(std::cbrt(static_cast<double>(n))));
      lattice_kernel<<<blocks_of(n), kThreads, 0, stream.get()>>>(singles, n, side);
      break;
    }
    case Shape::haloes: {
      const double side = 250 * std::cbrt(static_cast<double>(n) / 1e7);
      const std::vector<Halo> made = make_haloes(n / 500, side);
      haloes = gpu::copy_of(std::span<const Halo>(made), memory, stream.get());
      haloes_kernel<<<blocks_of(n), kThreads, 0, stream.get()>>>(singles, n, side, haloes.data(), haloes.size());
      break;
    }
  }
  gpu::check_launch(stream.get());
  stream.synchronize();
  if (points.shape == Shape::uniform) return {doubles, n, 2};
  return {singles, n, points.shape == Shape::uniform32 ? 2U : 3U};
}

}  // namespace epsflow::bench
